/** Times are compared only with each other, within the same round. */

export interface Spread {
  median: number;
  /** The quartiles: half of the rounds lie between them. */
  low: number;
  high: number;
  rounds: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { median: at(0.5), low: at(0.25), high: at(0.75), rounds: sorted.length };
}

/**
 * Runs every contender once per round, each round starting with the next one, so that slow moments of the machine and
 * the order affect all alike. Returns the milliseconds of each, round by round.
 */
export async function inTurns<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => void | Promise<void>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const [place] of names.entries()) {
      const name = names[(round + place) % names.length] as Name;
      const began = process.hrtime.bigint();
      await contenders[name]();
      times[name].push(Number(process.hrtime.bigint() - began) / 1e6);
    }
  }
  return times;
}

/** The ratio of one to the other, round by round. */
export function ratios(times: readonly number[], against: readonly number[]): Spread {
  return spreadOf(times.map((time, round) => time / (against[round] ?? Number.NaN)));
}

/** A row of the table. */
export interface Row {
  what: string;
  measured: string;
  spread: string;
  target: string;
  met: boolean;
}

export function ratioRow(what: string, spread: Spread, target: { atMost: number } | { atLeast: number }): Row {
  const limit = 'atMost' in target ? target.atMost : target.atLeast;
  return {
    what,
    measured: `${spread.median.toFixed(2)}×`,
    spread: `${spread.low.toFixed(2)} to ${spread.high.toFixed(2)}, ${spread.rounds} rounds`,
    target: `${'atMost' in target ? 'at most' : 'at least'} ${limit}×`,
    met: 'atMost' in target ? spread.median <= limit : spread.median >= limit,
  };
}
