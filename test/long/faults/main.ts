import { writeFileSync } from 'node:fs';
import { concurrency } from './concurrency.ts';
import { crash } from './crash.ts';
import { endurance } from './endurance.ts';
import { input } from './input.ts';
import { type Outcome, type Part, tryPart } from './part.ts';
import { canInject } from './place.ts';
import { postgres } from './postgres.ts';
import { seeded } from './random.ts';
import { renderReport } from './report.ts';
import { storage } from './storage.ts';

export const parts: readonly Part[] = [crash, postgres, storage, concurrency, input, endurance];

/**
 * `faults [PART…] [--seed N] [--short] [--sample N] [--only NAME] [--report]`; a sample tries at most so many places of
 * each kind.
 */
export async function main(words: string[]): Promise<number> {
  const valueAfter = (flag: string): string | undefined => {
    const at = words.indexOf(flag);
    return at < 0 ? undefined : words[at + 1];
  };
  const numberAfter = (flag: string): number | undefined => {
    const value = valueAfter(flag);
    return value === undefined ? undefined : Number(value);
  };
  const named = words.filter(
    (word, index) => !word.startsWith('--') && !/^--(seed|sample|only)$/.test(words[index - 1] ?? ''),
  );
  const unknown = named.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) {
    console.error(`There is no ${unknown}. There are: ${parts.map((part) => part.name).join(', ')}.`);
    return 2;
  }
  if (!canInject) {
    console.error('Faults are put into system calls by a small C library: this needs Linux and a C compiler (cc).');
    return 2;
  }
  const seed = numberAfter('--seed') ?? Math.floor(Math.random() * 2 ** 32);
  const sample = numberAfter('--sample');
  const long = !words.includes('--short');
  console.log(`Seed ${seed}: \`npm run test:long faults -- --seed ${seed}\` does the same again.`);
  const outcomes: Outcome[] = [];
  for (const part of parts) {
    if (named.length > 0 && !named.includes(part.name)) continue;
    console.log(`\n${part.title}`);
    const say = (message: string) => console.log(`  ${message}`);
    outcomes.push(
      await tryPart(part, {
        random: seeded(seed).fork(part.name),
        long,
        say,
        sample,
        only: valueAfter('--only'),
      }),
    );
  }
  const report = renderReport(
    outcomes,
    [...words.filter((word, index) => word !== '--seed' && words[index - 1] !== '--seed'), '--seed', seed].join(' '),
  );
  if (words.includes('--report')) writeFileSync('docs/proof/faults.md', report);
  console.log(`\n${report}`);
  return outcomes.some((outcome) => outcome.failures.length > 0) ? 1 : 0;
}
