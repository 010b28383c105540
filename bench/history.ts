import { createHash } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evolve } from '../src/core/fold/evolve.ts';
import { nextId } from '../src/core/fold/ids.ts';
import { rowsOf } from '../src/core/fold/row.ts';
import type { State } from '../src/core/fold/state.ts';
import { emptyState, STATE_FORMAT, serializeState } from '../src/core/fold/state-tables.ts';
import type { Recall, Rows, Touch } from '../src/core/fold/touch.ts';
import { GENESIS, seal } from '../src/core/journal/chain.ts';
import type { Draft, Event, EventBody, EventType } from '../src/core/journal/event.ts';
import { headOf } from '../src/engine/head-columns.ts';
import { storedRows } from '../src/engine/pending-rows.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Store } from '../src/store/store.ts';
import { createWorkspace } from '../src/workspace/workspace.ts';

/** A workspace with a long history, as commands find it. */
export interface Journal {
  workspace: string;
  run: string;
  /** The active session; it holds a step. */
  session: string;
  events: number;
}

/** Every history ends with the same number of open things; only its length differs. */
const OPEN = { blocker: 10, finding: 60, question: 40, commitment: 20, message: 30, effect: 10, note: 20, claim: 10 };
const PHASES = 6;
const TASKS_PER_PHASE = 9;
/** The last ones stay pending, so that the run never completes. */
const TASKS_LEFT = 4;
const AGENTS = ['claude', 'codex', 'gemini'] as const;

/**
 * Writes a journal of so many events: many sessions of three agents that work through a plan again and again, and 200
 * open things. The events go through the same functions as those of commands, but many per transaction.
 */
export async function buildJournal(folder: string, events: number): Promise<Journal> {
  mkdirSync(folder, { recursive: true });
  const workspace = createWorkspace(folder);
  const store = await openSqliteStore({ file: join(workspace.folder, 'journal.db') });
  try {
    const run = 'bench';
    const recorder = createRecorder(store, run, events);
    const sources = writeSources(folder);
    openPlan(recorder, workspace.id);
    const openThings = Object.values(OPEN).reduce((sum, count) => sum + count, 0);
    for (let index = 0; recorder.left() > openThings + 60; index++) {
      workSession(recorder, index, sources);
      await recorder.flush();
    }
    const session = leaveOpen(recorder);
    await recorder.flush(true);
    return { workspace: folder, run, session, events };
  } finally {
    await store.close();
  }
}

export interface Recorder {
  readonly state: State;
  record<T extends EventType>(type: T, body: EventBody<T>): void;
  /** Sets the author of the next events. */
  become(agent: string, session: string | null): void;
  /** How many events are left to write. */
  left(): number;
  /** Writes the recorded events if they fill a transaction or are the last ones. */
  flush(last?: boolean): Promise<void>;
}

const BATCH = 4000;
const SECONDS_BETWEEN_EVENTS = 20;

/** Seals, folds and stores events as the engine does, many per transaction. */
export function createRecorder(store: Store, run: string, total: number): Recorder {
  const state = emptyState();
  const beganMs = Date.now() - total * SECONDS_BETWEEN_EVENTS * 1000;
  let hash = GENESIS;
  let actor = { kind: 'agent' as const, name: AGENTS[0] as string };
  let session: string | null = null;
  let touched: { event: Event; touches: Touch[] }[] = [];
  let lastDecision: Rows['decision'] | null = null;
  // The history is written so that only the previous decision is ever recalled.
  const recall = ((kind, id) => (kind === 'decision' && lastDecision?.id === id ? lastDecision : null)) as Recall;
  return {
    state,
    record(type, body) {
      const at = new Date(beganMs + state.version * SECONDS_BETWEEN_EVENTS * 1000).toISOString();
      const drafts = [{ type, body, basis: 'declared' } as unknown as Draft];
      const [event] = seal(
        drafts,
        { run, at, actor, evidence: 'hook', session, key: null },
        { version: state.version, hash },
      );
      if (!event) return;
      hash = event.hash;
      const touches = evolve(state, event, recall);
      for (const touch of touches) if (touch.kind === 'decision') lastDecision = touch.after;
      touched.push({ event, touches });
    },
    become(agent, id) {
      actor = { kind: 'agent', name: agent };
      session = id;
    },
    left: () => total - state.version,
    async flush(last = false) {
      if (touched.length === 0 || (touched.length < BATCH && !last)) return;
      const batch = {
        run,
        expected: state.version - touched.length,
        events: touched.map(({ event }) => event),
        head: headOf(state),
        rows: storedRows(run, rowsOf(touched)),
        ...(last ? { cache: { format: STATE_FORMAT, state: serializeState(state) } } : {}),
      };
      const appended = await store.journal.append([batch]);
      if (appended.outcome !== 'appended') throw new Error(`the history was not appended: ${appended.outcome}`);
      touched = [];
    },
  };
}

