import type { Event, EventOf } from '../journal/event.ts';
import { count } from './ids.ts';
import { passMail } from './message.ts';
import type { Claim, Session, State } from './state.ts';
import type { AddTouch, Recall } from './touch.ts';
import { growWorklog, SESSION_LINES } from './worklog.ts';

export function applySession(
  state: State,
  event: EventOf<'session.started' | 'session.ended'>,
  touch: AddTouch,
  recall: Recall,
): void {
  if (event.type === 'session.started') startSession(state, event, touch, recall);
  else endSession(state, event, touch);
}

function startSession(state: State, event: EventOf<'session.started'>, touch: AddTouch, recall: Recall): void {
  const { id, agent, kind, role, leaseMs, continues, returns, parent, client, owner, mark, alias, atRest } = event.body;
  count(state, id);
  state.totals.sessions += 1;
  const after: Session = {
    id,
    agent,
    kind,
    role,
    status: 'active',
    leaseMs,
    startedAt: event.at,
    startedVersion: event.version,
    startedWith: event.evidence ?? null,
    seenAt: event.at,
    isResting: atRest ?? false,
    turn: null,
    continues: continues ?? null,
    continuedBy: null,
    returns: returns ?? false,
    parent: parent ?? null,
    client: client ?? null,
    owner: owner ?? null,
    mark: mark ?? null,
    held: [],
    completed: [],
    left: [],
    leftClaims: [],
    endedAt: null,
    endReason: null,
    notes: [],
    issues: [],
    contextUsage: null,
    evidence: [],
    alias: alias ?? null,
  };
  state.sessions.set(id, after);
  touch('session', id, null, after);
  const continued = continues ? (state.sessions.get(continues) ?? recall('session', continues)) : null;
  if (!continued) return;
  const gone = { ...continued, continuedBy: id };
  if (state.sessions.has(gone.id)) state.sessions.set(gone.id, gone);
  touch('session', gone.id, continued, gone);
}

function endSession(state: State, event: EventOf<'session.ended'>, touch: AddTouch): void {
  const { id, reason, next, why, notes, issues, contextUsage, mark, evidence, lastSeenAt, unannounced } = event.body;
  const before = state.sessions.get(id);
  if (!before) return;
  const left = heldSteps(state, id);
  freeSteps(state, id, reason, touch);
  const claims = [...state.claims.values()].filter((claim) => claim.session === id);
  for (const claim of claims) dropClaim(state, claim, touch);
  if (reason !== 'superseded') passMail(state, before, touch);
  growWorklog(state, SESSION_LINES);
  if (next) state.next = { text: next, session: id, step: left.at(-1) ?? null, at: event.at };
  state.sessions.delete(id);
  const cut = before.turn && before.turn.endedAt === null ? { ...before.turn, cutBy: reason } : before.turn;
  if (cut && state.turn?.version === cut.version) state.turn = cut;
  if (cut === null && before.parent === null) countAsTurn(state, before, event);
  touch('session', id, before, {
    ...before,
    turn: cut,
    status: reason,
    endReason: reason,
    left,
    leftClaims: claims.map(({ files, reason: why }) => ({ files, reason: why })),
    endedAt: event.at,
    seenAt: lastSeenAt ?? event.at,
    notes: notes ?? [],
    issues: issues ?? [],
    contextUsage: contextUsage ?? null,
    mark: mark ?? before.mark,
    evidence: evidence ?? [],
    ...(why ? { why } : {}),
    ...(unannounced ? { unannounced } : {}),
  });
}

/** A session without turns counts as one, from its start to its end. */
function countAsTurn(state: State, session: Session, { at, body: { reason } }: EventOf<'session.ended'>): void {
  const { id, agent, startedAt, startedVersion: version } = session;
  if (state.turn !== null && state.turn.version > version) return;
  const isCut = reason === 'crashed' && !session.isResting;
  state.turn = {
    session: id,
    agent,
    kind: 'unknown',
    request: null,
    beganAt: startedAt,
    version,
    endedAt: isCut ? null : at,
    outcome: isCut ? null : 'done',
    said: null,
    asks: false,
    failure: null,
    background: [],
    cutBy: isCut ? reason : null,
  };
}

/** Whether a session rests after one of its events. Usage and late ends of effects belong to the turn before. */
export function restsAfter(session: Session, event: Event): boolean {
  switch (event.type) {
    case 'turn.ended':
      return true;
    case 'snapshot.taken':
      return event.body.atRest ?? session.isResting;
    case 'step.started':
      // The steps of the session it continues are taken over without a request.
      return session.isResting && session.continues !== null && event.body.takenOverFrom === session.continues;
    case 'session.started':
    case 'usage.added':
    case 'effect.ended':
      return session.isResting;
    default:
      return false;
  }
}

export function heldSteps(state: State, session: string): string[] {
  return [...state.steps.values()].filter((step) => step.holder?.session === session).map((step) => step.key);
}

/** The steps of an ended session stay in progress without a holder. */
function freeSteps(state: State, session: string, reason: string, touch: AddTouch): void {
  for (const step of state.steps.values()) {
    if (step.holder?.session !== session) continue;
    const after = { ...step, holder: null, crashes: reason === 'crashed' ? step.crashes + 1 : 0 };
    state.steps.set(step.key, after);
    touch('step', step.key, step, after);
  }
}

function dropClaim(state: State, claim: Claim, touch: AddTouch): void {
  state.claims.delete(claim.id);
  touch('claim', claim.id, claim, { ...claim, status: 'released' });
}

export function applyClaim(state: State, event: EventOf<'claim.taken' | 'claim.released'>, touch: AddTouch): void {
  const before = state.claims.get(event.body.id) ?? null;
  if (event.type === 'claim.released') {
    if (before) dropClaim(state, before, touch);
    return;
  }
  const { id, session, files, reason, alias } = event.body;
  count(state, id);
  const after: Claim = {
    id,
    session,
    agent: state.sessions.get(session)?.agent ?? event.actor.name,
    files,
    reason: reason ?? null,
    since: event.at,
    status: 'held',
    alias: alias ?? null,
  };
  state.claims.set(id, after);
  touch('claim', id, before, after);
}
