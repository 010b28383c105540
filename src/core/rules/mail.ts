import { Fault, notFound } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import { MAINTAINER, sideOf } from '../fold/message.ts';
import type { Message, Session } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { isSameName } from '../names.ts';
import { isAnswered, overdueBecause, unreadReplies } from '../views/mail.ts';
import { moveBetween, movesFrom, type Who } from './lifecycle.ts';
import { draft, isMaintainer, mustBeActive, mustBePerson, type RuleContext } from './rule-context.ts';

export function sendMessage(
  context: RuleContext,
  { messageType, type: _, ...body }: CommandOf<'message.send'>,
): Draft[] {
  mustBeActive(context);
  return [
    draft('message.sent', { id: nextId(context.state, 'M'), from: context.actor.name, ...body, type: messageType }),
  ];
}

/**
 * The receiver acknowledges a message, the sender or a person closes it; anyone may close a notification. Acknowledging
 * replies of the other side does not change the status: they are marked as read.
 */
export function moveMessage(context: RuleContext, command: CommandOf<'message.move'>): Draft[] {
  mustBeActive(context);
  const { to, note, disposition } = command;
  const message = messageOf(context, command.id);
  if (disposition === 'deferred') return deferMessage(context, message, note);
  const read = to === 'acknowledged' ? readReplies(context, message, note) : null;
  if (read) return read;
  if (message.status === to) return [];
  const move = moveBetween('message', message.status, to);
  if (!move) {
    const legal = movesFrom('message', message.status);
    throw new Fault('illegal', `${message.id} is ${message.status}: it cannot become ${to}.`, {
      hints: [
        legal.length > 0 ? `Possible: ${legal.join(', ')}.` : 'A closed message is never opened again; send a new one.',
      ],
      data: { id: message.id, from: message.status, to, legal },
    });
  }
  mustBeAllowed(context, message, to, move.who);
  if (disposition === 'abandoned') mustBeAbandonable(context, message);
  return [draft('message.moved', { id: message.id, to, note, disposition }), ...closeEscalation(context, message, to)];
}

/** Null if there are no replies to read, or if the message itself is not acknowledged yet. */
function readReplies(context: RuleContext, message: Message, note: string): Draft[] | null {
  const side = sideOf(message, context.actor);
  if (side === null || message.status === 'closed' || unreadReplies(message, side).length === 0) return null;
  if (side === 'to' && moveBetween('message', message.status, 'acknowledged')) return null;
  return [draft('message.heard', { id: message.id, side, note })];
}

function mustBeAllowed(context: RuleContext, message: Message, to: string, who: Who): void {
  const { actor } = context;
  const may =
    who === 'receiver'
      ? sideOf(message, actor) === 'to'
      : isMaintainer(context) || isSameName(actor.name, message.from) || message.type === 'notify';
  if (may) return;
  const whoMay = who === 'receiver' ? message.to : `${message.from} or a person`;
  throw new Fault('not_allowed', `${message.id} can be made ${to} only by ${whoMay}; you are ${actor.name}.`, {
    hints: [`Write to ${message.from} with \`holdfast mail reply ${message.id} --body …\`.`],
    data: { id: message.id, actor, who: whoMay },
  });
}

/** A person may abandon a message only two sessions after it was escalated. */
function mustBeAbandonable(context: RuleContext, { id, escalated }: Message): void {
  const { state } = context;
  if (!isMaintainer(context)) {
    throw new Fault('not_allowed', 'Only a person may close a message as abandoned.', {
      hints: ['Close it as resolved, superseded or withdrawn, or ask the person you work for.'],
    });
  }
  const since = escalated ? state.totals.sessions - escalated.sessions : 0;
  if (escalated && since >= SESSIONS_TO_ABANDON) return;
  const why = escalated ? `escalated ${since} sessions ago` : 'not escalated';
  throw new Fault('illegal', `${id} is ${why}: it is abandoned ${SESSIONS_TO_ABANDON} sessions after that.`, {
    hints: ['Close it as resolved, superseded or withdrawn.'],
    data: { id, escalated, sessions: since },
  });
}

const SESSIONS_TO_ABANDON = 2;

