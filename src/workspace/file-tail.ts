import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Of a longer piece only the end is read. */
const READ_BYTES = 8 * 1024 * 1024;

/** The complete lines after an offset; a line that is still being written is left for the next time. */
export function readLinesFrom(path: string, offset: number): { text: string; end: number } | null {
  return withFile(path, (handle) => {
    const { size } = fstatSync(handle);
    // A file that became shorter is another one.
    const begin = Math.max(offset > size ? 0 : offset, size - READ_BYTES);
    const bytes = Buffer.allocUnsafe(Math.min(size - begin, READ_BYTES));
    const length = readSync(handle, bytes, 0, bytes.length, begin);
    const end = bytes.subarray(0, length).lastIndexOf(0x0a) + 1;
    return { text: bytes.toString('utf8', 0, end), end: begin + end };
  });
}

export function sizeOf(path: string): number {
  return withFile(path, (handle) => fstatSync(handle).size) ?? 0;
}

/** Null unless it is a regular file that can be read. */
function withFile<T>(path: string, work: (handle: number) => T): T | null {
  try {
    const handle = openSync(path, 'r');
    try {
      return fstatSync(handle).isFile() ? work(handle) : null;
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
}