function openPlan({ record }: Recorder, workspace: string): void {
  record('run.opened', { title: 'Rework of the payment service', workspace, goal: 'Every payment is booked once.' });
  for (let phase = 1; phase <= PHASES; phase++) {
    record('step.added', {
      step: `p${phase}`,
      title: `Phase ${phase} of the rework`,
      kind: 'phase',
      ...(phase > 1 ? { after: [`p${phase - 1}`] } : {}),
    });
    for (let task = 1; task <= TASKS_PER_PHASE; task++) {
      record('step.added', {
        step: `p${phase}.${task}`,
        title: `Task ${task}: move one more path of the payment service to the new ledger`,
        kind: 'task',
        parent: `p${phase}`,
        context: [`docs/ledger-${task}.md`],
        checkpoints: ['read', 'drafted', 'tested', 'reviewed'],
      });
    }
  }
}

/** The key of the n-th task; tasks repeat in rounds. */
function taskKey(n: number): string {
  const index = n % (PHASES * TASKS_PER_PHASE - TASKS_LEFT);
  return `p${Math.floor(index / TASKS_PER_PHASE) + 1}.${(index % TASKS_PER_PHASE) + 1}`;
}

const TASKS_PER_SESSION = 3;

export function startSession({ record, become, state }: Recorder, agent: string): string {
  const session = nextId(state, 'S');
  become(agent, null);
  record('session.started', { id: session, agent, kind: 'agent', role: 'worker', leaseMs: 24 * 3_600_000 });
  become(agent, session);
  return session;
}

export function takeTask({ record, state }: Recorder, step: string, session: string): void {
  const claim = nextId(state, 'L');
  if (state.steps.get(step)?.status === 'pending') record('step.started', { step, session, claim });
  else record('step.reopened', { step, reason: 'The ledger gained another kind of booking.', session, claim });
}

/** One session with a few tasks; about fifty events. */
function workSession(recorder: Recorder, index: number, sources: Sources): void {
  const { record, state, left } = recorder;
  const agent = AGENTS[index % AGENTS.length] ?? 'claude';
  const session = startSession(recorder, agent);
  const tasks = Math.min(TASKS_PER_SESSION, Math.max(1, Math.floor((left() - 260) / 20)));
  for (let task = 0; task < tasks; task++)
    workTask(recorder, taskKey(index * TASKS_PER_SESSION + task), session, agent, sources);
  const message = nextId(state, 'M');
  const to = AGENTS[(index + 1) % AGENTS.length] ?? 'codex';
  const subject = `The booking rules changed in session ${index}`;
  record('message.sent', { id: message, from: agent, to, type: 'notify', priority: 'P2', subject, body: FILLER });
  record('message.moved', { id: message, to: 'closed', note: 'read', disposition: 'resolved' });
  record('session.ended', {
    id: session,
    reason: 'completed',
    notes: [`Session ${index}: ${FILLER}`],
    contextUsage: 61,
  });
}

const FILLER =
  'The path was moved, its callers follow, and the double booking no longer occurs in the replayed traffic.';

/** A task from start to end, with everything that is recorded during it; about fifteen events. */
export function workTask(recorder: Recorder, step: string, session: string, agent: string, sources: Sources): void {
  const { record, state } = recorder;
  takeTask(recorder, step, session);
  const number = state.version;
  const path = sourcePath(step, number % SOURCES_PER_TASK);
  record('files.seen', { artifacts: [{ path, ...sources.get(path) }], step });
  for (const name of ['read', 'drafted', 'tested', 'reviewed']) {
    record('step.checkpointed', { step, name, next: `Go on with ${step} after ${name}: look at ${path} first` });
  }
  const effect = nextId(state, 'X');
  record('effect.began', { id: effect, name: `npm test -- ${path}`, class: 'idempotent', step });
  record('effect.ended', { id: effect, outcome: 'succeeded', exitCode: 0 });
  record('note.added', { id: nextId(state, 'N'), text: `${step}, event ${number}: ${FILLER}`, kind: 'worklog', step });
  const finding = nextId(state, 'F');
  const text = `Rounding differs in booking ${number}`;
  record('item.raised', { id: finding, kind: 'finding', severity: 'should_fix', text, step });
  record('item.settled', { id: finding, as: 'resolved', note: 'The old rounding is kept.' });
  if (number % 3 === 0) decideSomething(recorder, step, number);
  record('usage.added', { agent, input: 41_000, output: 2_300, cached: 30_000, step });
  record('step.completed', { step, summary: `${step} is done. ${FILLER}`, built: `The path of ${step} books once.` });
}

