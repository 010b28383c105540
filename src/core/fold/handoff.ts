import type { Event, EventOf } from '../journal/event.ts';
import { isSameName } from '../names.ts';
import { firstWords } from './conversation.ts';
import { count } from './ids.ts';
import { heldSteps } from './session.ts';
import { type Handoff, isOpenHandoff, type State } from './state.ts';
import { holdStep, takeStep } from './step.ts';
import type { AddTouch } from './touch.ts';
import { closeTurn } from './turn.ts';

export function applySnapshot(state: State, event: EventOf<'snapshot.taken'>, touch: AddTouch): void {
  const { id, session, agent, sequence, next, why, atRest } = event.body;
  if (atRest) closeTurn(state, event, session, { outcome: 'done', said: why ?? null });
  if (why && atRest) state.said = { text: firstWords(why), session, at: event.at };
  count(state, id);
  state.snapshotSequences.set(agent, Math.max(state.snapshotSequences.get(agent) ?? 0, sequence));
  state.lastSnapshot = { id, session, agent, version: event.version, at: event.at };
  // A session that has ended gave its next action and step with its end.
  if (next && state.sessions.has(session))
    state.next = { text: next, session, step: heldSteps(state, session).at(-1) ?? null, at: event.at };
  const { text: _, ...row } = event.body;
  touch('snapshot', id, null, { ...row, at: event.at, version: event.version });
}

type HandoffEvent = Extract<Event, { type: `handoff.${string}` }>;

export function applyHandoff(state: State, event: HandoffEvent, touch: AddTouch): void {
  const before = state.handoffs.get(event.body.id) ?? null;
  if (event.type === 'handoff.offered') {
    count(state, event.body.id);
    const after: Handoff = {
      ...event.body,
      status: 'offered',
      at: event.at,
      by: event.actor.name,
      version: event.version,
      acceptedBy: null,
      progressAt: null,
      question: null,
      outcome: null,
    };
    state.handoffs.set(after.id, after);
    touch('handoff', after.id, before, after);
    return;
  }
  if (!before) return;
  if (event.type === 'handoff.accepted') moveSteps(state, event, touch);
  const after = evolveHandoff(before, event);
  if (isOpenHandoff(after.status)) state.handoffs.set(after.id, after);
  else state.handoffs.delete(after.id);
  touch('handoff', after.id, before, after);
}

/** Events that show that a receiver works on what it took over. */
const progress: ReadonlySet<string> = new Set(['step.checkpointed', 'step.completed', 'step.failed', 'decision.made']);

/** A handoff is used up by the receiver's first progress, not by the acceptance. It follows the steps to new sessions. */
export function markProgress(state: State, event: Event, touch: AddTouch): void {
  for (const before of state.handoffs.values()) {
    if (before.acceptedBy === null) continue;
    const after = inNewSession(state, before, event) ?? withProgress(before, event);
    if (!after) continue;
    state.handoffs.set(after.id, after);
    touch('handoff', after.id, before, after);
  }
}

function withProgress(handoff: Handoff, event: Event): Handoff | null {
  const isFirst = handoff.progressAt === null && handoff.acceptedBy === event.session && progress.has(event.type);
  return isFirst ? { ...handoff, progressAt: event.at } : null;
}

/** The same receiver continues its step in another session, as with clients that start a new one after a compaction. */
function inNewSession(state: State, handoff: Handoff, event: Event): Handoff | null {
  if (event.type !== 'step.started' || !handoff.steps.includes(event.body.step)) return null;
  const { session, takenOverFrom } = event.body;
  const isSame =
    takenOverFrom === handoff.acceptedBy && isSameName(state.sessions.get(session)?.agent ?? '', handoff.to);
  return isSame ? { ...handoff, acceptedBy: session } : null;
}

/** The acceptance moves the right to write, in the same event. */
function moveSteps(state: State, event: EventOf<'handoff.accepted'>, touch: AddTouch): void {
  for (const { step: key, claim } of event.body.claims) {
    count(state, claim);
    const step = state.steps.get(key);
    if (!step) continue;
    const after = takeStep(step, event, event.body.session, claim);
    state.steps.set(key, after);
    touch('step', key, step, after);
    holdStep(state, event.body.session, key, touch);
  }
}

function evolveHandoff(before: Handoff, event: Exclude<HandoffEvent, { type: 'handoff.offered' }>): Handoff {
  switch (event.type) {
    case 'handoff.accepted':
      return { ...before, status: 'accepted', acceptedBy: event.body.session, progressAt: null };
    case 'handoff.clarified':
      return { ...before, status: 'clarifying', question: event.body.question };
    case 'handoff.declined':
      return { ...before, status: 'declined', outcome: event.body.reason };
    case 'handoff.withdrawn':
      return { ...before, status: 'withdrawn', outcome: event.body.reason ?? null };
    case 'handoff.finished':
      return { ...before, status: 'finished', outcome: event.body.outcome };
    default:
      return event satisfies never;
  }
}
