import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { nextId } from '../src/core/fold/ids.ts';
import type { EventBody, EventType } from '../src/core/journal/event.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { createWorkspace } from '../src/workspace/workspace.ts';
import { type Fact, type Facts, makeFacts, OTHER, type Random, RESUMING, seededRandom } from './facts.ts';
import {
  createRecorder,
  type Recorder,
  type Sources,
  startSession,
  takeTask,
  workTask,
  writeSources,
} from './history.ts';
import { createStateFile, type StateFile } from './state-file.ts';

export interface Story {
  folder: string;
  events: number;
  facts: readonly Fact[];
  /** The same history as people keep it by hand. */
  file: StateFile;
}

const PHASES = 4;
const TASKS_PER_PHASE = 5;
const AGENTS = [RESUMING, 'codex', OTHER] as const;
/** Room at the end for the remaining facts and the last sessions. */
const TAIL_EVENTS = 40;
/** What else stays open, however long the history is. */
const OPEN_FINDINGS = 40;
const OPEN_QUESTIONS = 4;

/**
 * Writes a journal of so many events with the facts at random points of it: sessions of three agents, every fifth of
 * which crashes, steps that are reopened again and again, items that were raised and settled, mail that was read. At the
 * end one agent has crashed in the middle of a step and another is working.
 */
export async function buildStory(folder: string, events: number, seed: number): Promise<Story> {
  mkdirSync(folder, { recursive: true });
  const workspace = createWorkspace(folder);
  const store = await openSqliteStore({ file: join(workspace.folder, 'journal.db') });
  try {
    const random = seededRandom(seed);
    const facts = makeFacts(random);
    const file = createStateFile();
    const recorder = watched(createRecorder(store, 'recall', events), file.add);
    const sources = writeSources(folder);
    openPlan(recorder, workspace.id, facts);
    const plantDue = createPlanter(recorder, facts, random, events);
    for (let index = 0; recorder.left() > TAIL_EVENTS + 24; index++) {
      workSession(recorder, index, { random, sources, plantDue });
      await recorder.flush();
    }
    leaveOff(recorder, facts, plantDue);
    await recorder.flush(true);
    file.finish(recorder.state);
    return { folder, events, facts: facts.all, file };
  } finally {
    await store.close();
  }
}

function watched(recorder: Recorder, see: StateFile['add']): Recorder {
  return {
    ...recorder,
    record<T extends EventType>(type: T, body: EventBody<T>) {
      recorder.record(type, body);
      see(type, body);
    },
  };
}

function openPlan({ record }: Recorder, workspace: string, { goal, current, failed, others, gated }: Facts): void {
  record('run.opened', { title: 'Rework of the payment service', workspace, goal });
  const task = (step: string, parent: string, more: Partial<EventBody<'step.added'>> = {}): void => {
    const title = 'Move one more path of the payment service to the new ledger';
    record('step.added', { step, title, kind: 'task', parent, context: ['docs/ledger.md'], ...more });
  };
  for (let phase = 1; phase <= PHASES; phase++) {
    const parent = `p${phase}`;
    record('step.added', { step: parent, title: `Phase ${phase} of the rework`, kind: 'phase' });
    for (let number = 1; number <= TASKS_PER_PHASE; number++) task(`${parent}.${number}`, parent);
  }
  task(failed, 'p2');
  task(current.step, 'p3', { checkpoints: [...current.checkpoints] });
  task(others, 'p4');
  task(gated, 'p4', { gate: true });
}

/** Returns a function that records the facts that are due. */
function createPlanter(
  recorder: Recorder,
  facts: Facts,
  random: Random,
  events: number,
): (session: string | null, agent: string, all?: boolean) => void {
  const from = recorder.state.version;
  const due = facts.plantings
    .map((plant) => ({ plant, at: from + random() * (events - TAIL_EVENTS - from) }))
    .sort((a, b) => a.at - b.at);
  return (session, agent, all = false) => {
    while (due[0] && (all || due[0].at <= recorder.state.version)) {
      due.shift()?.plant(recorder);
      recorder.become(agent, session);
    }
  };
}

const CRASH_EVERY = 5;

interface Surroundings {
  random: Random;
  sources: Sources;
  plantDue(session: string, agent: string): void;
}

