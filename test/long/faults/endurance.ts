import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { composeBrief } from '../../../src/core/brief/compose.ts';
import { writeBrief } from '../../../src/core/brief/write.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Command } from '../../../src/core/journal/command.ts';
import { auditRun } from '../../../src/engine/audit.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { Identity } from '../../../src/engine/execute.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Part, Trial } from './part.ts';
import { newPlace } from './place.ts';
import type { Random } from './random.ts';

export const endurance: Part = {
  name: 'endurance',
  title: 'A month of a team of ten',
  about:
    'Ten agents work through the plan of a run again and again, with checkpoints, notes, decisions, questions, ' +
    'effects, mail, handoffs and crashes, on a simulated clock; the recording process is discarded and restarted, ' +
    'and now and then another process does some of the work and is killed in the middle. At the end everything that ' +
    'was acknowledged, counted independently of the journal, is there and verifies; disk grows no faster than the ' +
    'events, memory and what a resume reads do not grow.',
  async run(trial) {
    // In a memory file system if there is one: nothing measured here depends on the disk.
    const place = existsSync(MEMORY) ? newPlace({}, mkdtempSync(join(MEMORY, 'holdfast-faults-'))) : newPlace();
    try {
      await live(trial, place.file('journal.db'));
    } finally {
      place.remove();
    }
  },
};

const MEMORY = '/dev/shm';
const AGENTS = Array.from({ length: 10 }, (_, index) => `agent${index}`);
const STEPS = Array.from({ length: 40 }, (_, index) => `s${index}`);
const RUN = 'work';
const MINUTE_MS = 60_000;
const LOOKS = 10;
/** The most events that one command records here. */
const COMMAND_EVENTS = 4;

interface Team {
  engine: Engine;
  now(): string;
  random: Random;
  acknowledged: number;
  tick(ms: number): void;
}

interface Look {
  events: number;
  diskBytes: number;
  heapBytes: number;
  /** What a new process reads to compose a brief. */
  resumeRows: number;
  resumeBytes: number;
  briefChars: number;
}

async function live(trial: Trial, file: string): Promise<void> {
  const total = trial.size(1000, 3) * 1000;
  let nowMs = Date.parse('2026-01-01T08:00:00.000Z');
  const now = (): string => new Date(nowMs).toISOString();
  const open = async () => {
    const store = await openSqliteStore({ file });
    return { store, engine: createEngine({ store, now, probe: () => undefined, random: () => 0.5 }) };
  };
  let { store, engine } = await open();
  const team: Team = { engine, now, random: trial.random, acknowledged: 0, tick: (ms) => (nowMs += ms) };
  await openRun(team);
  const looks: Look[] = [];
  const stepMs = (30 * 24 * 60 * MINUTE_MS) / total;
  const killEvery = trial.long ? 10_000 : 1500;
  let killedAt = 0;
  for (let session = 0; team.acknowledged < total; session++) {
    team.tick(stepMs);
    await playSession(trial, team, stepMs);
    // The process is replaced; nothing it kept in memory is needed.
    if (session % 50 === 49) {
      await store.close();
      ({ store, engine } = await open());
      team.engine = engine;
      trial.count('the month', 'processes restarted');
    }
    if (team.acknowledged >= killedAt + killEvery) {
      killedAt = team.acknowledged;
      await killWriter(trial, team, file, store);
    }
    if (team.acknowledged >= ((looks.length + 1) * total) / LOOKS) {
      looks.push(await look(file, store, now, team.acknowledged));
      countLook(trial, looks);
    }
  }
  await store.close();
  judge(trial, looks);
  await judgeJournal(trial, file, team.acknowledged);
}

/** Another process records, and is killed at a random moment after some acknowledgements. */
async function killWriter(trial: Trial, team: Team, file: string, store: Store): Promise<void> {
  const library = `file://${join(process.cwd(), 'dist', 'lib', 'index.js')}`;
  const worker = join(process.cwd(), 'test', 'long', 'faults', 'month-worker.mjs');
  const words = [worker, library, file, RUN, team.random.pick(AGENTS), team.now()];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const after = 1 + team.random.below(30);
  let reported = team.acknowledged;
  let answers = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    reported = Number(line);
    if (++answers === after) setTimeout(() => child.kill('SIGKILL'), Math.random() * 3);
  }
  const [head] = await store.journal.heads({ run: RUN });
  const version = head?.version ?? 0;
  trial.count('the month', 'processes killed');
  if (answers < after) trial.fail(`a process of the month ended by itself after ${answers} answers`);
  if (version < reported)
    trial.fail(`version ${reported} was acknowledged by a process that was killed, ${version} is there`);
  // The command in progress at that moment is there completely, or not at all.
  if (version > reported + COMMAND_EVENTS) trial.fail(`${version - reported} events are there that were not reported`);
  team.acknowledged = version;
  team.tick(MINUTE_MS);
}

