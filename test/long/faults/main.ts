import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const REPORT = 'docs/proof/faults.md';

export const parts: readonly Part[] = [crash, postgres, storage, concurrency, input, endurance];

/**
 * `faults [PART…] [--seed N] [--short] [--every N] [--sample N] [--only NAME] [--report]`: tries every N-th point of a kind,
 * and at most as many as the sample; the sample is also the number of thousand events of the month. A report of some parts
 * leaves the sections of the others as they are.
 */
export async function main(words: string[]): Promise<number> {
  // The library in this process must not use the user's own state folder.
  process.env['HOLDFAST_STATE_HOME'] = join(mkdtempSync(join(tmpdir(), 'holdfast-faults-state-')), 'state');
  const valueAfter = (flag: string): string | undefined => {
    const at = words.indexOf(flag);
    return at < 0 ? undefined : words[at + 1];
  };
  const numberAfter = (flag: string): number | undefined => {
    const value = valueAfter(flag);
    return value === undefined ? undefined : Number(value);
  };
  const named = words.filter(
    (word, index) => !word.startsWith('--') && !/^--(seed|sample|every|only)$/.test(words[index - 1] ?? ''),
  );
  const unknown = named.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) {
    console.error(`There is no ${unknown}. There are: ${parts.map((part) => part.name).join(', ')}.`);
    return 2;
  }
  if (!canInject) {
    console.error(
      'Faults are injected into system calls by a small C library: this needs Linux and a C compiler (cc).',
    );
    return 2;
  }
  const seed = numberAfter('--seed') ?? Math.floor(Math.random() * 2 ** 32);
  const sample = numberAfter('--sample');
  const long = !words.includes('--short');
  console.log(`Seed ${seed}: \`npm run test:long faults -- --seed ${seed}\` repeats this run.`);
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
        every: numberAfter('--every'),
        only: valueAfter('--only'),
      }),
    );
  }
  const options = words.filter(
    (word, index) => !['--seed', '--report'].includes(word) && words[index - 1] !== '--seed',
  );
  const command = [...options.filter((word) => !parts.some((part) => part.name === word)), '--seed', seed].join(' ');
  const former = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '';
  if (words.includes('--report')) writeFileSync(REPORT, renderReport(parts, outcomes, command, former));
  console.log(`\n${renderReport(parts, outcomes, command)}`);
  return outcomes.some((outcome) => outcome.failures.length > 0) ? 1 : 0;
}
