import { defined } from '../defined.ts';
import { foreignId } from '../journal/command.ts';
import type { EventOf } from '../journal/event.ts';
import type {
  ModelDecision,
  ModelItem,
  ModelMessage,
  ModelNote,
  ModelRun,
  ModelSession,
  ModelStep,
  RunModelPart,
} from '../model/run-model.ts';
import { oneLine } from '../text.ts';
import { instantOf } from '../time.ts';
import { isTodo } from '../views/left.ts';
import { countedIn } from '../views/phase-progress.ts';
import { count } from './ids.ts';
import { treeOf } from './last-work.ts';
import { type Item, isOpenItem, type Message, type State, type Step, type Verbatim } from './state.ts';
import { freshStep, mergeArtifacts } from './step.ts';
import type { AddTouch, Recall } from './touch.ts';

type Read = EventOf<'account.read'>;

/** What a file says becomes rows as if it had been recorded here; what it does not say is not changed. */
export function applyRunModel(state: State, event: Read, touch: AddTouch, recall: Recall): void {
  const { format, path, dialect, account: model } = event.body;
  if (model.run) readRun(state, model.run, touch);
  for (const step of model.steps ?? []) readStep(state, event, step, touch, recall);
  for (const decision of model.decisions ?? []) readDecision(state, event, decision, touch, recall);
  for (const item of model.items ?? []) readItem(state, event, item, touch, recall);
  for (const note of model.notes ?? []) readNote(state, event, note, touch, recall);
  for (const session of model.sessions ?? []) readSession(state, event, session, touch, recall);
  for (const message of model.messages ?? []) readMessage(state, event, message, touch, recall);
  if (state.run?.kind === 'ad-hoc' && [...state.steps.keys()].some((key) => !isTodo(key)))
    state.run = { ...state.run, kind: 'planned' };
  readFiles(state, event, model, touch, recall);
  for (const { agent, input, output, cached } of model.usage ?? []) {
    const before = state.usage.get(agent) ?? null;
    const after = { agent, input: input ?? null, output: output ?? null, cached: cached ?? null };
    state.usage.set(agent, after);
    touch('usage', agent, before, after);
  }
  const { kept, claims, position, next } = model;
  if (position !== undefined) state.stand = position.step;
  if (kept !== undefined && format === 'codewalk') state.counted = countedIn(kept);
  if (next !== undefined) {
    state.next =
      next === '' ? null : { text: next, session: null, step: position?.step ?? null, at: event.at, file: path };
  }
  if (kept !== undefined || claims !== undefined || position !== undefined || next !== undefined) {
    const before = recall('foreign', foreignId(format, path));
    const after = { ...before, format, path, dialect: dialect ?? null, ...defined({ kept, claims, position, next }) };
    touch('foreign', foreignId(format, path), before, after);
  }
}

function readRun(state: State, model: ModelRun, touch: AddTouch): void {
  const before = state.run;
  if (!before) return;
  const { alias, title, goal, status, design, plan, branch, reason } = model;
  const { times, stated } = read(model, before.stated ? before : null, {
    times: ['openedAt', 'updatedAt'],
    filled: ['openedAt'],
  });
  state.run = {
    ...before,
    ...defined({ alias, title, goal, status, design, branch, reason }),
    ...(plan && plan !== before.plan?.path ? { plan: { path: plan } } : {}),
    ...(times['openedAt'] ? { openedAt: times['openedAt'] } : {}),
    stated,
  };
  touch('run', before.id, before, state.run);
}

function readStep(state: State, event: Read, model: ModelStep, touch: AddTouch, recall: Recall): void {
  const { key, status, gate, checkpoint, built, summary, artifacts = [], agents, context, checkpoints } = model;
  const before = state.steps.get(key) ?? null;
  const { parent, after, wave, parallel, title, kind, alias, retries, reason } = model;
  const { times, stated } = read(model, before, { times: ['startedAt', 'endedAt'], filled: [] });
  const base = before ?? freshStep({ step: key, title, kind });
  const over = status === 'completed' || status === 'skipped';
  const next: Step = {
    ...base,
    ...defined({ title, kind, parent, after, wave, parallel, alias, retries, reason, agents, context, checkpoints }),
    ...(gate
      ? { gate: defined({ state: gate.state, name: gate.name, by: gate.by, at: gate.at }) as Step['gate'] }
      : {}),
    ...defined({ startedAt: times['startedAt'], endedAt: times['endedAt'] }),
    status,
    // A file gives the status of a step, not its holder: the holder stays while the step is in progress.
    holder: status === 'in_progress' ? base.holder : null,
    checkpoint: readCheckpoint(base, event, over ? undefined : checkpoint),
    summary: summary ? oneLine(summary) : base.summary,
    artifacts: over ? [] : mergeArtifacts(base.artifacts, artifacts.map(plainFile)),
    ...defined({ contextRead: model.contextRead }),
    built: over ? [] : (built ?? base.built),
    startedVersion: base.startedVersion || (status === 'pending' ? 0 : event.version),
    // The step came as done, so it is confirmed against the plan as it is now.
    confirmedVersion: over && base.status !== status ? event.version : base.confirmedVersion,
    stated,
  };
  state.steps.set(key, next);
  touch('step', key, before, next);
  // What checkpoints listed stays with a step that the file ends.
  const listed = over ? mergeArtifacts(base.artifacts, artifacts.map(plainFile)) : artifacts.map(plainFile);
  const told = over ? (built ?? base.built) : [];
  if (summary === undefined && told.length === 0 && listed.length === 0) return;
  const result = recall('result', key);
  touch('result', key, result, {
    id: key,
    step: key,
    summary: summary ?? result?.summary ?? null,
    built: told.length > 0 ? told : (result?.built ?? []),
    artifacts: listed,
    session: result?.session ?? event.session,
    by: result?.by ?? event.actor.name,
    at: times['endedAt'] ?? result?.at ?? event.at,
  });
}