/** The message that informed the maintainer is closed once the escalated one is acknowledged or answered. */
function closeEscalation({ state, actor }: RuleContext, { id, escalated }: Message, to: string): Draft[] {
  const notice = escalated?.notice ? state.messages.get(escalated.notice) : undefined;
  if (!notice) return [];
  const note = `${id} is ${to} by ${actor.name}.`;
  return [draft('message.moved', { id: notice.id, to: 'closed', note, disposition: 'resolved' }, 'verified')];
}

/** A person can defer a message; its status stays. */
function deferMessage(context: RuleContext, message: Message, note: string): Draft[] {
  if (message.status === 'closed') {
    throw new Fault('illegal', `${message.id} is closed: it cannot be deferred.`, {
      hints: ['A closed message is never opened again; send a new one.'],
      data: { id: message.id, from: message.status, to: message.status, legal: [] },
    });
  }
  mustBePerson(context, 'defer a message', `holdfast mail close ${message.id} --as deferred --note …`);
  if (message.disposition === 'deferred') return [];
  return [draft('message.moved', { id: message.id, to: message.status, note, disposition: 'deferred' })];
}

/** Informs the maintainer of each message that was not acknowledged in time, once. */
export function escalateMail(context: RuleContext): Draft[] {
  mustBeActive(context);
  return escalate(context, (message) => overdueBecause(message, context.now));
}

/** Escalates the urgent mail that a session has not read when it ends. */
export function escalateOnLeaving(context: RuleContext, session: Session): Draft[] {
  const reader = { kind: session.kind, name: session.agent };
  return escalate(context, (message) => {
    const { type, priority, disposition } = message;
    const isLeft = !isAnswered(message) && sideOf(message, reader) === 'to';
    if (isLeft && type !== 'notify' && priority !== 'P2' && disposition !== 'deferred')
      return `${session.agent} ended ${session.id} without reading it.`;
    return overdueBecause(message, context.now);
  });
}

function escalate({ state }: RuleContext, whyOf: (message: Message) => string | null): Draft[] {
  const drafts: Draft[] = [];
  let [notices, notes] = [0, 0];
  for (const message of state.messages.values()) {
    // There is nobody above the maintainer.
    if (message.escalated || isSameName(message.to, MAINTAINER)) continue;
    const why = whyOf(message);
    if (why === null) continue;
    const { id, alias, from, to, subject, priority } = message;
    const name = alias === undefined ? id : `${alias} (${id})`;
    const notice = priority === 'P2' ? undefined : nextId(state, 'M', notices++);
    drafts.push(draft('message.escalated', { id, why, notice }, 'verified'));
    if (notice) {
      const text = `${why} ${priority} from ${from} to ${to}: ${subject}`;
      const about = { subject: `Escalated: ${name}, ${subject}`, body: text, about: id };
      const kind = { type: 'notify', priority: 'P0' } as const;
      drafts.push(draft('message.sent', { id: notice, from, to: MAINTAINER, ...kind, ...about }, 'verified'));
    }
    const entry = `Escalated: ${name} — ${subject} — ${why}`;
    drafts.push(draft('note.added', { id: nextId(state, 'N', notes++), text: entry, kind: 'worklog' }, 'verified'));
  }
  return drafts;
}

export function replyToMessage(context: RuleContext, { id, body }: CommandOf<'message.reply'>): Draft[] {
  mustBeActive(context);
  const message = messageOf(context, id);
  if (message.status === 'closed') {
    throw new Fault('illegal', `${message.id} is closed.`, { hints: ['Send a new one with `holdfast mail send`.'] });
  }
  const isTaken = sideOf(message, context.actor) === 'to';
  return [
    draft('message.replied', { id: message.id, from: context.actor.name, body }),
    ...(isTaken ? closeEscalation(context, message, 'answered') : []),
  ];
}

function messageOf(context: RuleContext, reference: string): Message {
  const { messages } = context.state;
  const found =
    messages.get(reference) ??
    [...messages.values()].find((message) => message.alias === reference) ??
    context.recall('message', reference);
  if (found) return found;
  throw notFound('message', reference, messages.keys(), 'See your mail with `holdfast mail inbox`.');
}
