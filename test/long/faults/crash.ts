import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { openHoldfast } from '../../../src/holdfast.ts';
import { runAtTerminal } from '../../terminal.ts';
import { type CrashAction, crashActions } from './crash-actions.ts';
import { fileGround, type Ground } from './ground.ts';
import type { Part, Trial } from './part.ts';
import {
  type Answer,
  answerOf,
  callsOf,
  type Data,
  type Environment,
  type FaultPoint,
  type Place,
  program,
  withFault,
} from './place.ts';

export const crash: Part = {
  name: 'crash',
  title: 'Crashes (SQLite)',
  about:
    'Each command is killed with SIGKILL before each of its system calls that write (including those of SQLite), and ' +
    'in the middle of every write. Afterwards all acknowledged events are there, the chain and all derived data ' +
    'verify, mirrored files are complete, the command finishes when it is run again, and its effect happens once.',
  async run(trial) {
    for (const action of crashActions) {
      if ((!trial.long && !action.short) || !trial.wants(action.name)) continue;
      await killEverywhere(trial, action);
    }
  },
};

const KEY = ['--idempotency', 'the-same'];

async function killEverywhere(trial: Trial, action: CrashAction): Promise<void> {
  await survive(trial, action, {
    points(calls) {
      trial.count(action.name, 'calls that write', calls.length);
      return calls.flatMap((call, index) => [
        { at: index + 1, action: 'kill' as const },
        ...(isWrite(call) ? [{ at: index + 1, action: 'torn' as const }] : []),
      ]);
    },
    short: 3,
    judge(answer) {
      trial.count(action.name, answer.code === null ? 'killed' : 'ended before the fault');
      return [];
    },
  });
}

export const isWrite = (call: string): boolean => /^(p?write|writev|send|copy_file_range|sendfile)/.test(call);

export interface Survival {
  points(calls: readonly string[]): FaultPoint[];
  /** How many of them the short run tries. */
  short: number;
  /** What is wrong with the answer during the fault. */
  judge(answer: Answer, point: FaultPoint): string[];
  ground?: Ground;
}

/** Runs the action with a fault, checks what is there, and runs it again without. */
export async function survive(trial: Trial, action: CrashAction, survival: Survival): Promise<void> {
  const { points, short, ground = fileGround } = survival;
  const origin = await ground.prepare(action);
  const wanted = await arrive(ground, origin, action);
  const { answer, calls } = await callsOf(wanted, (env) => carryOut(action, wanted, env), ground.sockets);
  if (answer.code !== 0) trial.fail(`${action.name} does not work at all: ${answer.out}${answer.err}`);
  // On a copy, because opening a journal creates it.
  const look = await arrive(ground, origin, action);
  const before = await factsOf(look);
  await ground.remove(look);
  const reference = await settled(wanted, action);
  trial.say(`${action.name}: ${calls.length} calls that write`);
  const chosen = trial.thin(points(calls), short);
  await eachOf(chosen, async (point) => {
    const place = await arrive(ground, origin, action);
    const name = `${action.name}: ${point.action} at call ${point.at} (${calls[point.at - 1]})`;
    for (const problem of await surviveOnce(place, action, survival, point, before, reference))
      trial.fail(`${name}: ${problem}`);
    trial.count(action.name, 'points tried');
    await ground.remove(place);
  });
  await ground.remove(origin);
  await ground.remove(wanted);
}

async function arrive(ground: Ground, origin: Place, action: CrashAction): Promise<Place> {
  const place = await ground.copy(origin);
  action.ready?.(place);
  return place;
}

async function carryOut(action: CrashAction, place: Place, env: Environment = {}): Promise<Answer> {
  if (action.carryOut) return action.carryOut(place, env);
  const words = action.keyless ? action.words : [...action.words, ...KEY];
  if (action.person) return atTerminal(place, words, env);
  return place.start(words, { env, ...(action.input === undefined ? {} : { input: action.input }) });
}

/** A killed command ends with 128 and the number of the signal in the shell of the terminal. */
function atTerminal(place: Place, words: readonly string[], more: Environment): Answer {
  const env = { ...place.env, ...more };
  const { code, out, err } = runAtTerminal([process.execPath, program, ...words, '--json'], { cwd: place.path, env });
  return answerOf(code !== null && code > 128 ? null : code, out, err);
}

async function surviveOnce(
  place: Place,
  action: CrashAction,
  { judge, ground = fileGround }: Survival,
  point: FaultPoint,
  before: Facts,
  reference: Settled,
): Promise<string[]> {
  const hit = await carryOut(action, place, withFault(place, { ...point, sockets: ground.sockets }));
  await ground.rest?.(place);
  const problems = [...judge(hit, point), ...(await lookAfter(place, before, hit))];
  const again = await carryOut(action, place);
  if (again.code !== 0) return [...problems, `does not finish when run again: ${again.out}${again.err}`];
  return [...problems, ...differences(reference, await settled(place, action), action.once)];
}

/** Several at a time: each mostly waits for processes. */
export async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

export interface Facts {
  /** By run. */
  events: Record<string, { version: number; type: string; body: unknown }[]>;
  findings: Data[];
}

const hasJournal = ({ env, own }: Place): boolean =>
  env['HOLDFAST_STORE'] !== undefined || existsSync(own('journal.db'));

/** The library on the journal of this place. */
function openAt({ path, env }: Place) {
  const store = env['HOLDFAST_STORE'];
  return openHoldfast({ dir: path, ...(store === undefined ? {} : { store }) });
}

