import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { openHoldfast } from '../../../src/holdfast.ts';
import { tryBriefFields } from './brief-fields.ts';
import { doors } from './input-doors.ts';
import type { Part, Trial } from './part.ts';
import { newPlace } from './place.ts';

export const input: Part = {
  name: 'input',
  title: 'Input that is broken or hostile',
  about:
    'Files of the five formats, hook payloads and HTTP bodies are mutated line by line and value by value, with YAML bombs, ' +
    'deep nesting, prototype keys, escape codes and injected instructions among what is put in. Nothing throws, hangs or ' +
    'reaches a prototype; what is read can be held by the journal; a file that is written keeps its words. Hostile words ' +
    'in every field that reaches a brief leave its structure as it is. Paths that lead out of the workspace are refused.',
  async run(trial) {
    for (const door of doors) if (trial.wants(door.name)) await tryDoor(trial, door);
    if (trial.wants('fields of events')) await tryBriefFields(trial);
    if (trial.wants('paths out of the workspace')) await tryPaths(trial);
  },
};

/** Far more than any of it takes on a slow machine: what takes longer hangs. */
const HANG_MS = 20_000;

const ROUNDS = { long: 4000, short: 40 };

async function tryDoor(trial: Trial, { name, open, rounds = ROUNDS }: (typeof doors)[number]): Promise<void> {
  const door = await open();
  for (let round = 0; round < trial.size(rounds.long, rounds.short); round++) {
    const random = trial.random.fork(`${name} ${round}`);
    const began = performance.now();
    try {
      trial.count(name, await door.feed(random));
    } catch (thrown) {
      trial.fail(`${name}, input ${round}: ${(thrown as Error).message}`);
    }
    if (performance.now() - began > HANG_MS) trial.fail(`${name}, input ${round} hangs`);
    if (({} as Record<string, unknown>)['polluted'] !== undefined) {
      trial.fail(`${name}, input ${round} reached the prototype of all objects`);
      delete (Object.prototype as Record<string, unknown>)['polluted'];
    }
  }
  await door.close().catch((thrown: Error) => trial.fail(`${name}: ${thrown.message}`));
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
  const deeds: Record<string, (path: string) => Promise<unknown>> = {
    artifact: (path) => holdfast.checkpoint({ name: 'x', artifacts: [path] }),
    claim: (path) => holdfast.claim({ files: [path] }),
    mirror: (path) => holdfast.mirror.add({ format: 'gsd', path }),
  };
  for (const [name, deed] of Object.entries(deeds)) {
    for (const path of PATHS) {
      trial.count('paths out of the workspace', 'tried');
      const refused = await deed(path).then(
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
