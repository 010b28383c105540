import type { Random } from './random.ts';

/** One kind of fault, tried many times. */
export interface Part {
  name: string;
  title: string;
  /** What is done, and what must hold afterwards, for a reader of the report. */
  about: string;
  run(trial: Trial): Promise<void>;
}

export interface Trial {
  random: Random;
  /** All of it, or a sample that fits into the ordinary tests. */
  long: boolean;
  /** The size of something: the first in a long run, the second in a short one. */
  size(long: number, short: number): number;
  /** Of all places those that are tried: each so-manieth in a long run, so many in a short one. */
  thin<T>(places: readonly T[], short: number): T[];
  /** Whether what has this name is to be tried: it is asked for, or nothing is. */
  wants(name: string): boolean;
  /** Counts something that was tried under a heading of the report. */
  count(row: string, column: string, by?: number): void;
  /** Something that must hold and does not, with all that is needed to see it again. */
  fail(message: string): void;
  say(message: string): void;
}

export interface Outcome {
  part: Part;
  rows: Map<string, Map<string, number>>;
  failures: string[];
}

/** Every so-manieth place is tried, so that a long run takes less than 40 minutes; `--every 1` tries all. */
export const EVERY = 3;

interface Options {
  random: Random;
  long: boolean;
  sample?: number | undefined;
  every?: number | undefined;
  only?: string | undefined;
  say?: Trial['say'];
}

export async function tryPart(part: Part, options: Options) {
  const outcome: Outcome = { part, rows: new Map(), failures: [] };
  await part.run({
    random: options.random,
    long: options.long,
    size: (long, short) => (options.long ? Math.min(long, options.sample ?? long) : short),
    thin(places, short) {
      if (!options.long) return options.random.sample(places, short);
      const every = options.every ?? EVERY;
      const from = options.random.below(every);
      const chosen = places.filter((_, index) => index % every === from);
      return options.random.sample(chosen, options.sample ?? chosen.length);
    },
    wants: (name) => name.includes(options.only ?? ''),
    count(row, column, by = 1) {
      const columns = outcome.rows.get(row) ?? new Map<string, number>();
      outcome.rows.set(row, columns.set(column, (columns.get(column) ?? 0) + by));
    },
    fail(message) {
      outcome.failures.push(message);
      options.say?.(`  FAILED ${message}`);
    },
    say: options.say ?? (() => undefined),
  });
  return outcome;
}
