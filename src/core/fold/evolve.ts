import { defined } from '../defined.ts';
import type { Event, EventOf } from '../journal/event.ts';
import type { RunKind } from '../words.ts';
import { firstWords } from './conversation.ts';
import { applyHandoff, applySnapshot, markProgress } from './handoff.ts';
import { count } from './ids.ts';
import { applyImport, touchImported } from './imported.ts';
import { recordLast, recordLastWork } from './last-work.ts';
import { applyMessage } from './message.ts';
import { applyMove } from './move.ts';
import { applyRunModel } from './run-model.ts';
import { applyClaim, applySession, restsAfter } from './session.ts';
import { addSpent, spentIn } from './spent.ts';
import type { Effect, Item, Note, Run, State } from './state.ts';
import { isOpenItem } from './state.ts';
import { applyStep, mergeArtifacts, touchFiles, withRead } from './step.ts';
import { countWork } from './tally.ts';
import type { AddTouch, Recall, Touch } from './touch.ts';
import { applyTurn, openTurn } from './turn.ts';
import { applyValue } from './value.ts';
import { applyCompaction, growWorklog, noteLines } from './worklog.ts';

/**
 * Applies one event to folded state and returns the rows it touched. It accepts any recorded history: an event that makes
 * no sense changes nothing.
 */
export function evolve(state: State, event: Event, recall: Recall = () => null): Touch[] {
  const touches: Touch[] = [];
  const touch: AddTouch = (kind, id, before, after) => {
    touches.push({ kind, id, before, after } as Touch);
  };
  state.version = event.version;
  state.totals.events += 1;
  // Facts of a session that was moved here keep their time.
  if (state.run && state.run.updatedAt < event.at) state.run = { ...state.run, updatedAt: event.at };
  if (state.run?.isUntouched) touchImported(state, state.run, event, touch);
  recordLastWork(state, event);
  apply(state, event, touch, recall);
  countWork(state, event);
  recordLast(state, event);
  if (state.handoffs.size > 0) markProgress(state, event, touch);
  const session = event.session === null ? undefined : state.sessions.get(event.session);
  if (session) {
    const isResting = restsAfter(session, event);
    const isLater = session.seenAt < event.at;
    if (isLater || isResting !== session.isResting)
      state.sessions.set(session.id, { ...session, isResting, seenAt: isLater ? event.at : session.seenAt });
  }
  return touches;
}

export function fold(state: State, events: Iterable<Event>): State {
  for (const event of events) evolve(state, event);
  return state;
}

function apply(state: State, event: Event, touch: AddTouch, recall: Recall): void {
  switch (event.type) {
    case 'run.opened':
    case 'run.amended':
    case 'run.completed':
    case 'run.reopened':
    case 'run.abandoned':
    case 'run.archived':
      return applyRun(state, event, touch);
    case 'run.imported':
      return applyImport(state, event, touch);
    case 'step.added':
    case 'step.changed':
    case 'step.removed':
    case 'step.started':
    case 'step.checkpointed':
    case 'step.completed':
    case 'step.failed':
    case 'step.retried':
    case 'step.skipped':
    case 'step.reopened':
    case 'step.confirmed':
    case 'step.released':
    case 'step.verified':
    case 'gate.opened':
    case 'gate.closed':
      return applyStep(state, event, touch);
    case 'session.started':
    case 'session.ended':
      return applySession(state, event, touch, recall);
    case 'session.moved':
      return applyMove(state, event, touch, recall);
    case 'turn.began':
    case 'turn.ended':
      return applyTurn(state, event, touch);
    case 'claim.taken':
    case 'claim.released':
      return applyClaim(state, event, touch);
    case 'decision.made':
    case 'decision.retracted':
      return applyDecision(state, event, touch, recall);
    case 'item.raised':
    case 'item.settled':
    case 'item.reopened':
      return applyItem(state, event, touch, recall);
    case 'note.added':
      return applyNote(state, event, touch);
    case 'note.approved':
      return approveNote(state, event, touch, recall);
    case 'usage.added':
      return applyUsage(state, event, touch);
    case 'effect.began':
    case 'effect.ended':
      return applyEffect(state, event, touch);
    case 'value.put':
    case 'value.removed':
      return applyValue(state, event, touch, recall);
    case 'files.seen':
      return applyFiles(state, event, touch);
    case 'message.sent':
    case 'message.moved':
    case 'message.replied':
    case 'message.heard':
    case 'message.escalated':
      return applyMessage(state, event, touch);
    case 'snapshot.taken':
      return applySnapshot(state, event, touch);
    case 'handoff.offered':
    case 'handoff.accepted':
    case 'handoff.clarified':
    case 'handoff.declined':
    case 'handoff.withdrawn':
    case 'handoff.finished':
      return applyHandoff(state, event, touch);
    case 'conflict.accepted':
      state.acceptedConflicts.set(event.body.id, event.at);
      return touch('conflict', event.body.id, null, { id: event.body.id, at: event.at });
    case 'mirror.added':
    case 'mirror.removed':
      return applyMirror(state, event, touch);
    case 'account.read':
      return applyRunModel(state, event, touch, recall);
    case 'text.erased':
      return touch('erasure', String(event.version), null, event.body);
    case 'worklog.compacted':
      return applyCompaction(state, event, touch, recall);
    case 'recovery.made':
      return touch('recovery', String(event.version), null, { id: String(event.version), ...event.body, at: event.at });
    default:
      event satisfies never;
  }
}

