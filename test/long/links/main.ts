import { seeded } from '../faults/random.ts';
import { type Ground, makeGround } from './ground.ts';
import { plantedCase, swappedCase, type Tally } from './plant.ts';
import { pointerCase } from './pointers.ts';
import { configurationCase, proposalCase } from './settings.ts';

const CASES = 10_000;
/** Reports of one case are counted one by one only so far. */
const SHOWN = 20;

/**
 * Links, pointers and settings at random. Nothing outside the data folder changes, nothing runs, nothing connects.
 * `--cases N --seed N`.
 */
export async function main(words: readonly string[]): Promise<number> {
  const seed = optionOf(words, 'seed') ?? Math.floor(Math.random() * 2 ** 31);
  const cases = optionOf(words, 'cases') ?? CASES;
  console.log(`${cases} cases, seed ${seed}.`);
  const ground = await makeGround();
  const tally: Tally = new Map();
  const findings: string[] = [];
  try {
    for (let number = 0; number < cases; number++) {
      const about = await oneCase(ground, seed, number, tally, findings);
      findings.push(...ground.findings().map((words) => `case ${number}: ${words} (${about})`));
      if (number % 100 === 99) ground.renew();
    }
  } finally {
    ground.remove();
  }
  for (const finding of findings.slice(0, SHOWN)) console.log(finding);
  const counts = (name: string): number => [...tally].reduce((sum, [of, n]) => sum + (of.startsWith(name) ? n : 0), 0);
  for (const [outcome, count] of tally) if (outcome.startsWith('unexpected')) console.log(`${count} × ${outcome}`);
  console.log(
    `${findings.length} findings. Operations: ${counts('done')} done, ${counts('refused')} refused, ${counts('unexpected')} with an unexpected error.`,
  );
  return findings.length === 0 && counts('done') > 0 && counts('refused') > 0 ? 0 : 1;
}

async function oneCase(
  ground: Ground,
  seed: number,
  number: number,
  tally: Tally,
  findings: string[],
): Promise<string> {
  const random = seeded(seed).fork(`case ${number}`);
  const kind = number % 20;
  if (kind < 12) return plantedCase(ground, random, tally);
  if (kind === 12) return swappedCase(ground, random, tally);
  if (kind < 16) {
    findings.push(...pointerCase(ground, random).map((words) => `case ${number}: ${words}`));
    return 'pointers';
  }
  if (kind < 18) {
    findings.push(...(await proposalCase(ground, random, tally)).map((words) => `case ${number}: ${words}`));
    return 'proposals';
  }
  return configurationCase(ground, random, tally);
}

function optionOf(words: readonly string[], name: string): number | undefined {
  const at = words.indexOf(`--${name}`);
  return at >= 0 ? Number(words[at + 1]) : undefined;
}
