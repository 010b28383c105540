import type { EventOf } from '../journal/event.ts';
import type { Request } from './conversation.ts';
import type { State } from './state.ts';
import type { AddTouch, Recall } from './touch.ts';

/**
 * A session was moved to another run: what it recorded here does not count any more. If no other session recorded here,
 * the run stands for the one it was moved to.
 */
export function applyMove(state: State, event: EventOf<'session.moved'>, touch: AddTouch, recall: Recall): void {
  const { session: id, to, conversation, parent } = event.body;
  const { conversations } = state.last;
  const before = state.sessions.get(id) ?? recall('session', id);
  state.sessions.delete(id);
  dropFacts(state, id, conversation, touch);
  if (before) touch('session', id, before, { ...before, status: 'moved', endedAt: before.endedAt ?? event.at });
  if (parent === undefined) state.tally = { ...state.tally, sessions: Math.max(0, state.tally.sessions - 1) };
  const { run } = state;
  if (run?.kind !== 'ad-hoc' || state.tally.sessions > 0 || parent !== undefined) return;
  state.run = { ...run, status: 'moved', movedTo: to.run, endedAt: event.at };
  // Its id was made for this conversation, which may open another run.
  state.last = { ...state.last, conversations };
  touch('run', run.id, run, state.run);
}

function dropFacts(state: State, session: string, conversation: string | undefined, touch: AddTouch): void {
  const isOther = (one: { session: string | null } | null): boolean => one?.session !== session;
  for (const table of [state.effects, state.items, state.notes, state.claims] as const) {
    for (const [id, row] of table as Map<string, { session: string | null }>) if (!isOther(row)) table.delete(id);
  }
  for (const step of state.steps.values()) {
    if (conversation !== undefined && step.alias?.startsWith(`${conversation}#`) && isOwn(step, session)) {
      state.steps.delete(step.key);
      touch('step', step.key, step, null);
    } else if (step.holder?.session === session) {
      const after = { ...step, holder: null };
      state.steps.set(step.key, after);
      touch('step', step.key, step, after);
    }
  }
  const kept = (one: Request | null): Request | null => (isOther(one) ? one : null);
  const { first, current, latest } = state.requests;
  const left = [first, current, latest].map(kept);
  const oldest = left.find((one) => one !== null) ?? null;
  const newest = left.findLast((one) => one !== null) ?? null;
  state.requests = { first: kept(first) ?? oldest, current: kept(current) ?? newest, latest: kept(latest) ?? newest };
  state.asked = state.asked.filter(isOther);
  state.said = isOther(state.said) ? state.said : null;
  if (!isOther(state.turn)) state.turn = null;
  if (!isOther(state.plan)) state.plan = null;
  const { last, failed } = state.commands;
  state.commands = { last: isOther(last) ? last : null, failed: isOther(failed) ? failed : null };
  state.last = { ...state.last, conversations: state.last.conversations.filter((one) => one !== conversation) };
}

/** Nobody else has worked on it. */
const isOwn = ({ lastSession }: { lastSession: string | null }, session: string): boolean =>
  lastSession === null || lastSession === session;