/** One in ten supersedes the previous one, one in fifty is irreversible. */
function decideSomething({ record, state }: Recorder, step: string, number: number): void {
  const made = state.counters['D'] ?? 0;
  record('decision.made', {
    id: nextId(state, 'D'),
    context: `How booking ${number} is rounded`,
    decision: `Half to even, as in ledger ${number % 17}`,
    reason: 'The auditors compare with the old sums.',
    affects: [step],
    step,
    ...(made % 10 === 9 ? { supersedes: `D-${made}` } : {}),
    ...(made % 50 === 7 ? { irreversible: true } : {}),
  });
}

/** The end of every history: an agent in the middle of a step, and open things around it. */
function leaveOpen(recorder: Recorder): string {
  const { record, state, left } = recorder;
  const session = startSession(recorder, 'claude');
  const step = taskKey(0);
  takeTask(recorder, step, session);
  const times = (count: number, work: (number: number) => void): void => {
    for (let number = 1; number <= count; number++) work(number);
  };
  const items = { blocker: 'B', finding: 'F', question: 'Q', commitment: 'C' } as const;
  for (const kind of ['blocker', 'finding', 'question', 'commitment'] as const) {
    times(OPEN[kind], (number) => {
      const text = `${kind} ${number}: the ledger of region ${number} has to be looked at before it is closed`;
      record('item.raised', { id: nextId(state, items[kind]), kind, text, affects: [`region ${number}`] });
    });
  }
  times(OPEN.message, (number) => {
    const id = nextId(state, 'M');
    const subject = `Region ${number} asks when it is moved`;
    record('message.sent', { id, from: 'codex', to: 'claude', type: 'request', priority: 'P1', subject, body: FILLER });
  });
  times(OPEN.effect, (number) => {
    record('effect.began', {
      id: nextId(state, 'X'),
      name: `replay traffic of region ${number}`,
      class: 'unknown',
      step,
    });
  });
  times(OPEN.note, (number) => {
    const kind = number % 2 === 0 ? 'constraint' : 'dead-end';
    record('note.added', { id: nextId(state, 'N'), text: `Region ${number} is not booked at night.`, kind });
  });
  times(OPEN.claim, (number) => {
    record('claim.taken', { id: nextId(state, 'L'), session, files: [`src/regions/${number}.ts`] });
  });
  const name = 'drafted';
  while (left() > 0) record('step.checkpointed', { step, name, next: 'Wire the new ledger into the replay' });
  return session;
}

export type Sources = ReadonlyMap<string, { sha256: string; bytes: number; stamp: number }>;

const SOURCES_PER_TASK = 7;
const SOURCE_BYTES = 4096;

const sourcePath = (step: string, number: number): string => `src/ledger/${step}-${number}.ts`;

/** The recorded files; they do not change, so none of them conflicts on resume. */
export function writeSources(folder: string): Sources {
  const sources = new Map<string, { sha256: string; bytes: number; stamp: number }>();
  mkdirSync(join(folder, 'src/ledger'), { recursive: true });
  for (let task = 0; task < PHASES * TASKS_PER_PHASE; task++) {
    for (let number = 0; number < SOURCES_PER_TASK; number++) {
      const path = sourcePath(taskKey(task), number);
      const text = path.padEnd(SOURCE_BYTES);
      writeFileSync(join(folder, path), text);
      const { ctimeMs } = statSync(join(folder, path));
      const sha256 = createHash('sha256').update(text).digest('hex');
      sources.set(path, { sha256, bytes: SOURCE_BYTES, stamp: ctimeMs });
    }
  }
  return sources;
}