function applyMirror(state: State, event: EventOf<'mirror.added' | 'mirror.removed'>, touch: AddTouch): void {
  const { format, path } = event.body;
  const key = `${format}:${path}`;
  const before = state.mirrors.get(key) ?? null;
  const after = event.type === 'mirror.added' ? { format, path } : null;
  if (after) state.mirrors.set(key, after);
  else state.mirrors.delete(key);
  if (before || after) touch('mirror', key, before, after);
}

type RunEvent = EventOf<
  'run.opened' | 'run.amended' | 'run.completed' | 'run.reopened' | 'run.abandoned' | 'run.archived'
>;

function applyRun(state: State, event: RunEvent, touch: AddTouch): void {
  const before = state.run;
  if (event.type === 'run.opened') {
    const { title, goal, workspace, kind, source, design, plan } = event.body;
    state.run = {
      id: event.run,
      title,
      kind: kind ?? kindOf(event.run),
      ...(source === undefined ? {} : { source }),
      titledBy: event.actor.kind,
      goal: goal ?? null,
      workspace,
      status: 'active',
      design: design ?? null,
      plan: plan ?? null,
      openedAt: event.at,
      openedBy: event.actor,
      updatedAt: event.at,
      endedAt: null,
      reason: null,
      imported: [],
      isUntouched: false,
    };
  } else if (before) {
    if (event.type === 'run.amended') {
      const titledBy = event.body.title === undefined ? before.titledBy : event.actor.kind;
      state.run = { ...before, ...defined(event.body), titledBy } as Run;
    } else if (event.type === 'run.completed') state.run = { ...before, status: 'completed' };
    else if (event.type === 'run.reopened')
      state.run = {
        ...before,
        status: 'active',
        endedAt: null,
        reason: event.body.reason ?? null,
        movedTo: undefined,
      };
    else if (event.type === 'run.abandoned')
      state.run = { ...before, status: 'abandoned', endedAt: event.at, reason: event.body.reason };
    else state.run = { ...before, status: 'archived', endedAt: event.at, reason: event.body.reason ?? before.reason };
  }
  if (state.run) touch('run', state.run.id, before, state.run);
}

/** Version 0.1 recorded no kind: the ids of runs that its hooks opened name the client. */
const kindOf = (run: string): RunKind => (/^\d{4}-\d\d-\d\d-[a-z]+-[0-9a-f]{8}$/.test(run) ? 'ad-hoc' : 'planned');

function applyFiles(state: State, event: EventOf<'files.seen'>, touch: AddTouch): void {
  const { artifacts, step, read } = event.body;
  const before = step ? state.steps.get(step) : undefined;
  if (before && !read && before.status === 'in_progress') {
    const after = { ...before, artifacts: mergeArtifacts(before.artifacts, artifacts) };
    state.steps.set(before.key, after);
    touch('step', before.key, before, after);
  }
  if (read) readAtStart(state, event, touch);
  touchFiles(state, event, artifacts, step ?? null, touch, read);
}

/** What a session reads before the first checkpoint of the step it holds is what the step began with. */
function readAtStart(state: State, event: EventOf<'files.seen'>, touch: AddTouch): void {
  const held = [...state.steps.values()].filter(({ holder }) => holder !== null && holder.session === event.session);
  const [step] = held;
  if (!step || held.length > 1) return;
  const after = withRead(
    step,
    event.body.artifacts.map(({ path }) => path),
  );
  if (after === step) return;
  state.steps.set(step.key, after);
  touch('step', step.key, step, after);
}

function applyDecision(
  state: State,
  event: EventOf<'decision.made' | 'decision.retracted'>,
  touch: AddTouch,
  recall: Recall,
): void {
  if (event.type === 'decision.retracted') {
    const before = recall('decision', event.body.id);
    // A superseded decision left the count when its successor was made.
    if (event.body.was === 'active') state.totals.activeDecisions -= 1;
    if (before)
      touch('decision', before.id, before, { ...before, status: 'retracted', retractedBecause: event.body.reason });
    return;
  }
  const { id, supersedes } = event.body;
  count(state, id);
  state.totals.decisions += 1;
  state.totals.activeDecisions += supersedes ? 0 : 1;
  const { by, ...body } = event.body;
  touch('decision', id, null, {
    ...body,
    status: 'active',
    at: event.at,
    by: by ?? event.actor.name,
    session: event.session,
    basis: event.basis,
  });
  const old = supersedes ? recall('decision', supersedes) : null;
  if (old) touch('decision', old.id, old, { ...old, status: 'superseded', supersededBy: id });
}