export async function factsOf(place: Place): Promise<Facts> {
  if (!hasJournal(place)) return { events: {}, findings: [] };
  const holdfast = await openAt(place);
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

/** Checks the place before anything is run again. */
async function lookAfter(place: Place, before: Facts, hit: Answer): Promise<string[]> {
  const problems: string[] = [];
  try {
    if (existsSync(place.own('clone.json'))) {
      const now = await factsOf(place);
      for (const { level, message } of now.findings) if (level === 'error') problems.push(`doctor: ${message}`);
      for (const [run, events] of Object.entries(before.events)) {
        const kept = (now.events[run] ?? []).slice(0, events.length);
        if (JSON.stringify(withoutWords(kept)) !== JSON.stringify(withoutWords(events)))
          problems.push(`${run} lost acknowledged events`);
      }
      const recorded = hit.fault?.data['recorded'];
      const isMore = countIn(now) > countIn(before);
      if ((recorded === 'yes' || recorded === 'no') && isMore !== (recorded === 'yes'))
        problems.push(`recorded: ${recorded} was said, and ${isMore ? 'something' : 'nothing'} was recorded`);
      if (hit.code === 3 && recorded === undefined) problems.push('the refusal does not say whether it was recorded');
      const version = hit.ok ? Number(hit.data['version'] ?? 0) : 0;
      const newest = Math.max(0, ...Object.values(now.events).map((events) => events.at(-1)?.version ?? 0));
      if (version > newest) problems.push(`version ${version} was acknowledged, ${newest} is there`);
    }
  } catch (thrown) {
    problems.push(`the journal cannot be read: ${(thrown as Error).message}`);
  }
  for (const file of jsonFiles(place)) {
    const errors: ParseError[] = [];
    parse(readFileSync(place.file(file), 'utf8'), errors, { allowTrailingComma: true });
    if (errors.length > 0) problems.push(`${file} is torn`);
  }
  return problems;
}

const countIn = ({ events }: Facts): number => Object.values(events).reduce((sum, all) => sum + all.length, 0);

/** Without texts, because the command may erase them. */
function withoutWords(events: Facts['events'][string]): unknown {
  return events.map(({ version, type, body }) => [version, type, Object.keys(body as object)]);
}

/** Mirrored files and our own, which must never be half written. */
function jsonFiles(place: Place): string[] {
  return filesIn(place).filter((file) => file.endsWith('.json') && !file.includes('node_modules'));
}

function filesIn(place: Place): string[] {
  return readdirSync(place.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(place.path, join(entry.parentPath, entry.name)))
    .sort();
}

interface Settled {
  /** How often each type of event was recorded. */
  types: Record<string, number>;
  /** The mirrored files, or all written ones, without times. */
  files: Record<string, string>;
  problems: string[];
}

/** The final state: mirrors are in sync and stay so. */
async function settled(place: Place, action: CrashAction): Promise<Settled> {
  const problems: string[] = [];
  const files: Record<string, string> = {};
  const isMirrored = !action.leavesFiles && existsSync(place.own('mirrors'));
  for (const round of isMirrored ? ['first', 'second'] : []) {
    for (const { path, written, absorbed, rejected } of await syncMirrors(place)) {
      if (rejected) problems.push(`our own ${path} was set aside as an edit by someone else`);
      if (round === 'first') continue;
      if (written.length > 0 || absorbed > 0) problems.push(`${path} keeps changing`);
      files[path] = timeless(place, path);
    }
  }
  // The journal is checked separately, and leftovers of a crash beside our own files do no harm.
  // A file that was being written is removed by a later write, an hour on.
  const ours =
    /^\.git\/(?:state\/|holdfast\/(?:hooks\/|clone\.json)|holdfast\/(journal\.db|.*\.tmp$|[^/]*lock(\.[0-9a-f]+)?$|mirrors\/))|(?:^|\/)\.[^/]+\.[0-9a-f]{16}\.tmp$/;
  if (action.leavesFiles) for (const path of filesIn(place)) if (!ours.test(path)) files[path] = timeless(place, path);
  const { events, findings } = await factsOf(place);
  for (const { level, message } of findings) if (level === 'error') problems.push(`doctor at the end: ${message}`);
  const types: Record<string, number> = {};
  for (const { type } of Object.values(events).flat()) types[type] = (types[type] ?? 0) + 1;
  return { types, files, problems };
}

/** The text of a file without what differs between places and times. */
function timeless(place: Place, path: string): string {
  return readFileSync(place.file(path), 'utf8')
    .replaceAll(place.path, 'PLACE')
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, 'TIME')
    .replace(/\d+ (ms|s|min) ago/g, 'AGO');
}

async function syncMirrors(place: Place): Promise<Data[]> {
  const holdfast = await openAt(place);
  try {
    return (await holdfast.mirror.sync()).mirrors;
  } finally {
    await holdfast.close();
  }
}

function differences(wanted: Settled, found: Settled, once: readonly string[] | undefined): string[] {
  const problems = [...found.problems];
  const types = new Set(once ?? [...Object.keys(wanted.types), ...Object.keys(found.types)]);
  for (const type of types)
    if (wanted.types[type] !== found.types[type])
      problems.push(`${type} was recorded ${found.types[type] ?? 0} times instead of ${wanted.types[type] ?? 0}`);
  for (const path of new Set([...Object.keys(wanted.files), ...Object.keys(found.files)]))
    if (found.files[path] !== wanted.files[path])
      problems.push(
        `${path} ${found.files[path] === undefined ? 'is missing' : wanted.files[path] === undefined ? 'is left over' : 'says something else'}, unlike without the crash`,
      );
  return problems;
}
