import { parseColumn } from '../row.ts';

/** What is kept about the records of a run beside them. */
export interface Tally {
  /** Kind, status, how many: counting them anew would take longer the longer the history is. */
  counts: [string, string, number][];
  /** Records whose text is not in the search index, by number, with whether a former text is. */
  unindexed: Map<number, boolean>;
}

/** From so many on they are indexed with the append that adds the last of them. */
export const UNINDEXED_LIMIT = 64;

export function emptyTally(): Tally {
  return { counts: [], unindexed: new Map() };
}

export function addToCount({ counts }: Tally, kind: string, status: string, change: number): void {
  const known = counts.find((count) => count[0] === kind && count[1] === status);
  if (known === undefined) counts.push([kind, status, change]);
  else known[2] += change;
}

export function parseTally(column: string): Tally {
  const { counts, unindexed } = parseColumn(column, 'a tally') as {
    counts: Tally['counts'];
    unindexed: [number, boolean][];
  };
  return { counts, unindexed: new Map(unindexed) };
}

export function renderTally({ counts, unindexed }: Tally): string {
  return JSON.stringify({ counts, unindexed: [...unindexed] });
}
