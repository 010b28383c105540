import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInside, realPathOf } from './files.ts';

/** Larger files are not read to count their lines. */
const COUNTED_BYTES = 512 * 1024;

/** When a file of the tree was written last, and how many lines it has where that is asked; null if it is not such a file. */
export function lookAtFile(
  tree: string,
  path: string,
  countsLines: boolean,
): { modifiedAt: string; lines: number | null } | null {
  try {
    const file = join(tree, path);
    const found = lstatSync(file);
    if (!found.isFile() || !isInside(realPathOf(tree), realPathOf(file))) return null;
    const modifiedAt = new Date(found.mtimeMs).toISOString();
    if (!countsLines || found.size > COUNTED_BYTES) return { modifiedAt, lines: null };
    const text = readFileSync(file, 'utf8');
    return { modifiedAt, lines: text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0) };
  } catch {
    return null;
  }
}
