import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { openHoldfast } from '../../../src/holdfast.ts';
import { takeForOwn } from '../../repository.ts';
import { factsOf, survive } from './crash.ts';
import { crashActions } from './crash-actions.ts';
import type { Part, Trial } from './part.ts';
import { callsOf, type Data, newPlace, type Place, withFault, workedPlace } from './place.ts';

export const storage: Part = {
  name: 'storage',
  title: 'Storage that fails',
  about:
    'First the calls that write fail: once, or from one of them on, with the disk full, broken, read-only or ' +
    'forbidden, or they write only half. A command then reports `unavailable`, or succeeds if only a file that can ' +
    'be rebuilt was hit; nothing acknowledged is lost, and it finishes when the disk works again. With a full disk or a ' +
    'limit of the file size at each write, `recorded` says what the journal then has. Then bytes are ' +
    'changed or cut off in the journal, its write-ahead log and a mirror: `doctor` reports it or nothing was lost, ' +
    'it changes no byte, and `doctor --repair` copies what verifies into another file. A log that lost its last ' +
    'transaction at a clean boundary cannot be distinguished from one that never had it.',
  async run(trial) {
    await failingCalls(trial);
    await truthfulAnswers(trial);
    if (!trial.wants('damage')) return;
    await damagedJournal(trial);
    await damagedLog(trial);
    await damagedMirror(trial);
  },
};

const ERRORS = { 'disk full': 28, 'disk broken': 5, 'permission lost': 13, 'read-only': 30 } as const;

async function failingCalls(trial: Trial): Promise<void> {
  const names = trial.long
    ? ['append (note)', 'append (complete)', 'snapshot', 'mirror write', 'compaction', 'archive']
    : ['mirror write'];
  for (const action of crashActions.filter(({ name }) => names.includes(name) && trial.wants(name))) {
    await survive(trial, action, {
      points: (calls) =>
        calls.flatMap((_, index) => {
          const error = trial.random.pick(Object.values(ERRORS));
          const at = index + 1;
          return [
            { at, action: `${error}` as const },
            { at, action: `once:${error}` as const },
            { at, action: 'short' as const },
          ];
        }),
      short: 6,
      judge({ code, fault, out, err }) {
        trial.count(action.name, code === 0 ? 'done anyway' : 'refused as unavailable');
        if (code === 0 || (code === 3 && fault?.code === 'unavailable' && fault.message !== '')) return [];
        // SQLite opens a file for reading if it cannot open it for writing.
        if (code === 6 && fault?.code === 'read_only' && fault.data['recorded'] === 'no') return [];
        return [`exit ${code}: ${out}${err}`];
      },
    });
  }
}

const SPACE_ERRORS = { 'disk full': 28, 'file size limit': 27 } as const;

/** What a command says of its own record is true to the journal, wherever the space ends. */
async function truthfulAnswers(trial: Trial): Promise<void> {
  if (!trial.wants('recorded')) return;
  const origin = workedPlace();
  for (const words of [
    ['note', 'x'.repeat(40_000)],
    ['decide', 'Use one table', '--why', 'It is small'],
  ]) {
    const name = `recorded (${words[0]})`;
    const measured = origin.copy();
    const { calls } = await callsOf(measured, (env) => measured.start(words, { env }));
    measured.remove();
    trial.say(`${name}: ${calls.length} calls that write`);
    const points = calls.flatMap((_, index) =>
      Object.entries(SPACE_ERRORS).flatMap(([why, error]) => [
        { why, at: index + 1, action: `${error}` as const },
        { why, at: index + 1, action: `once:${error}` as const },
      ]),
    );
    for (const point of trial.thin(points, 4)) {
      const place = origin.copy();
      const versionOf = (): number => Number(place.data('log')['version']);
      const before = versionOf();
      const answer = await place.start(words, { env: withFault(place, point) });
      const said = answer.ok ? 'yes' : String(answer.fault?.data['recorded'] ?? 'not said');
      const isThere = versionOf() > before;
      const about = `${name}: ${point.why}, ${point.action} at call ${point.at} (${calls[point.at - 1]})`;
      trial.count(name, said);
      if (said !== 'unknown' && said !== (isThere ? 'yes' : 'no'))
        trial.fail(`${about}: said ${said}, and the journal ${isThere ? 'has' : 'does not have'} it`);
      const denies = [...(answer.fault?.hints ?? []), answer.fault?.message ?? ''].some((hint) =>
        hint.includes('Nothing was written'),
      );
      if (denies && isThere) trial.fail(`${about}: "Nothing was written", and the journal has it`);
      place.remove();
    }
  }
  origin.remove();
}