function readCheckpoint(step: Step, event: Read, name: string | undefined): Step['checkpoint'] {
  if (!name) return null;
  if (step.checkpoint?.name === name) return step.checkpoint;
  return { name, next: null, at: event.at, session: event.session, mark: null };
}

function readDecision(state: State, event: Read, model: ModelDecision, touch: AddTouch, recall: Recall): void {
  const { id = '', at: _at, was, status = was ?? 'active', by, ...body } = model;
  const before = recall('decision', id);
  if (count(state, id)) state.totals.decisions += 1;
  state.totals.activeDecisions += Number(status === 'active') - Number(was === 'active');
  const { times, stated } = read(model, before, { times: ['at'], filled: ['at', 'by'] });
  touch('decision', id, before, {
    ...(before ?? { context: '', reason: '', session: event.session, basis: event.basis }),
    ...defined(body),
    id,
    status,
    at: times['at'] ?? before?.at ?? event.at,
    by: by ?? before?.by ?? event.actor.name,
    stated,
  });
}

function readItem(state: State, event: Read, model: ModelItem, touch: AddTouch, recall: Recall): void {
  const { id = '', raisedAt: _raised, settledAt: _settled, by, ...body } = model;
  const before = state.items.get(id) ?? null;
  count(state, id);
  const { times, stated } = read(model, before, { times: ['raisedAt', 'settledAt'], filled: ['raisedAt', 'by'] });
  const after: Item = {
    ...(before ?? { session: event.session, basis: event.basis }),
    ...defined(body),
    id,
    raisedAt: times['raisedAt'] ?? before?.raisedAt ?? event.at,
    by: by ?? before?.by ?? event.actor.name,
    ...defined({ settledAt: times['settledAt'] }),
    stated,
  };
  if (isOpenItem(after.status)) state.items.set(id, after);
  else state.items.delete(id);
  touch('item', id, before ?? recall('item', id), after);
}

function readNote(state: State, event: Read, model: ModelNote, touch: AddTouch, recall: Recall): void {
  const { id = '', at: _at, by, ...body } = model;
  const before = state.notes.get(id) ?? null;
  if (count(state, id)) state.totals.notes += 1;
  const { times, stated } = read(model, before, { times: ['at'], filled: ['at', 'by'] });
  const note = {
    ...defined(body),
    id,
    at: times['at'] ?? before?.at ?? event.at,
    by: by ?? before?.by ?? event.actor.name,
    session: before?.session ?? event.session,
    stated,
  };
  if (note.kind === 'constraint' || note.kind === 'dead-end') state.notes.set(id, note);
  touch('note', id, before ?? recall('note', id), note);
}

