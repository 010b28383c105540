import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';

/** Larger files are not read whole. */
const FILE_BYTES_LIMIT = 64 * 1024 * 1024;

export const pathExists = (path: string): boolean => existsSync(path);

/** When a file was made; null if there is none. */
export const bornAt = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? null;

/** When a file was last changed; null where there is none. */
export const changedAt = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;

export const isFile = (path: string): boolean => fileSize(path) !== null;

export const isFolder = (path: string): boolean => found(path)?.isDirectory() ?? false;

/** In bytes; null unless the path leads to a regular file. */
export function fileSize(path: string): number | null {
  const file = found(path);
  return file?.isFile() ? file.size : null;
}

/** Undefined also for a path below a file, and for a loop of links. */
function found(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The names in a folder; none if it cannot be read. */
export function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The text of a file with its byte order mark, or null: not there, too large, or not UTF-8. */
export const readText = (file: string): string | null => decodeFile(file, true);

/** The same for files whose damage is reported: bytes that are not UTF-8 are replaced. */
export const readDamaged = (file: string): string | null => decodeFile(file, false);

/** Throws the system's own error, for callers that report the reason. */
export const mustReadText = (file: string): string => readFileSync(file, 'utf8');

export const readStandardInput = (): string => readFileSync(0, 'utf8');

function decodeFile(file: string, fatal: boolean): string | null {
  try {
    const size = fileSize(file);
    if (size === null || size > FILE_BYTES_LIMIT) return null;
    return new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(readFileSync(file));
  } catch {
    return null;
  }
}

export function startsWith(file: string, text: string): boolean {
  const head = Buffer.alloc(Buffer.byteLength(text));
  const handle = openSync(file, 'r');
  try {
    readSync(handle, head, 0, head.length, 0);
  } finally {
    closeSync(handle);
  }
  return head.toString('utf8') === text;
}

/** Visits the lines of a file that may be larger than memory. */
export async function readLines(file: string, visit: (text: string) => void | Promise<void>): Promise<void> {
  const { createInterface } = await import('node:readline');
  const input = createReadStream(file, 'utf8');
  // The lines of a stream that fails end without an error.
  const failed = new Promise<never>((_, reject) => {
    input.once('error', reject);
  });
  const read = async (): Promise<void> => {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) await visit(text);
  };
  await Promise.race([read(), failed]);
}
