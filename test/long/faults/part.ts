import type { Random } from './random.ts';

/** One kind of fault, tried many times. */
export interface Part {
  name: string;
  title: string;
  /** What is done, and what must hold afterwards; printed in the report. */
  about: string;
  run(trial: Trial): Promise<void>;
}

export interface Trial {
  random: Random;
  /** The whole run, or a sample for `npm test`. */
  long: boolean;
  /** The first value in a long run, the second in a short one. */
  size(long: number, short: number): number;
  /** The points to try: every n-th in a long run, a few in a short one. */
  thin<T>(places: readonly T[], short: number): T[];
  /** Whether the thing of this name is to be tested: it is named by `--only`, or nothing is. */
  wants(name: string): boolean;
  /** Adds to a cell of the report. */
  count(row: string, column: string, by?: number): void;
  /** Reports something that does not hold, with everything needed to reproduce it. */
  fail(message: string): void;
  say(message: string): void;
}

export interface Outcome {
  part: Part;
  rows: Map<string, Map<string, number>>;
  failures: string[];
}

/** Every third point is tried, so that a long run takes less than 40 minutes; `--every 1` tries all. */
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
