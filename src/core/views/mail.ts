import { sideOf } from '../fold/message.ts';
import type { Message, State } from '../fold/state.ts';
import { addMs, isPast } from '../time.ts';
import type { Actor, MessageSide } from '../words.ts';

/** Something that was said on a message after it was sent. */
export interface Reply {
  by: string;
  at: string;
  version: number;
  /** What the message became with it; a reply leaves it where it is. */
  to: string | null;
  text: string;
}

/** All that was said on a message, the oldest first. */
export function repliesTo({ acks, replies }: Message): (Reply & { side: MessageSide | null })[] {
  return [
    ...acks.map(({ by, at, version, side, to, note }) => ({ by, at, version, side, to, text: note })),
    ...replies.map(({ from, at, version, side, body }) => ({ by: from, at, version, side, to: null, text: body })),
  ].sort((a, b) => a.version - b.version);
}

/** What the others said that a side has not heard yet. An unread message is news as a whole. */
export function unreadReplies(message: Message, side: MessageSide): Reply[] {
  return repliesTo(message)
    .filter((said) => said.side !== side && said.version > message.heard[side])
    .map(({ side: _, ...said }) => said);
}

export const isAnswered = ({ status, replies }: Message): boolean =>
  status !== 'unread' || replies.some((reply) => reply.side !== 'from');

const HOUR_MS = 60 * 60 * 1000;
/** Sittings are counted first; the clock is for receivers that never come. */
const WINDOWS = {
  P0: { passed: 1, ms: HOUR_MS, name: 'its receiver’s next turn' },
  P1: { passed: 2, ms: 24 * HOUR_MS, name: 'its receiver’s next session' },
} as const;

/**
 * Why a message is overdue, or null: it should have been acknowledged or answered by now. A notice has no time limit, nor
 * has what a person deferred; whoever took a message on may take their time.
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
  /** What was said on it and not heard yet. */
  news: readonly Reply[];
}

export function messageView(message: Message, now: string, news: readonly Reply[] = []): MessageView {
  return { ...message, overdue: overdueBecause(message, now), answered: isAnswered(message), news };
}

export interface Mail {
  /** For the reader, and not looked at. */
  unread: readonly MessageView[];
  /** For the reader: taken on or blocked, and not done. */
  pendingAcks: readonly MessageView[];
  /** The reader is on one side of it, and the other has said something since. */
  replies: readonly MessageView[];
  /** Sent by the reader and not closed, answered or not. */
  unanswered: readonly MessageView[];
}

/** The open mail of somebody; of everybody for nobody in particular. The pressing first, else the oldest. */
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
    const letter = messageView(message, now, news);
    if (isNew) unread.push(letter);
    if (side === 'to' && (status === 'acknowledged' || status === 'blocked')) pendingAcks.push(letter);
    if (news.length > 0) replies.push(letter);
    if (reader && message.from === reader.name) unanswered.push(letter);
  }
  for (const messages of [unread, pendingAcks, replies, unanswered]) messages.sort(byHaste);
  return { unread, pendingAcks, replies, unanswered };
}

/** P0 before P1: the words sort as the priorities do. */
function byHaste(a: MessageView, b: MessageView): number {
  const late = Number(b.overdue !== null) - Number(a.overdue !== null);
  return Number(a.priority > b.priority) - Number(a.priority < b.priority) || late;
}