function countLook(trial: Trial, looks: readonly Look[]): void {
  const [first, last] = [looks[0], looks.at(-1)];
  if (!first || !last) return;
  const row = `at ${Math.round((looks.length * 100) / LOOKS)} %`;
  const ratio = (after: number, before: number): number => Math.round((after * 100) / before);
  trial.count(row, 'events', last.events);
  trial.count(row, 'bytes on disk per event', Math.round(last.diskBytes / last.events));
  trial.count(row, 'memory, % of the first', ratio(last.heapBytes, first.heapBytes));
  trial.count(row, 'rows read by a resume', last.resumeRows);
  trial.count(row, 'bytes read by a resume', last.resumeBytes);
  trial.count(row, 'characters of the brief', last.briefChars);
  trial.say(`${row}: ${JSON.stringify(last)}`);
}

const person: Identity = { actor: { kind: 'person', name: 'sam' }, evidence: 'terminal', session: null, key: null };
const by = (name: string, session: string | null = null): Identity => ({
  actor: { kind: 'agent', name },
  evidence: 'agent-shell',
  session,
  key: null,
});

/** Runs a command and counts its events; a refusal is part of the work. */
async function execute(team: Team, identity: Identity, command: Command) {
  try {
    const done = await team.engine.execute(RUN, command, identity);
    team.acknowledged += done.events.length;
    return done;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code !== 'internal' && thrown.code !== 'corrupt') return null;
    throw thrown;
  }
}

async function openRun(team: Team): Promise<void> {
  await execute(team, person, {
    type: 'run.open',
    title: 'A month of work',
    workspace: 'w-1',
    goal: 'Nothing is lost.',
  });
  const steps = STEPS.map((key) => ({ key, title: `Do ${key}`, kind: 'task' as const }));
  // One step stays pending, so that the run never completes.
  await execute(team, person, {
    type: 'plan.add',
    steps: [...steps, { key: 'last', title: 'The last', kind: 'task', gate: true }],
  });
}

const words = (random: Random): string => `The path ${random.below(1e9)} was moved and its callers follow.`;

/** One session does a step and ends, hands over or crashes. */
async function playSession(trial: Trial, team: Team, stepMs: number): Promise<void> {
  const { random } = team;
  const name = random.pick(AGENTS);
  const step = random.pick(STEPS);
  const started = await execute(team, by(name), { type: 'session.start', agent: name });
  const me = by(name, started?.session ?? null);
  const status = started?.state.steps.get(step)?.status;
  const taken = await execute(
    team,
    me,
    status === 'completed' ? { type: 'step.reopen', step, reason: 'More to do' } : { type: 'step.start', step },
  );
  if (taken) {
    for (let point = 0; point < 4; point++) {
      team.tick(stepMs);
      await execute(team, me, { type: 'step.checkpoint', step, name: `point ${point}`, next: words(random) });
    }
    await execute(team, me, { type: 'note.add', text: words(random), kind: 'worklog' });
    if (random.chance(0.3))
      await execute(team, me, { type: 'decision.make', context: step, decision: words(random), reason: words(random) });
    await effect(team, me, random);
    await settleQuestion(team, me, random);
    await exchangeMail(team, me, random);
  }
  const fate = random.below(20);
  if (fate === 0) {
    // It stops responding: its lease runs out, and another agent notices.
    trial.count('the month', 'crashes');
    team.tick(31 * MINUTE_MS);
    await execute(team, by(random.pick(AGENTS)), { type: 'run.supervise' });
    return;
  }
  if (fate === 1 && taken) {
    const to = random.pick(AGENTS.filter((other) => other !== name));
    const offered = await execute(team, me, { type: 'handoff.offer', to });
    const id = offered?.events.find((event) => event.type === 'handoff.offered')?.body.id;
    const accepted = id === undefined ? null : await execute(team, by(to), { type: 'handoff.accept', id });
    if (accepted) trial.count('the month', 'handoffs');
    const they = by(to, accepted?.session ?? null);
    await execute(team, they, { type: 'step.complete', step, summary: words(random) });
    await execute(team, they, { type: 'session.end', reason: 'completed' });
    return;
  }
  if (taken) await execute(team, me, { type: 'step.complete', step, summary: words(random) });
  await execute(team, me, { type: 'session.end', reason: 'completed', notes: [words(random)] });
}

