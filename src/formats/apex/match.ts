/**
 * Finds the entry of the file for each entry of the run model, each at most once: by the file's own id if there is one,
 * else by its text.
 */
export function matcher<T extends { alias?: string | undefined }>(
  before: readonly T[],
  wordsOf: (entry: T) => string,
): (entry: T) => number | undefined {
  const used = new Set<number>();
  const byAlias = new Map<string, number[]>();
  const byWords = new Map<string, number[]>();
  // From the end, so that the first is popped first.
  for (let index = before.length - 1; index >= 0; index--) {
    const entry = before[index] as T;
    if (entry.alias !== undefined) put(byAlias, entry.alias, index);
    put(byWords, wordsOf(entry), index);
  }
  const take = (list: number[] | undefined): number | undefined => {
    while (list && list.length > 0) {
      const index = list.pop() as number;
      if (used.has(index)) continue;
      used.add(index);
      return index;
    }
    return undefined;
  };
  return (entry) =>
    (entry.alias === undefined ? undefined : take(byAlias.get(entry.alias))) ?? take(byWords.get(wordsOf(entry)));
}

function put(map: Map<string, number[]>, key: string, index: number): void {
  const list = map.get(key);
  if (list) list.push(index);
  else map.set(key, [index]);
}