/** One session with one to three tasks; a session that crashes is continued by another. */
function workSession(recorder: Recorder, index: number, { random, sources, plantDue }: Surroundings): void {
  const { record, state, left } = recorder;
  const agent = AGENTS[index % AGENTS.length] ?? RESUMING;
  let session = startSession(recorder, agent);
  if (index % CRASH_EVERY === CRASH_EVERY - 1) session = crash(recorder, agent, session, random);
  for (let task = 0; task < 3 && left() > TAIL_EVENTS + 20; task++) {
    plantDue(session, agent);
    workTask(recorder, taskKey(random), session, agent, sources);
    raiseSomething(recorder, random);
  }
  plantDue(session, agent);
  const message = nextId(state, 'M');
  const to = AGENTS[(index + 1) % AGENTS.length] ?? OTHER;
  const subject = `The booking rules changed in session ${index}`;
  record('message.sent', { id: message, from: agent, to, type: 'notify', priority: 'P2', subject, body: SESSION_NOTE });
  record('message.moved', { id: message, to: 'closed', note: 'read', disposition: 'resolved' });
  record('session.ended', { id: session, reason: 'completed', notes: [SESSION_NOTE] });
}

const SESSION_NOTE = 'The paths of this session are moved, their callers follow.';

/** A session takes a step and crashes in it, and the next one finishes it. */
function crash(recorder: Recorder, agent: string, session: string, random: Random): string {
  const { record, become, state } = recorder;
  const step = taskKey(random);
  takeTask(recorder, step, session);
  record('step.checkpointed', { step, name: 'drafted', next: `Go on with ${step}: test what is drafted` });
  record('session.ended', { id: session, reason: 'crashed', evidence: ['The process is gone.'] });
  const id = nextId(state, 'S');
  become(agent, null);
  record('session.started', { id, agent, kind: 'agent', role: 'worker', leaseMs: 24 * 3_600_000 });
  become(agent, id);
  record('step.started', { step, session: id, claim: nextId(state, 'L'), takenOverFrom: session });
  record('step.completed', { step, summary: `${step} is done after a crash.` });
  return id;
}

/** Items that are raised and settled; a limited number of unimportant ones stays open. */
function raiseSomething({ record, state }: Recorder, random: Random): void {
  const kinds = { blocker: 'B', question: 'Q', commitment: 'C', finding: 'F' } as const;
  const kind = (Object.keys(kinds) as (keyof typeof kinds)[])[Math.floor(random() * 4)] ?? 'finding';
  const id = nextId(state, kinds[kind]);
  record('item.raised', { id, kind, text: `Region ${state.version}: the sums of the day have to be looked at again` });
  const open = [...state.items.values()].filter((item) => item.kind === kind).length;
  const stays = kind === 'finding' ? OPEN_FINDINGS : kind === 'question' ? OPEN_QUESTIONS : 0;
  if (open > stays) record('item.settled', { id, as: 'resolved', note: 'The sums agree.' });
}

function taskKey(random: Random): string {
  return `p${1 + Math.floor(random() * PHASES)}.${1 + Math.floor(random() * TASKS_PER_PHASE)}`;
}

/**
 * The end of every history. The other agent records its own next action last, so that the one of the interrupted step
 * is not simply the newest.
 */
function leaveOff(
  recorder: Recorder,
  { current, others }: Facts,
  plantDue: (session: string, agent: string, all: boolean) => void,
): void {
  const { record, state, left } = recorder;
  const crashed = startSession(recorder, RESUMING);
  plantDue(crashed, RESUMING, true);
  const { step } = current;
  record('step.started', { step, session: crashed, claim: nextId(state, 'L') });
  record('step.checkpointed', { step, name: current.checkpoints[0] ?? '' });
  record('step.checkpointed', { step, name: current.checkpoints[1] ?? '', next: current.next });
  record('session.ended', { id: crashed, reason: 'crashed', evidence: ['The process is gone.'] });
  const session = startSession(recorder, OTHER);
  record('step.started', { step: others, session, claim: nextId(state, 'L') });
  while (left() > 1) record('note.added', { id: nextId(state, 'N'), kind: 'worklog', text: SESSION_NOTE });
  record('step.checkpointed', { step: others, name: 'drafted', next: 'Test the path that is drafted' });
}