/** A session in a file is history: it holds nothing here, whatever the file says. */
function readSession(state: State, event: Read, model: ModelSession, touch: AddTouch, recall: Recall): void {
  const {
    id = '',
    agent,
    role,
    status,
    continues,
    completed,
    workingOn,
    notes,
    issues,
    contextUsage,
    alias,
    why,
  } = model;
  if (state.sessions.has(id)) return;
  const before = recall('session', id);
  if (count(state, id)) state.totals.sessions += 1;
  const { times, stated } = read(model, before, {
    times: ['startedAt', 'endedAt'],
    filled: ['startedAt', 'agent', 'role'],
  });
  // A file that knows only the end knows at least that it began before.
  const startedAt = times['startedAt'] ?? before?.startedAt ?? times['endedAt'] ?? event.at;
  touch('session', id, before, {
    id,
    agent: agent ?? before?.agent ?? 'unknown',
    kind: before?.kind ?? 'agent',
    role: role ?? before?.role ?? 'worker',
    status: status === 'active' ? 'superseded' : status,
    leaseMs: 0,
    startedAt,
    startedVersion: event.version,
    startedWith: null,
    seenAt: times['endedAt'] ?? startedAt,
    isResting: false,
    turn: null,
    continues: continues ?? before?.continues ?? null,
    continuedBy: before?.continuedBy ?? null,
    returns: false,
    parent: null,
    client: null,
    owner: null,
    mark: null,
    held: [],
    completed: before?.completed ?? [],
    left: [],
    leftClaims: [],
    endedAt: times['endedAt'] ?? before?.endedAt ?? null,
    endReason: before?.endReason ?? null,
    notes: notes ?? before?.notes ?? [],
    issues: issues ?? before?.issues ?? [],
    contextUsage: contextUsage ?? before?.contextUsage ?? null,
    evidence: [],
    alias: alias ?? before?.alias ?? null,
    ...defined({
      workingOn: workingOn ?? before?.workingOn,
      finished: completed ?? before?.finished,
      why: why ?? before?.why,
    }),
    stated: { ...stated, status },
  });
}

function readMessage(state: State, event: Read, model: ModelMessage, touch: AddTouch, recall: Recall): void {
  const { id = '', at: _at, acks = [], replies = [], ...body } = model;
  const before = state.messages.get(id) ?? null;
  count(state, id);
  const { times, stated } = read(model, before, { times: ['at'], filled: ['at'] });
  const side = (name: string): 'from' | 'to' | null => (name === model.from ? 'from' : name === model.to ? 'to' : null);
  const stamp = (name: string, at: string | undefined) => ({ at: at ?? '', version: event.version, side: side(name) });
  const after: Message = {
    // What was in the file when it was first read is not new to either side.
    ...(before ?? {
      session: event.session,
      heard: { from: event.version, to: event.version },
      passed: 0 as const,
      escalated: null,
    }),
    ...defined(body),
    id,
    at: times['at'] ?? before?.at ?? event.at,
    acks: acks.map(
      ({ by, at, to, note }, index) =>
        asBefore(before?.acks[index], { by, note }) ?? { by, to: to ?? model.status, note, ...stamp(by, at) },
    ),
    replies: replies.map(
      ({ from, at, body: text }, index) =>
        asBefore(before?.replies[index], { from, body: text }) ?? { from, body: text, ...stamp(from, at) },
    ),
    stated,
  };
  if (after.status === 'closed') state.messages.delete(id);
  else state.messages.set(id, after);
  touch('message', id, before ?? recall('message', id), after);
}

/** A reply that is known already keeps the version of its event. */
function asBefore<T extends object>(known: T | undefined, now: Partial<T>): T | undefined {
  const same = Object.entries(now).every(([name, value]) => known?.[name as keyof T] === value);
  return same ? known : undefined;
}

function readFiles(
  state: State,
  event: Read,
  { steps = [], files = [] }: RunModelPart,
  touch: AddTouch,
  recall: Recall,
): void {
  const named = [
    ...steps.flatMap(({ key, artifacts = [] }) => artifacts.map((file) => ({ ...file, step: key as string | null }))),
    ...files.map((file) => ({ ...file, step: null })),
  ];
  for (const { step, place, ...file } of named) {
    const path = place ?? file.path;
    // A file that was seen here, with its hash, is better evidence than a name in another file.
    if (recall('file', path)) continue;
    touch('file', path, null, {
      ...plainFile({ ...file, path }),
      id: path,
      step,
      session: event.session,
      ...treeOf(state, event),
      at: event.at,
      version: event.version,
      read: false,
      built: false,
      basis: 'declared',
    });
  }
}

const plainFile = ({ path, change }: { path: string; change?: 'created' | 'modified' | 'deleted' | undefined }) => ({
  path,
  ...(change ? { change } : {}),
});

/**
 * Converts times to instants, and keeps how the file wrote them. A field that the file left out is kept as an empty text,
 * so that it is left out again when the file is written.
 */
function read<T extends object>(
  model: T,
  before: { stated?: Verbatim | undefined } | null,
  names: { times: readonly (keyof T & string)[]; filled: readonly (keyof T & string)[] },
): { times: Record<string, string>; stated: Verbatim } {
  const times: Record<string, string> = {};
  const stated: Record<string, string> = { ...before?.stated };
  for (const name of names.times) {
    const words = model[name];
    if (typeof words !== 'string' || words === '') continue;
    const instant = instantOf(words);
    if (instant !== null) times[name] = instant;
    stated[name] = words;
  }
  for (const name of names.filled) {
    if (model[name] !== undefined) continue;
    if (!before) stated[name] = '';
  }
  return { times, stated };
}