/** Several runs, so that some are intact when another is damaged. */
function journalPlace(): Place {
  const place = workedPlace();
  for (const id of ['second', 'third']) {
    place.data('init', '--title', `Work ${id}`, '--id', id);
    for (let number = 0; number < 6; number++)
      place.data('note', `${id} ${number} ${'words '.repeat(80)}`, '--run', id);
  }
  return place;
}

/** The page size of the journal. Of a torn page only the first sectors were written; half the time it is the last page. */
const PAGE_BYTES = 4096;

async function damagedJournal(trial: Trial): Promise<void> {
  const origin = journalPlace();
  const file = '.git/holdfast/journal.db';
  const whole = readFileSync(origin.file(file));
  const before = await factsOf(origin);
  for (let round = 0; round < trial.size(400, 8); round++) {
    const at = trial.random.below(whole.length);
    const bytes = Buffer.from(whole);
    const kinds = ['byte of the journal changed', 'byte of the journal changed', 'page torn', 'journal cut off'];
    const kind = kinds[round % 4] ?? '';
    const page = (round % 8 < 4 ? whole.length - PAGE_BYTES : at) & ~(PAGE_BYTES - 1);
    if (kind === 'page torn') bytes.fill(0, page + 512 * (1 + trial.random.below(7)), page + PAGE_BYTES);
    else bytes[at] = (bytes[at] ?? 0) ^ (1 << trial.random.below(8));
    const damaged = kind === 'journal cut off' ? whole.subarray(0, at) : bytes;
    await judgeDamage(trial, origin, kind, kind === 'page torn' ? page : at, damaged, before.events);
  }
  origin.remove();
}

type Events = Awaited<ReturnType<typeof factsOf>>['events'];

async function judgeDamage(trial: Trial, origin: Place, kind: string, at: number, bytes: Buffer, before: Events) {
  const place = origin.copy();
  const file = place.own('journal.db');
  writeFileSync(file, bytes);
  const name = `${kind} at ${at}`;
  trial.count(kind, 'tried');
  try {
    const findings = await doctor(place, {});
    if (!readFileSync(file).equals(bytes)) trial.fail(`${name}: doctor changed the journal`);
    if (!findings.some(({ level }) => level === 'error')) {
      const now = await factsOf(place);
      trial.count(kind, 'without effect');
      if (JSON.stringify(now.events) !== JSON.stringify(before))
        trial.fail(`${name}: lost events, and doctor finds nothing`);
      return;
    }
    trial.count(kind, 'found by doctor');
    const repair = await doctor(place, { repair: true });
    if (!readFileSync(file).equals(bytes)) trial.fail(`${name}: the repair changed the damaged journal`);
    await judgeRepaired(trial, place, kind, name, repair, before);
  } catch (thrown) {
    trial.fail(`${name}: ${(thrown as Error).message}`);
  } finally {
    place.remove();
  }
}

async function judgeRepaired(trial: Trial, place: Place, kind: string, name: string, findings: Data[], before: Events) {
  const made = readdirSync(place.own()).find((one) => /repaired-[\dTZ]+$/.test(one));
  if (made === undefined) {
    const derived = findings.every(({ code, level }) => level !== 'error' || code === 'derived');
    trial.count(kind, derived ? 'rebuilt from the events' : 'nothing left to save');
    return;
  }
  // Put in place as a user would.
  const other = newPlace();
  mkdirSync(other.own(), { recursive: true, mode: 0o700 });
  cpSync(place.own('clone.json'), other.own('clone.json'));
  cpSync(place.own(made), other.own('journal.db'));
  takeForOwn(other);
  const now = await factsOf(other);
  for (const { level, message } of now.findings) if (level === 'error') trial.fail(`${name}: repaired, ${message}`);
  for (const [run, events] of Object.entries(now.events)) {
    if (JSON.stringify(before[run]?.slice(0, events.length)) !== JSON.stringify(events))
      trial.fail(`${name}: ${run} was repaired to something else`);
  }
  const count = (all: Events): number => Object.values(all).reduce((sum, events) => sum + events.length, 0);
  trial.count(kind, count(now.events) === count(before) ? 'all events saved' : 'some events saved');
  other.remove();
}

