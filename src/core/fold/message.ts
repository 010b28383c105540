import type { EventOf } from '../journal/event.ts';
import { isSameName } from '../names.ts';
import type { Actor, MessageSide } from '../words.ts';
import { count } from './ids.ts';
import type { Message, Session, State } from './state.ts';
import type { AddTouch } from './touch.ts';

/** Mail to this name is for any person. */
export const MAINTAINER = 'maintainer';

/** The side of a message that an actor is on; null if the actor is neither sender nor receiver. */
export function sideOf({ from, to }: Pick<Message, 'from' | 'to'>, { kind, name }: Actor): MessageSide | null {
  if (isSameName(to, MAINTAINER) ? kind === 'person' : isSameName(to, name)) return 'to';
  return isSameName(from, name) ? 'from' : null;
}

type MessageEvent = EventOf<
  'message.sent' | 'message.moved' | 'message.replied' | 'message.heard' | 'message.escalated'
>;

export function applyMessage(state: State, event: MessageEvent, touch: AddTouch): void {
  const before = state.messages.get(event.body.id) ?? null;
  const after = evolveMessage(state, before, event);
  if (!after) return;
  count(state, after.id);
  if (after.status === 'closed') state.messages.delete(after.id);
  else state.messages.set(after.id, after);
  touch('message', after.id, before, after);
}

function evolveMessage(state: State, before: Message | null, event: MessageEvent): Message | null {
  const { at, version } = event;
  if (event.type === 'message.sent') {
    return {
      ...event.body,
      status: 'unread',
      at,
      session: event.session,
      ...(event.actor.kind === 'person' && event.actor.name === event.body.from ? { person: true } : {}),
      acks: [],
      replies: [],
      heard: { from: version, to: 0 },
      passed: 0,
      escalated: null,
    };
  }
  if (!before) return null;
  if (event.type === 'message.escalated') {
    const { why, notice } = event.body;
    return { ...before, escalated: { at, why, notice: notice ?? null, sessions: state.totals.sessions } };
  }
  if (event.type === 'message.heard') return { ...before, heard: { ...before.heard, [event.body.side]: version } };
  const side = sideOf(before, event.actor);
  // An actor who replies has read the replies before.
  const heard = side === null ? before.heard : { ...before.heard, [side]: version };
  if (event.type === 'message.replied') {
    const { from, body } = event.body;
    return { ...before, heard, replies: [...before.replies, { from, at, version, side, body }] };
  }
  const { to, note, disposition } = event.body;
  return {
    ...before,
    heard,
    status: to,
    acks: [...before.acks, { by: event.actor.name, at, version, side, to, note }],
    disposition: disposition ?? before.disposition,
  };
}

/** Marks the messages to the agent that are still unread at the end of its session. */
export function passMail(state: State, session: Session, touch: AddTouch): void {
  for (const message of state.messages.values()) {
    if (message.status !== 'unread' || sideOf(message, { kind: session.kind, name: session.agent }) !== 'to') continue;
    const passed = session.startedAt >= message.at ? 2 : 1;
    if (passed <= message.passed) continue;
    const after: Message = { ...message, passed };
    state.messages.set(message.id, after);
    touch('message', message.id, message, after);
  }
}