async function effect(team: Team, me: Identity, random: Random): Promise<void> {
  const begun = await execute(team, me, {
    type: 'effect.begin',
    name: `npm test ${random.below(100)}`,
    class: 'idempotent',
  });
  const id = begun?.events.find((event) => event.type === 'effect.began')?.body.id;
  if (id !== undefined) await execute(team, me, { type: 'effect.end', id, outcome: 'succeeded' });
}

async function settleQuestion(team: Team, me: Identity, random: Random): Promise<void> {
  if (!random.chance(0.2)) return;
  const raised = await execute(team, me, { type: 'item.raise', kind: 'question', text: words(random) });
  const id = raised?.events.find((event) => event.type === 'item.raised')?.body.id;
  if (id !== undefined) await execute(team, me, { type: 'item.settle', id, as: 'resolved', note: words(random) });
}

async function exchangeMail(team: Team, me: Identity, random: Random): Promise<void> {
  if (!random.chance(0.2)) return;
  const to = random.pick(AGENTS.filter((name) => name !== me.actor.name));
  const sent = await execute(team, me, {
    type: 'message.send',
    to,
    messageType: 'notify',
    priority: 'P2',
    subject: 'Look',
    body: words(random),
  });
  const id = sent?.events.find((event) => event.type === 'message.sent')?.body.id;
  if (id === undefined) return;
  for (const state of ['acknowledged', 'actioned'] as const)
    await execute(team, by(to), { type: 'message.move', id, to: state, note: 'Seen' });
  await execute(team, me, { type: 'message.move', id, to: 'closed', note: 'Done', disposition: 'resolved' });
}

async function look(file: string, store: Store, now: () => string, events: number): Promise<Look> {
  const read = { rows: 0, bytes: 0 };
  const { journal, projection } = store;
  const counted: Store = {
    ...store,
    journal: { ...journal, read: async (run, after, limit) => count(await journal.read(run, after, limit)) },
    projection: {
      ...projection,
      recall: async (run, references) => count(await projection.recall(run, references)),
      rows: async (run, filter) => count(await projection.rows(run, filter)),
      async cached(run, format) {
        const cached = await projection.cached(run, format);
        read.bytes += cached?.state.length ?? 0;
        return cached;
      },
    },
  };
  function count<T>(rows: T[]): T[] {
    read.rows += rows.length;
    read.bytes += JSON.stringify(rows).length;
    return rows;
  }
  const engine = createEngine({ store: counted, now, probe: () => undefined, random: () => 0.5 });
  const state = await engine.load(RUN);
  const { facts } = composeBrief(state, await engine.liveness(state), {
    form: 'start',
    reader: { session: null, agent: null },
    rows: { sessions: [], commands: [], files: [], decisions: [], results: [] },
    observed: { host: null },
    budgetTokens: 2000,
  });
  const brief = writeBrief(facts, { softTokens: 2000, hardTokens: 2000 });
  collectGarbage();
  return {
    events,
    diskBytes: statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    heapBytes: process.memoryUsage().heapUsed,
    resumeRows: read.rows,
    resumeBytes: read.bytes,
    briefChars: brief.text.length,
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function judge(trial: Trial, looks: readonly Look[]): void {
  const [first, last] = [looks[1], looks.at(-1)];
  if (!first || !last) return trial.fail('the month was too short to judge');
  const perEvent = ({ diskBytes, events }: Look): number => diskBytes / events;
  // None of these may depend on the length of the history; what is open at the moment differs.
  const grew = (what: string, before: number, after: number, factor: number, slack: number): void => {
    if (after > before * factor + slack) trial.fail(`${what} grew from ${Math.round(before)} to ${Math.round(after)}`);
  };
  grew('disk per event', perEvent(first), perEvent(last), 1.3, 0);
  grew('rows read by a resume', first.resumeRows, last.resumeRows, 1, 256);
  grew('bytes read by a resume', first.resumeBytes, last.resumeBytes, 1.5, 16_384);
  grew('memory', first.heapBytes, last.heapBytes, 1.3, 48 * 1024 * 1024);
}

async function judgeJournal(trial: Trial, file: string, acknowledged: number): Promise<void> {
  const store = await openSqliteStore({ file });
  const { events, chain, derived } = await auditRun(store, RUN);
  await store.close();
  if (events !== acknowledged) trial.fail(`${acknowledged} events were acknowledged, ${events} are there`);
  for (const { message } of chain) trial.fail(message);
  for (const message of derived.slice(0, 10)) trial.fail(message);
}
