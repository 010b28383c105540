import { Fault, notFound } from '../fault.ts';
import { type Message, nextId, type Session } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { isAnswered, MAINTAINER, newsFor, overdueBecause, sideOf } from '../views/mail.ts';
import { moveBetween, movesFrom, type Who } from './lifecycle.ts';
import { draft, isMaintainer, mustBeActive, mustBePerson, type Scene } from './rule-context.ts';

export function sendMessage(scene: Scene, { messageType, type: _, ...body }: CommandOf<'message.send'>): Draft[] {
  mustBeActive(scene);
  return [draft('message.sent', { id: nextId(scene.state, 'M'), from: scene.actor.name, ...body, type: messageType })];
}

/**
 * The receiver takes a message on, the sender or a person closes it; a notice may be closed by anybody. To acknowledge
 * what the other side said since moves nothing: it is heard.
 */
export function moveMessage(scene: Scene, command: CommandOf<'message.move'>): Draft[] {
  mustBeActive(scene);
  const { to, note, disposition } = command;
  const message = messageOf(scene, command.id);
  if (disposition === 'deferred') return deferMessage(scene, message, note);
  const heard = to === 'acknowledged' ? hear(scene, message, note) : null;
  if (heard) return heard;
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
  mustBeAllowed(scene, message, to, move.who);
  if (disposition === 'abandoned') mustBeAbandonable(scene, message);
  return [draft('message.moved', { id: message.id, to, note, disposition }), ...closeNotice(scene, message, to)];
}

/** Null where there is nothing to hear, or where the message itself is still to be taken on. */
function hear(scene: Scene, message: Message, note: string): Draft[] | null {
  const side = sideOf(message, scene.actor);
  if (side === null || message.status === 'closed' || newsFor(message, side).length === 0) return null;
  if (side === 'to' && moveBetween('message', message.status, 'acknowledged')) return null;
  return [draft('message.heard', { id: message.id, side, note })];
}

function mustBeAllowed(scene: Scene, message: Message, to: string, who: Who): void {
  const { actor } = scene;
  const may =
    who === 'receiver'
      ? sideOf(message, actor) === 'to'
      : isMaintainer(scene) || actor.name === message.from || message.type === 'notify';
  if (may) return;
  const whoMay = who === 'receiver' ? message.to : `${message.from} or a person`;
  throw new Fault('not_allowed', `${message.id} can be made ${to} only by ${whoMay}; you are ${actor.name}.`, {
    hints: [`Write to ${message.from} with \`holdfast mail reply ${message.id} --body …\`.`],
    data: { id: message.id, actor, who: whoMay },
  });
}

/** A person gives a message up only after it was escalated and two more sittings have gone by. */
function mustBeAbandonable(scene: Scene, { id, escalated }: Message): void {
  const { state } = scene;
  if (!isMaintainer(scene)) {
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

/** What told the maintainer that a message was stale is of no more use once somebody took it on. */
function closeNotice({ state, actor }: Scene, { id, escalated }: Message, to: string): Draft[] {
  const notice = escalated?.notice ? state.messages.get(escalated.notice) : undefined;
  if (!notice) return [];
  const note = `${id} is ${to} by ${actor.name}.`;
  return [draft('message.moved', { id: notice.id, to: 'closed', note, disposition: 'resolved' }, 'verified')];
}

/** A deferred message stays where it is, by a person's word. */
function deferMessage(scene: Scene, message: Message, note: string): Draft[] {
  if (message.status === 'closed') {
    throw new Fault('illegal', `${message.id} is closed: it cannot be deferred.`, {
      hints: ['A closed message is never opened again; send a new one.'],
      data: { id: message.id, from: message.status, to: message.status, legal: [] },
    });
  }
  mustBePerson(scene, 'defer a message', `holdfast mail close ${message.id} --as deferred --note …`);
  if (message.disposition === 'deferred') return [];
  return [draft('message.moved', { id: message.id, to: message.status, note, disposition: 'deferred' })];
}

/** Tells the maintainer of mail that nobody took on in time, once a message. */
export function escalateMail(scene: Scene): Draft[] {
  mustBeActive(scene);
  return escalate(scene, (message) => overdueBecause(message, scene.now));
}

/** A session that ends over mail it has not read leaves what presses to the maintainer. */
export function escalateOnLeaving(scene: Scene, session: Session): Draft[] {
  const reader = { kind: session.kind, name: session.agent };
  return escalate(scene, (message) => {
    const { type, priority, disposition } = message;
    const isLeft = !isAnswered(message) && sideOf(message, reader) === 'to';
    if (isLeft && type !== 'notify' && priority !== 'P2' && disposition !== 'deferred')
      return `${session.agent} ended ${session.id} without reading it.`;
    return overdueBecause(message, scene.now);
  });
}

function escalate({ state }: Scene, whyOf: (message: Message) => string | null): Draft[] {
  const drafts: Draft[] = [];
  let [notices, notes] = [0, 0];
  for (const message of state.messages.values()) {
    // Above the maintainer is nobody.
    if (message.escalated || message.to === MAINTAINER) continue;
    const why = whyOf(message);
    if (why === null) continue;
    const { id, from, to, subject, priority } = message;
    const notice = priority === 'P2' ? undefined : nextId(state, 'M', notices++);
    drafts.push(draft('message.escalated', { id, why, notice }, 'verified'));
    if (notice) {
      const text = `${why} ${priority} from ${from} to ${to}: ${subject}`;
      const about = { subject: `Escalated: ${id}, ${subject}`, body: text, about: id };
      const kind = { type: 'notify', priority: 'P0' } as const;
      drafts.push(draft('message.sent', { id: notice, from, to: MAINTAINER, ...kind, ...about }, 'verified'));
    }
    const entry = `Escalated: ${id} — ${subject} — ${why}`;
    drafts.push(draft('note.added', { id: nextId(state, 'N', notes++), text: entry, kind: 'worklog' }, 'verified'));
  }
  return drafts;
}

export function replyToMessage(scene: Scene, { id, body }: CommandOf<'message.reply'>): Draft[] {
  mustBeActive(scene);
  const message = messageOf(scene, id);
  if (message.status === 'closed') {
    throw new Fault('illegal', `${message.id} is closed.`, { hints: ['Send a new one with `holdfast mail send`.'] });
  }
  const isTaken = sideOf(message, scene.actor) === 'to';
  return [
    draft('message.replied', { id: message.id, from: scene.actor.name, body }),
    ...(isTaken ? closeNotice(scene, message, 'answered') : []),
  ];
}

function messageOf(scene: Scene, reference: string): Message {
  const { messages } = scene.state;
  const found =
    messages.get(reference) ??
    [...messages.values()].find((message) => message.alias === reference) ??
    scene.recall('message', reference);
  if (found) return found;
  throw notFound('message', reference, messages.keys(), 'See your mail with `holdfast mail inbox`.');
}
