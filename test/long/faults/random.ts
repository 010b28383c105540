/** Numbers that are the same for the same seed, on every machine. */
export interface Random {
  readonly seed: number;
  /** From 0 up to, but not including, the limit. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  /** So many different elements, in their order; all of them if there are not more. */
  sample<T>(from: readonly T[], count: number): T[];
  chance(probability: number): boolean;
  /** Another source that is independent of how far this one was read. */
  fork(name: string): Random;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    seed,
    below,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    sample(from, count) {
      const left = from.map((_, index) => index);
      while (left.length > count) left.splice(below(left.length), 1);
      return left.map((index) => from[index] as (typeof from)[number]);
    },
    chance: (probability) => next() < probability,
    fork(name) {
      let hash = seed;
      for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
      return seeded(hash);
    },
  };
}
