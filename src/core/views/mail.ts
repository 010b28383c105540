import { sideOf } from '../fold/message.ts';
import type { Message, State } from '../fold/state.ts';
import { isSameName } from '../names.ts';
import { addMs, isPast } from '../time.ts';
import type { Actor, MessageSide } from '../words.ts';

/** A reply to a message: an acknowledgement with its note, or an answer. */
export interface Reply {
  by: string;
  at: string;
  version: number;
  /** The new status of the message; null for an answer, which does not change it. */
  to: string | null;
  text: string;
}

/** The oldest first. */
export function repliesTo({ acks, replies }: Message): (Reply & { side: MessageSide | null })[] {
  return [
    ...acks.map(({ by, at, version, side, to, note }) => ({ by, at, version, side, to, text: note })),
    ...replies.map(({ from, at, version, side, body }) => ({ by: from, at, version, side, to: null, text: body })),
  ].sort((a, b) => a.version - b.version);
}

/** The replies of others that a side has not read yet. */
export function unreadReplies(message: Message, side: MessageSide): Reply[] {
  return repliesTo(message)
    .filter((reply) => reply.side !== side && reply.version > message.heard[side])
    .map(({ side: _, ...reply }) => reply);
}

export const isAnswered = ({ status, replies }: Message): boolean =>
  status !== 'unread' || replies.some((reply) => reply.side !== 'from');

const HOUR_MS = 60 * 60 * 1000;
/** Sessions count first; the time limit is for receivers that start none. */
const WINDOWS = {
  P0: { passed: 1, ms: HOUR_MS, name: 'its receiver’s next turn' },
  P1: { passed: 2, ms: 24 * HOUR_MS, name: 'its receiver’s next session' },
} as const;

/**
 * Why a message is overdue, or null. It is overdue if it should have been acknowledged or answered by now. There is no
 * time limit for a notification, for a message that a person deferred, or for one that was acknowledged.
 */
export function overdueBecause(message: Message, now: string): string | null {
  const { type, priority, disposition, respondBy, passed, at } = message;
  if (isAnswered(message) || type === 'notify' || disposition === 'deferred') return null;
  if (respondBy && isPast(respondBy, now)) return `It was to be answered by ${respondBy}.`;
  const tier = priority === 'P2' && respondBy === 'next session' ? 'P1' : priority;
  if (tier === 'P2') return null;
  const { passed: limit, ms, name } = WINDOWS[tier];
  const isLate = passed >= limit || addMs(at, ms) <= now;
  return isLate ? `${message.to} did not acknowledge it within ${name} (${tier}).` : null;
}

/** An open message as one of its readers sees it. */
export interface MessageView extends Message {
  /** Why it is overdue; null while it is not. */
  overdue: string | null;
  answered: boolean;
  /** Replies that the reader has not read yet. */
  news: readonly Reply[];
}

export function messageView(message: Message, now: string, news: readonly Reply[] = []): MessageView {
  return { ...message, overdue: overdueBecause(message, now), answered: isAnswered(message), news };
}

export interface Mail {
  /** To the reader, not read yet. */
  unread: readonly MessageView[];
  /** To the reader, acknowledged or blocked, and not done. */
  pendingAcks: readonly MessageView[];
  /** With replies that the reader has not read yet. */
  replies: readonly MessageView[];
  /** Sent by the reader and not closed, answered or not. */
  unanswered: readonly MessageView[];
}

/** The open mail of a reader, or of all without one. The most urgent first, then the oldest. */
export function mailOf(state: State, reader: Actor | null, now: string): Mail {
  const unread: MessageView[] = [];
  const pendingAcks: MessageView[] = [];
  const replies: MessageView[] = [];
  const unanswered: MessageView[] = [];
  for (const message of state.messages.values()) {
    const side = reader ? sideOf(message, reader) : 'to';
    if (side === null) continue;
    const { status } = message;
    const isNew = side === 'to' && status === 'unread';
    const news = reader && !isNew ? unreadReplies(message, side) : [];
    const view = messageView(message, now, news);
    if (isNew) unread.push(view);
    if (side === 'to' && (status === 'acknowledged' || status === 'blocked')) pendingAcks.push(view);
    if (news.length > 0) replies.push(view);
    if (reader && isSameName(message.from, reader.name)) unanswered.push(view);
  }
  for (const messages of [unread, pendingAcks, replies, unanswered]) messages.sort(byUrgency);
  return { unread, pendingAcks, replies, unanswered };
}

/** `P0` sorts before `P1` as text. */
function byUrgency(a: MessageView, b: MessageView): number {
  const late = Number(b.overdue !== null) - Number(a.overdue !== null);
  return Number(a.priority > b.priority) - Number(a.priority < b.priority) || late;
}