async function doctor(place: Place, input: { repair?: boolean }): Promise<Data[]> {
  const holdfast = await openHoldfast({ dir: place.path });
  try {
    return (await holdfast.doctor(input)).findings;
  } finally {
    await holdfast.close();
  }
}

/** A log with several transactions, as left by processes that were killed before the checkpoint into the journal. */
async function crashedPlace(): Promise<Place> {
  const place = workedPlace();
  for (const name of ['first', 'second', 'third']) {
    const words = ['checkpoint', name, '--agent', 'ada'];
    const trial = place.copy();
    const { calls } = await callsOf(trial, (env) => trial.start(words, { env }));
    trial.remove();
    const at = calls.findIndex((call) => call.startsWith('rename') && call.includes('RESUME.md')) + 2;
    place.run(words, { env: withFault(place, { at, action: 'kill' }) });
  }
  return place;
}

async function damagedLog(trial: Trial): Promise<void> {
  const origin = await crashedPlace();
  const log = '.git/holdfast/journal.db-wal';
  const whole = readFileSync(origin.file(log));
  const look = origin.copy();
  const before = await factsOf(look);
  look.remove();
  if (whole.length < 10_000) trial.fail('the log that was to be damaged is empty');
  for (let round = 0; round < trial.size(200, 6); round++) {
    const place = origin.copy();
    const at = trial.random.below(whole.length);
    const kind = round % 2 === 0 ? 'byte of the log changed' : 'log cut off';
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << trial.random.below(8));
    const damaged = round % 2 === 0 ? bytes : whole.subarray(0, at);
    writeFileSync(place.file(log), damaged);
    trial.count(kind, 'tried');
    try {
      const findings = await doctor(place, {});
      const isFound = findings.length > 0;
      if (findings.some(({ code }) => code === 'log') && !readFileSync(place.file(log)).equals(damaged))
        trial.fail(`${kind} at ${at}: doctor changed the log`);
      if (isFound) trial.count(kind, 'found by doctor');
      else {
        const now = await factsOf(place);
        const kept = JSON.stringify(now.events) === JSON.stringify(before.events);
        const prefix = JSON.stringify(before.events['auth']?.slice(0, now.events['auth']?.length));
        trial.count(kind, kept ? 'without effect' : 'last transaction gone undetected');
        if (JSON.stringify(now.events['auth']) !== prefix) trial.fail(`${kind} at ${at}: the journal has other events`);
      }
    } catch (thrown) {
      trial.fail(`${kind} at ${at}: ${(thrown as Error).message}`);
    }
    place.remove();
  }
  origin.remove();
}

async function damagedMirror(trial: Trial): Promise<void> {
  const origin = crashActions.find(({ name }) => name === 'mirror write')?.prepare();
  if (!origin) return;
  const path = 'agent-output/shop/00-session-state.json';
  const whole = readFileSync(origin.file(path));
  const kind = 'byte of a mirror changed or its end cut off';
  const before = await factsOf(origin);
  for (let round = 0; round < trial.size(200, 5); round++) {
    const place = origin.copy();
    const at = trial.random.below(whole.length);
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << trial.random.below(8));
    const damaged = round % 4 === 3 ? whole.subarray(0, at) : bytes;
    writeFileSync(place.file(path), damaged);
    trial.count(kind, 'tried');
    try {
      const holdfast = await openHoldfast({ dir: place.path });
      const outcome = await holdfast.mirror.sync().then(
        ({ mirrors }) => (mirrors[0]?.rejected ? 'set aside' : 'imported as an edit'),
        (thrown: Error) => `refused: ${(thrown as { code?: string } & Error).code}`,
      );
      await holdfast.close();
      trial.count(kind, outcome);
      const kept = [place.file('agent-output', 'shop'), place.file('.git', 'holdfast', 'rejected')].some(
        (folder) => existsSync(folder) && filesBelow(folder).some((name) => readFileSync(name).equals(damaged)),
      );
      if (!kept) trial.fail(`${kind} at ${at}: the damaged bytes are gone (${outcome})`);
      const now = await factsOf(place);
      const events = before.events['shop'] ?? [];
      if (JSON.stringify(now.events['shop']?.slice(0, events.length)) !== JSON.stringify(events))
        trial.fail(`${kind} at ${at}: the journal lost events`);
      for (const { level, message } of now.findings) if (level === 'error') trial.fail(`${kind} at ${at}: ${message}`);
    } catch (thrown) {
      trial.fail(`${kind} at ${at}: ${(thrown as Error).message}`);
    }
    place.remove();
  }
  origin.remove();
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
