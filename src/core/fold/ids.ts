import type { State } from './state.ts';

export const itemPrefixes = { blocker: 'B', finding: 'F', question: 'Q', commitment: 'C', error: 'E' } as const;

/** The next id with a prefix. `ahead` counts the ids that the same decision has already used. */
export function nextId(state: State, prefix: string, ahead = 0): string {
  return `${prefix}-${(state.counters[prefix] ?? 0) + 1 + ahead}`;
}

/** Raises the counter of an id's prefix to its number, wherever the id comes from. Returns whether the id is new. */
export function count(state: State, id: string): boolean {
  const match = /^([A-Z])-(\d+)$/.exec(id);
  if (!match) return false;
  const [, prefix = '', digits = ''] = match;
  const before = state.counters[prefix] ?? 0;
  state.counters[prefix] = Math.max(before, Number(digits));
  return Number(digits) > before;
}
