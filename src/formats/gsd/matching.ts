import { flat } from '../text/lines.ts';
import type { Placed } from './reading.ts';

/** How the entries of a file differ from those of a run model. */
export interface Matched<T> {
  /** Entries whose text differs. */
  changed: { before: Placed<T>; after: T }[];
  added: T[];
  removed: Placed<T>[];
}

/**
 * Finds each entry of a run model in a file without ids: by its full content, then by its main text. Equal lines are
 * matched one to one, so that a duplicate line stays.
 */
export function matchEntries<T>(
  before: readonly Placed<T>[],
  after: readonly T[],
  signature: (entry: T) => string,
  /** The entry as it would read back: what the form cannot hold makes no difference. */
  reread: (entry: T) => T,
  words: (entry: T) => string,
): Matched<T> {
  const open = new Map<string, number[]>();
  const taken = new Uint8Array(before.length);
  for (let index = before.length - 1; index >= 0; index--)
    push(open, signature((before[index] as Placed<T>).value), index);
  const left: T[] = [];
  for (const entry of after) {
    const index = take(open, signature(entry), taken) ?? take(open, signature(reread(entry)), taken);
    if (index === null) left.push(entry);
  }
  const byWords = new Map<string, number[]>();
  for (let index = before.length - 1; index >= 0; index--)
    if (taken[index] === 0) push(byWords, flat(words((before[index] as Placed<T>).value)), index);
  const result: Matched<T> = { changed: [], added: [], removed: [] };
  for (const entry of left) {
    const index = take(byWords, flat(words(entry)), taken);
    const found = index === null ? undefined : before[index];
    if (found?.entry) result.changed.push({ before: found, after: entry });
    else result.added.push(entry);
  }
  for (const [index, placed] of before.entries()) if (taken[index] === 0 && placed.entry) result.removed.push(placed);
  return result;
}

function push(map: Map<string, number[]>, key: string, index: number): void {
  const list = map.get(key);
  if (list) list.push(index);
  else map.set(key, [index]);
}

function take(map: Map<string, number[]>, key: string, taken: Uint8Array): number | null {
  const list = map.get(key);
  for (let index = list?.pop(); index !== undefined; index = list?.pop()) {
    if (taken[index] === 1) continue;
    taken[index] = 1;
    return index;
  }
  return null;
}
