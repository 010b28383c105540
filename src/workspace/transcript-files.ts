import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Reads the files that agent clients leave. They may be torn, huge or hostile: what cannot be read is empty or null. */

export function namesIn(folder: string, kind: 'file' | 'folder'): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => (kind === 'file' ? entry.isFile() : entry.isDirectory()))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Null unless it is a regular file. */
export function writtenMs(path: string): number | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.mtimeMs : null;
}

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function md5(text: string): string {
  return process.getBuiltinModule('node:crypto').createHash('md5').update(text).digest('hex');
}

type JsonObject = Readonly<Record<string, unknown>>;

/** A line that is an object, or why it is not one. */
type EntryLine =
  | { line: number; entry: JsonObject; problem?: never }
  | { line: number; entry?: never; problem: string };

export interface LineLimits {
  lineBytes: number;
  /** Of a compressed file, after unpacking. */
  totalBytes: number;
}

const DEFAULT_LIMITS: LineLimits = { lineBytes: 32 * 1024 * 1024, totalBytes: 16 * 1024 * 1024 * 1024 };

/**
 * The objects of a file with one JSON value per line, with one line in memory at a time. A line that cannot be read becomes
 * a problem and the next one is read; the last line may be torn because its writer was killed.
 */
export function* readEntries(
  path: string,
  isSkipped: (text: string) => boolean = () => false,
  limits: LineLimits = DEFAULT_LIMITS,
): Generator<EntryLine> {
  for (const { line, text, problem, isTorn } of readLines(path, limits)) {
    if (problem !== undefined) yield { line, problem };
    if (text === undefined || /^[\s\0]*$/.test(text) || isSkipped(text)) continue;
    try {
      const found: unknown = JSON.parse(line === 1 ? text.replace(/^\ufeff/, '') : text);
      if (isObject(found)) yield { line, entry: found };
      else yield { line, problem: 'is not an object.' };
    } catch {
      yield { line, problem: isTorn ? 'is torn: its writer stopped in the middle of it.' : 'is not JSON.' };
    }
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Line {
  line: number;
  text?: string;
  problem?: string;
  /** It has no line feed. */
  isTorn?: boolean;
}

function* readLines(path: string, limits: LineLimits): Generator<Line> {
  let line = 0;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let isTooLong = false;
  const finish = (isTorn: boolean): Line => {
    line += 1;
    const bytes = keptBytes;
    const text = isTooLong ? undefined : Buffer.concat(kept).toString('utf8');
    kept = [];
    keptBytes = 0;
    if (!isTooLong) return { line, text: text ?? '', isTorn };
    isTooLong = false;
    return { line, problem: `is too long to be read: ${Math.round(bytes / 1e6)} MB.` };
  };
  const keep = (part: Buffer): void => {
    keptBytes += part.length;
    if (keptBytes > limits.lineBytes) {
      isTooLong = true;
      kept = [];
    }
    if (!isTooLong && part.length > 0) kept.push(part);
  };
  try {
    for (const piece of path.endsWith('.zst') ? unpacked(path, limits.totalBytes) : pieces(path, PIECE_BYTES)) {
      let at = 0;
      // A file of empty lines is skipped as fast as it is read.
      while (keptBytes === 0 && piece[at] === LINE_FEED) {
        at += 1;
        line += 1;
      }
      for (let end = piece.indexOf(LINE_FEED, at); end >= 0; end = piece.indexOf(LINE_FEED, at)) {
        keep(piece.subarray(at, end));
        yield finish(false);
        at = end + 1;
        while (piece[at] === LINE_FEED) {
          at += 1;
          line += 1;
        }
      }
      // Copied, so that the rest of the piece can be freed.
      if (at < piece.length) keep(Buffer.from(piece.subarray(at)));
    }
  } catch (thrown) {
    yield { line: line + 1, problem: `and what follows cannot be read: ${(thrown as Error).message}` };
  }
  if (keptBytes > 0) yield finish(true);
}

const LINE_FEED = 0x0a;
const PIECE_BYTES = 1024 * 1024;

function* pieces(path: string, pieceBytes: number): Generator<Buffer> {
  const handle = openSync(path, 'r');
  try {
    // Reading a pipe or a device could block forever.
    if (!fstatSync(handle).isFile()) throw new Error('it is not a file.');
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const length = readSync(handle, piece, 0, pieceBytes, null);
      if (length === 0) return;
      yield piece.subarray(0, length);
    }
  } finally {
    closeSync(handle);
  }
}

/** A kilobyte of a hostile file unpacks to at most 32 MB; the sum is checked before the next kilobyte is unpacked. */
const PACKED_PIECE_BYTES = 1024;
const WINDOW_LIMIT_BYTES = 128 * 1024 * 1024;
/** Conversations compress to a tenth, repetitive ones to a hundredth; a higher ratio is an attack. */
const MOST_UNPACKED = 250;
const ALWAYS_UNPACKED_BYTES = 64 * 1024 * 1024;

function* unpacked(path: string, limitBytes: number): Generator<Buffer> {
  // Loaded on demand: compressed files are rare.
  const { Decompress } = createRequire(import.meta.filename)('fzstd') as typeof import('fzstd');
  let ready: Buffer[] = [];
  let bytes = 0;
  const stream = new Decompress((part) => {
    bytes += part.length;
    // The library reuses the buffers that it hands out.
    ready.push(Buffer.from(part));
  });
  let isFirst = true;
  const mostBytes = Math.min(limitBytes, Math.max(ALWAYS_UNPACKED_BYTES, statSync(path).size * MOST_UNPACKED));
  for (const piece of pieces(path, PACKED_PIECE_BYTES)) {
    if (isFirst && windowBytes(piece) > WINDOW_LIMIT_BYTES) throw new Error('it needs too much memory to be unpacked.');
    isFirst = false;
    stream.push(piece);
    yield* ready;
    ready = [];
    if (bytes > mostBytes) throw new Error('it unpacks to more than is ever read.');
  }
}

/** The memory that the first frame of a Zstandard file needs. */
function windowBytes(head: Buffer): number {
  const descriptor = head[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  if (!isSingle) {
    const window = head[5] ?? 0;
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 7);
  }
  const at = 5 + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  switch (descriptor >> 6) {
    case 0:
      return head[at] ?? 0;
    case 1:
      return head.readUInt16LE(at) + 256;
    case 2:
      return head.readUInt32LE(at);
    default:
      return Number(head.readBigUInt64LE(at));
  }
}

const DOCUMENT_LIMIT_BYTES = 128 * 1024 * 1024;

/** A file that is one JSON value; null if it cannot be read as one. */
export function readDocument(path: string): JsonObject | null {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > DOCUMENT_LIMIT_BYTES) return null;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(value) ? value : {};
  } catch {
    return null;
  }
}

/** The first bytes of a file as text; empty if it cannot be read. */
export function readHead(path: string, limitBytes = 256 * 1024): string {
  try {
    const [piece] = path.endsWith('.zst') ? unpacked(path, limitBytes) : pieces(path, limitBytes);
    return piece?.toString('utf8', 0, limitBytes) ?? '';
  } catch {
    return '';
  }
}
