import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { openHoldfast } from '../../../src/holdfast.ts';
import { tryBriefFields } from './brief-fields.ts';
import { interfaces } from './input-interfaces.ts';
import type { Part, Trial } from './part.ts';
import { newPlace, type Place, workedPlace } from './place.ts';

export const input: Part = {
  name: 'input',
  title: 'Input that is broken or hostile',
  about:
    'Files of the five formats, transcripts of every client, packed and not, hook inputs, HTTP bodies and MCP ' +
    'messages are mutated line by line and value by value, and get YAML bombs, deep nesting, prototype keys, escape ' +
    'codes and injected instructions. Nothing throws, hangs or reaches a prototype; what is read can be recorded in ' +
    'the journal; a file that is written keeps its text. Hostile text in every text field of every event, found by ' +
    'its schema, does not change the structure of a brief. Paths that lead out of the workspace are refused, and ' +
    'links that do are not written through.',
  async run(trial) {
    for (const opened of interfaces) if (trial.wants(opened.name)) await tryInterface(trial, opened);
    if (trial.wants('fields of events')) await tryBriefFields(trial);
    if (trial.wants('paths out of the workspace')) await tryPaths(trial);
    if (trial.wants('links out of the workspace')) tryLinks(trial);
  },
};

/** Far more than any input takes on a slow machine: longer is a hang. */
const HANG_MS = 20_000;

const ROUNDS = { long: 4000, short: 25 };

async function tryInterface(trial: Trial, { name, open, rounds = ROUNDS }: (typeof interfaces)[number]): Promise<void> {
  const opened = await open();
  for (let round = 0; round < trial.size(rounds.long, rounds.short); round++) {
    const random = trial.random.fork(`${name} ${round}`);
    const began = performance.now();
    try {
      trial.count(name, await opened.feed(random));
    } catch (thrown) {
      trial.fail(`${name}, input ${round}: ${(thrown as Error).message}`);
    }
    if (performance.now() - began > HANG_MS) trial.fail(`${name}, input ${round} hangs`);
    if (({} as Record<string, unknown>)['polluted'] !== undefined) {
      trial.fail(`${name}, input ${round} reached the prototype of all objects`);
      delete (Object.prototype as Record<string, unknown>)['polluted'];
    }
  }
  await opened.close().catch((thrown: Error) => trial.fail(`${name}: ${thrown.message}`));
}

const PATHS = [
  '../out.txt',
  'a/../../out.txt',
  '/etc/passwd',
  'link/passwd',
  'link',
  '..',
  'deep/link/x',
  './../x',
  'a/./../../x',
];

async function tryPaths(trial: Trial): Promise<void> {
  const place = newPlace();
  mkdirSync(place.file('deep'));
  writeFileSync(place.file('inside.txt'), 'x');
  symlinkSync('/etc', place.file('link'));
  symlinkSync('/etc', place.file('deep', 'link'));
  const holdfast = await openHoldfast({ dir: place.path, agent: 'ada' });
  await holdfast.init({ title: 'Work', id: 'work' });
  await holdfast.plan.add({ key: 'a', title: 'A' });
  await holdfast.start({ key: 'a' });
  await holdfast.checkpoint({ name: 'inside', artifacts: ['inside.txt'] });
  const actions: Record<string, (path: string) => Promise<unknown>> = {
    artifact: (path) => holdfast.checkpoint({ name: 'x', artifacts: [path] }),
    claim: (path) => holdfast.claim({ files: [path] }),
    mirror: (path) => holdfast.mirror.add({ format: 'gsd', path }),
  };
  for (const [name, action] of Object.entries(actions)) {
    for (const path of PATHS) {
      trial.count('paths out of the workspace', 'tried');
      const refused = await action(path).then(
        () => false,
        (thrown: { code?: string }) => thrown.code !== 'internal',
      );
      if (refused) trial.count('paths out of the workspace', 'refused');
      else if (name !== 'claim') trial.fail(`${name} ${path} was not refused`);
      else trial.count('paths out of the workspace', 'claimed as a pattern only');
    }
  }
  await holdfast.close();
  place.remove();
}

const STATE = 'agent-output/shop/00-session-state.json';
const GSD = '.planning/STATE.md';

/** Paths that a repository may contain as a link to elsewhere, and the command that would write there. */
const LINKS: readonly { at: string; isFolder: boolean; words: readonly string[] }[] = [
  { at: '.git/holdfast/snapshots', isFolder: true, words: ['snapshot', '--agent', 'ada'] },
  { at: '.git/holdfast/mirrors', isFolder: true, words: ['mirror', 'add', 'gsd'] },
  { at: '.git/holdfast/RESUME.md', isFolder: false, words: ['checkpoint', 'x', '--agent', 'ada'] },
  { at: '.planning', isFolder: true, words: ['mirror', 'add', 'gsd'] },
  { at: GSD, isFolder: false, words: ['mirror', 'add', 'gsd'] },
  { at: 'agent-output', isFolder: true, words: ['mirror', 'add', 'apex', STATE] },
  { at: STATE, isFolder: false, words: ['mirror', 'add', 'apex', STATE] },
  { at: '.claude', isFolder: true, words: ['install', 'claude', '--project'] },
  { at: '.claude/settings.json', isFolder: false, words: ['install', 'claude', '--project'] },
  { at: 'CLAUDE.md', isFolder: false, words: ['install', 'claude', '--project'] },
];

function tryLinks(trial: Trial): void {
  const origin = workedPlace();
  for (const link of trial.random.sample(LINKS, trial.size(LINKS.length, 2))) tryLink(trial, origin.copy(), link);
  origin.remove();
}

/** Whether the command succeeds or is refused, nothing outside is created, changed or removed. */
function tryLink(trial: Trial, place: Place, { at, isFolder, words }: (typeof LINKS)[number]): void {
  const outside = newPlace();
  writeFileSync(outside.file('theirs'), 'as it was');
  rmSync(place.file(at), { recursive: true, force: true });
  mkdirSync(dirname(place.file(at)), { recursive: true });
  symlinkSync(isFolder ? outside.path : outside.file('theirs'), place.file(at));
  const { code, fault, out, err } = place.run(words);
  trial.count('links out of the workspace', code === 0 ? 'not followed' : 'refused');
  if (code !== 0 && (fault === null || fault.code === 'internal')) trial.fail(`${at} as a link: ${out}${err}`);
  const left = readdirSync(outside.path)
    .filter((name) => name !== '.git')
    .map((name) => `${name}: ${readFileSync(outside.file(name), 'utf8')}`);
  if (left.join() !== 'theirs: as it was') trial.fail(`${words.join(' ')} with ${at} as a link wrote ${left.join()}`);
  place.remove();
  outside.remove();
}