function applyItem(
  state: State,
  event: EventOf<'item.raised' | 'item.settled' | 'item.reopened'>,
  touch: AddTouch,
  recall: Recall,
): void {
  const id = event.type === 'item.reopened' ? event.body.item.id : event.body.id;
  const before = state.items.get(id) ?? recall('item', id);
  const after = evolveItem(before, event);
  if (!after) return;
  count(state, id);
  // A settled item leaves state. Only raising or reopening brings it back, whether it can be recalled or not.
  if (!isOpenItem(after.status)) state.items.delete(id);
  else if (event.type !== 'item.settled' || state.items.has(id)) state.items.set(id, after);
  touch('item', id, before, after);
}

function evolveItem(
  before: Item | null,
  event: EventOf<'item.raised' | 'item.settled' | 'item.reopened'>,
): Item | null {
  const stamp = { session: event.session, basis: event.basis };
  if (event.type === 'item.raised') {
    const { kind, by } = event.body;
    const status = kind === 'blocker' ? 'active' : 'open';
    return { ...event.body, ...stamp, by: by ?? event.actor.name, status, raisedAt: event.at };
  }
  if (event.type === 'item.reopened') {
    const { item, raisedAt } = event.body;
    return {
      ...item,
      ...stamp,
      by: item.by ?? event.actor.name,
      raisedAt,
      status: item.kind === 'blocker' ? 'active' : 'open',
    };
  }
  if (!before) return null;
  const { as, note, followUp } = event.body;
  const bypassed = as === 'bypassed';
  return {
    ...before,
    status: as,
    ...(bypassed ? { workaround: note ?? before.workaround } : { resolution: note ?? null, settledAt: event.at }),
    ...(followUp ? { followUp } : {}),
  };
}

function applyNote(state: State, event: EventOf<'note.added'>, touch: AddTouch): void {
  count(state, event.body.id);
  state.totals.notes += 1;
  const note: Note = { ...event.body, at: event.at, by: event.actor.name, session: event.session };
  growWorklog(state, noteLines(note.text));
  if (note.kind === 'constraint' || note.kind === 'dead-end') state.notes.set(note.id, note);
  if (note.kind === 'plan') {
    const { id, text, at, session } = note;
    const pid = session === null ? null : (state.sessions.get(session)?.owner?.pid ?? null);
    state.plan = { note: id, text: firstWords(text), session, at, pid, approvedAt: null };
  }
  if (note.asked) {
    const text = firstWords(note.text.replace(/^Asked: /, ''));
    // The last request of the session before is kept beside the one of this session.
    openTurn(state, event, event.session ?? '', { kind: 'request', request: text });
  }
  touch('note', note.id, null, note);
}

function approveNote(state: State, event: EventOf<'note.approved'>, touch: AddTouch, recall: Recall): void {
  const { id } = event.body;
  if (state.plan?.note === id) state.plan = { ...state.plan, approvedAt: event.at };
  const before = recall('note', id);
  if (before) touch('note', id, before, { ...before, approvedAt: event.at });
}

function applyUsage(state: State, event: EventOf<'usage.added'>, touch: AddTouch): void {
  const { agent, model } = event.body;
  const before = state.usage.get(agent) ?? null;
  const session = event.session === null ? undefined : state.sessions.get(event.session);
  const after = addSpent(before, agent, spentIn(event, session?.client != null), model);
  state.usage.set(agent, after);
  touch('usage', agent, before, after);
}

function applyEffect(state: State, event: EventOf<'effect.began' | 'effect.ended'>, touch: AddTouch): void {
  const before = state.effects.get(event.body.id) ?? null;
  if (event.type === 'effect.began') {
    count(state, event.body.id);
    const after: Effect = {
      ...event.body,
      status: 'began',
      at: event.at,
      by: event.actor.name,
      session: event.session,
    };
    state.effects.set(after.id, after);
    touch('effect', after.id, before, after);
    return;
  }
  if (!before) return;
  const { outcome, exitCode, result } = event.body;
  state.effects.delete(before.id);
  recordEnd(state, before, event);
  touch('effect', before.id, before, {
    ...before,
    status: 'ended',
    outcome,
    exitCode: exitCode ?? null,
    endedAt: event.at,
    ...(result === undefined ? {} : { result }),
    ...(outcome === 'succeeded' && before.key !== undefined ? { alias: before.key } : {}),
  });
}

/** Keeps the last command, and the last one that failed and was not repeated with success. */
function recordEnd(state: State, { id, name, class: effectClass, asks }: Effect, event: EventOf<'effect.ended'>): void {
  if (effectClass === 'read' || asks) return;
  const { outcome, exitCode } = event.body;
  const last = {
    effect: id,
    name: firstWords(name),
    class: effectClass,
    outcome,
    exitCode: exitCode ?? null,
    session: event.session,
    at: event.at,
    version: event.version,
  };
  const { failed } = state.commands;
  const isRepaired = outcome === 'succeeded' && failed !== null && sameCommand(failed.name, last.name);
  state.commands = { last, failed: outcome === 'failed' ? last : isRepaired ? null : failed };
}

const sameCommand = (a: string, b: string): boolean => a.replace(/\s+/g, ' ').trim() === b.replace(/\s+/g, ' ').trim();
