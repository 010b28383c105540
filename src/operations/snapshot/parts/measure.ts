import { isAbsolute, join } from 'node:path';
import { estimateTokens } from '../../../core/tokens.ts';
import { fileSize, readDamaged } from '../../../workspace/read.ts';

/** Larger files are not measured. */
const MOST_BYTES = 2_000_000;

/** The size in tokens of the first file of that path below one of the folders; null if there is none. */
export function measure(roots: readonly string[], path: string): number | null {
  for (const root of roots) {
    const file = isAbsolute(path) ? path : join(root, path);
    const size = fileSize(file);
    if (size === null) continue;
    const text = size > MOST_BYTES ? null : readDamaged(file);
    return text === null ? null : estimateTokens(text);
  }
  return null;
}
