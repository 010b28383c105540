import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { openHoldfast } from '../../../src/holdfast.ts';
import { type CrashDeed, crashDeeds } from './crash-deeds.ts';
import type { Part, Trial } from './part.ts';
import { type Answer, callsOf, type Data, type FaultPoint, type Place, withFault } from './place.ts';

export const crash: Part = {
  name: 'crash',
  title: 'Crashes (SQLite)',
  about:
    'Each command is killed with SIGKILL before every one of its system calls that write (those of SQLite included), and ' +
    'in the middle of every write. Then: all events that were acknowledged are there, the chain and what is derived ' +
    'verify, mirrored files are whole, the command finishes when it is run again, and what it does is done once.',
  async run(trial) {
    for (const deed of crashDeeds) {
      if (!trial.long && !deed.short) continue;
      await killEverywhere(trial, deed);
    }
  },
};

const KEY = ['--idempotency', 'the-same'];

async function killEverywhere(trial: Trial, deed: CrashDeed): Promise<void> {
  await survive(trial, deed, {
    points(calls) {
      trial.count(deed.name, 'calls that write', calls.length);
      return calls.flatMap((call, index) => [
        { at: index + 1, deed: 'kill' as const },
        ...(isWrite(call) ? [{ at: index + 1, deed: 'torn' as const }] : []),
      ]);
    },
    short: 4,
    judge(answer) {
      trial.count(deed.name, answer.code === null ? 'killed' : 'ended before that');
      return [];
    },
  });
}

const isWrite = (call: string): boolean => /^(p?write|writev|copy_file_range|sendfile)/.test(call);

export interface Survival {
  points(calls: readonly string[]): FaultPoint[];
  /** How many of them are tried in the short form. */
  short: number;
  /** What is wrong with the answer that was given while the fault was there. */
  judge(answer: Answer, point: FaultPoint): string[];
}

/** Does it with a fault, looks at what is there, and does it again without. */
export async function survive(trial: Trial, deed: CrashDeed, { points, short, judge }: Survival): Promise<void> {
  const origin = deed.prepare();
  const words = deed.keyless ? deed.words : [...deed.words, ...KEY];
  const wanted = origin.copy();
  const input = deed.input === undefined ? {} : { input: deed.input };
  const { answer, calls } = callsOf(wanted, words, input);
  if (answer.code !== 0) trial.fail(`${deed.name} does not work at all: ${answer.out}${answer.err}`);
  // Of a copy: to look at a journal that is not made yet makes it.
  const look = origin.copy();
  const before = await factsOf(look);
  look.remove();
  const reference = await settled(wanted);
  trial.say(`${deed.name}: ${calls.length} calls that write`);
  for (const point of trial.random.sample(points(calls), trial.size(Number.POSITIVE_INFINITY, short))) {
    const place = origin.copy();
    const name = `${deed.name}: ${point.deed} at call ${point.at} (${calls[point.at - 1]})`;
    const hit = place.run(words, { env: withFault(place, point), ...input });
    const problems = [...judge(hit, point), ...(await lookAfter(place, before, hit))];
    const again = place.run(words, input);
    if (again.code !== 0) problems.push(`does not finish when run again: ${again.out}${again.err}`);
    else problems.push(...differences(reference, await settled(place)));
    for (const problem of problems) trial.fail(`${name}: ${problem}`);
    trial.count(deed.name, 'places tried');
    place.remove();
  }
  origin.remove();
  wanted.remove();
}

export interface Facts {
  /** By run. */
  events: Record<string, { version: number; type: string; body: unknown }[]>;
  findings: Data[];
}

export async function factsOf(place: Place): Promise<Facts> {
  if (!existsSync(place.file('.holdfast', 'journal.db'))) return { events: {}, findings: [] };
  const holdfast = await openHoldfast({ dir: place.path });
  try {
    const { findings } = await holdfast.doctor({});
    const { runs } = await holdfast.runs({});
    const events: Facts['events'] = {};
    for (const { id } of runs as { id: string }[]) {
      const log = await holdfast.as({ run: id }).log({ limit: 100_000 });
      events[id] = (log.events as Data[]).map(({ version, type, body }) => ({ version, type, body }));
    }
    return { events, findings };
  } finally {
    await holdfast.close();
  }
}

