import { flat } from './clip.ts';
import type { Placed } from './reading.ts';

/** What became of each record that a file holds, and what it does not hold yet. */
export interface Matched<T> {
  /** Said otherwise than it now is. */
  changed: { before: Placed<T>; after: T }[];
  added: T[];
  removed: Placed<T>[];
}

/**
 * Finds each record of an account in a file that gives records no ids: by all that it says, then by its main words.
 * Equal lines are matched one to one, so that a line that is there twice stays there twice.
 */
export function matchEntries<T>(
  before: readonly Placed<T>[],
  after: readonly T[],
  signature: (record: T) => string,
  /** The record as it would read back: what the form cannot say makes no difference. */
  reread: (record: T) => T,
  words: (record: T) => string,
): Matched<T> {
  const open = new Map<string, number[]>();
  const taken = new Uint8Array(before.length);
  for (let index = before.length - 1; index >= 0; index--)
    push(open, signature((before[index] as Placed<T>).value), index);
  const left: T[] = [];
  for (const record of after) {
    const index = take(open, signature(record), taken) ?? take(open, signature(reread(record)), taken);
    if (index === null) left.push(record);
  }
  const byWords = new Map<string, number[]>();
  for (let index = before.length - 1; index >= 0; index--)
    if (taken[index] === 0) push(byWords, flat(words((before[index] as Placed<T>).value)), index);
  const result: Matched<T> = { changed: [], added: [], removed: [] };
  for (const record of left) {
    const index = take(byWords, flat(words(record)), taken);
    const found = index === null ? undefined : before[index];
    if (found?.entry) result.changed.push({ before: found, after: record });
    else result.added.push(record);
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
