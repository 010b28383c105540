import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type JsonObject, objectOf } from './json-value.ts';

/** A line of a transcript that is an object, or why it is none. */
export type RecordLine =
  | { line: number; record: JsonObject; problem?: never }
  | { line: number; record?: never; problem: string };

export interface LineLimits {
  lineBytes: number;
  /** Of a compressed file, when it is unpacked. */
  totalBytes: number;
}

const DEFAULT_LIMITS: LineLimits = { lineBytes: 32 * 1024 * 1024, totalBytes: 16 * 1024 * 1024 * 1024 };

/**
 * The objects of a file with one JSON value a line, one after the other: never more than one line is in memory. What
 * cannot be read becomes a problem and the next line is read; the last line may be torn, since its writer was killed.
 */
export function* readRecords(
  path: string,
  isSkipped: (text: string) => boolean = () => false,
  limits: LineLimits = DEFAULT_LIMITS,
): Generator<RecordLine> {
  for (const { line, text, problem, isTorn } of readLines(path, limits)) {
    if (problem !== undefined) yield { line, problem };
    if (text === undefined || /^[\s\0]*$/.test(text) || isSkipped(text)) continue;
    try {
      const found: unknown = JSON.parse(line === 1 ? text.replace(/^\ufeff/, '') : text);
      if (typeof found === 'object' && found !== null && !Array.isArray(found))
        yield { line, record: found as JsonObject };
      else yield { line, problem: 'is no object.' };
    } catch {
      yield { line, problem: isTorn ? 'is torn: its writer stopped in the middle of it.' : 'is no JSON.' };
    }
  }
}

interface Line {
  line: number;
  text?: string;
  problem?: string;
  /** It has no line feed: nothing came after it. */
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
      // Empty lines say nothing; a file of nothing else is passed over as fast as it is read.
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
      // Copied, so that the rest of the piece can go.
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
    // A pipe or a device would be waited for, perhaps for ever.
    if (!fstatSync(handle).isFile()) throw new Error('it is no file.');
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

/** A kilobyte of a hostile file unpacks to 32 MB at most; what is unpacked is looked at before the next one is taken. */
const PACKED_PIECE_BYTES = 1024;
const WINDOW_LIMIT_BYTES = 128 * 1024 * 1024;
/** Conversations pack to a tenth, dull ones to a hundredth. What unpacks to more than this was made to keep us busy. */
const MOST_UNPACKED = 250;
const ALWAYS_UNPACKED_BYTES = 64 * 1024 * 1024;

function* unpacked(path: string, limitBytes: number): Generator<Buffer> {
  // Loaded when a compressed file is met: hardly any is.
  const { Decompress } = createRequire(import.meta.filename)('fzstd') as typeof import('fzstd');
  let ready: Buffer[] = [];
  let bytes = 0;
  const stream = new Decompress((part) => {
    bytes += part.length;
    // The library goes on writing into what it gives away.
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

/** The memory that the first frame of a Zstandard file asks for. */
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

/** A file that is one JSON value; null when it cannot be read as one. */
export function readDocument(path: string): JsonObject | null {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > DOCUMENT_LIMIT_BYTES) return null;
    return objectOf(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** The beginning of a file as text; empty when it cannot be read. */
export function readHead(path: string, limitBytes = 256 * 1024): string {
  try {
    const [piece] = path.endsWith('.zst') ? unpacked(path, limitBytes) : pieces(path, limitBytes);
    return piece?.toString('utf8', 0, limitBytes) ?? '';
  } catch {
    return '';
  }
}

/** The first value of a field that a text of JSON objects has, wherever it stands. */
export function fieldIn(text: string, field: string): string | null {
  const found = new RegExp(`"${field}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(text)?.[1];
  try {
    return found === undefined ? null : (JSON.parse(found) as string);
  } catch {
    return null;
  }
}