/** Before anything is run again. */
async function lookAfter(place: Place, before: Facts, hit: Answer): Promise<string[]> {
  const problems: string[] = [];
  try {
    if (existsSync(place.file('.holdfast', 'config.json'))) {
      const now = await factsOf(place);
      for (const { level, message } of now.findings) if (level === 'error') problems.push(`doctor: ${message}`);
      for (const [run, events] of Object.entries(before.events)) {
        const kept = (now.events[run] ?? []).slice(0, events.length);
        if (JSON.stringify(withoutWords(kept)) !== JSON.stringify(withoutWords(events)))
          problems.push(`${run} lost acknowledged events`);
      }
      const version = hit.ok ? Number(hit.data['version'] ?? 0) : 0;
      const newest = Math.max(0, ...Object.values(now.events).map((events) => events.at(-1)?.version ?? 0));
      if (version > newest) problems.push(`version ${version} was acknowledged, ${newest} is there`);
    }
  } catch (thrown) {
    problems.push(`the journal cannot be read: ${(thrown as Error).message}`);
  }
  for (const file of jsonFiles(place)) {
    try {
      JSON.parse(readFileSync(place.file(file), 'utf8'));
    } catch {
      problems.push(`${file} is torn`);
    }
  }
  return problems;
}

/** Words may be gone where the command erases them. */
function withoutWords(events: Facts['events'][string]): unknown {
  return events.map(({ version, type, body }) => [version, type, Object.keys(body as object)]);
}

/** The files of the mirror and our own that must never be half written. */
function jsonFiles(place: Place): string[] {
  return readdirSync(place.path, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.json') && !file.includes('node_modules'),
  );
}

interface Settled {
  /** How often each type of event was recorded. */
  types: Record<string, number>;
  /** The mirrored files, times taken out. */
  mirrors: Record<string, string>;
  problems: string[];
}

/** When all is done: everything is in step, and stays so. */
async function settled(place: Place): Promise<Settled> {
  const problems: string[] = [];
  const mirrors: Record<string, string> = {};
  for (const round of existsSync(place.file('.holdfast', 'mirrors')) ? ['first', 'second'] : []) {
    for (const { path, written, absorbed, rejected } of await syncMirrors(place)) {
      if (rejected) problems.push(`our own ${path} was set aside as somebody's edit`);
      if (round === 'first') continue;
      if (written.length > 0 || absorbed > 0) problems.push(`${path} does not come to rest`);
      mirrors[path] = readFileSync(place.file(path), 'utf8').replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, 'TIME');
    }
  }
  const { events, findings } = await factsOf(place);
  for (const { level, message } of findings) if (level === 'error') problems.push(`doctor at the end: ${message}`);
  const types: Record<string, number> = {};
  for (const { type } of Object.values(events).flat()) types[type] = (types[type] ?? 0) + 1;
  return { types, mirrors, problems };
}

async function syncMirrors(place: Place): Promise<Data[]> {
  const holdfast = await openHoldfast({ dir: place.path });
  try {
    return (await holdfast.mirror.sync()).mirrors;
  } finally {
    await holdfast.close();
  }
}

function differences(wanted: Settled, found: Settled): string[] {
  const problems = [...found.problems];
  const types = new Set([...Object.keys(wanted.types), ...Object.keys(found.types)]);
  for (const type of types)
    if (wanted.types[type] !== found.types[type])
      problems.push(`${type} was recorded ${found.types[type] ?? 0} times instead of ${wanted.types[type] ?? 0}`);
  for (const [path, text] of Object.entries(wanted.mirrors))
    if (found.mirrors[path] !== text) problems.push(`${path} says something else than without the crash`);
  return problems;
}
