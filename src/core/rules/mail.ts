import type { CommandOf } from '../command.ts';
import type { Draft } from '../event.ts';
import { Fault, notFound } from '../fault.ts';
import { moveBetween, movesFrom } from '../lifecycle.ts';
import { type Message, nextId } from '../state.ts';
import { draft, isMaintainer, mustBeActive, mustBePerson, type Scene } from './scene.ts';

export function sendMessage(scene: Scene, { messageType, type: _, ...body }: CommandOf<'message.send'>): Draft[] {
  mustBeActive(scene);
  return [draft('message.sent', { id: nextId(scene.state, 'M'), from: scene.actor.name, ...body, type: messageType })];
}

/** The receiver takes a message on, the sender or a person closes it; a notice may be closed by anybody. */
export function moveMessage(scene: Scene, { id, to, note, disposition }: CommandOf<'message.move'>): Draft[] {
  mustBeActive(scene);
  const message = messageOf(scene, id);
  if (disposition === 'deferred') return deferMessage(scene, message, note);
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
  const { actor } = scene;
  const person = isMaintainer(scene);
  const mayClose = person || actor.name === message.from || message.type === 'notify';
  const may = move.who === 'receiver' ? actor.name === message.to || (person && message.to === 'maintainer') : mayClose;
  if (!may) {
    const who = move.who === 'receiver' ? message.to : `${message.from} or a person`;
    throw new Fault('not_allowed', `${message.id} can be made ${to} only by ${who}; you are ${actor.name}.`, {
      hints: [`Write to ${message.from} with \`holdfast mail reply ${message.id} --body …\`.`],
      data: { id: message.id, actor, who },
    });
  }
  if (disposition === 'abandoned' && !person) {
    throw new Fault('not_allowed', 'Only a person may close a message as abandoned.', {
      hints: ['Close it as resolved, superseded or withdrawn, or ask the person you work for.'],
    });
  }
  return [draft('message.moved', { id: message.id, to, note, disposition })];
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

export function replyToMessage(scene: Scene, { id, body }: CommandOf<'message.reply'>): Draft[] {
  mustBeActive(scene);
  const message = messageOf(scene, id);
  if (message.status === 'closed') {
    throw new Fault('illegal', `${message.id} is closed.`, { hints: ['Send a new one with `holdfast mail send`.'] });
  }
  return [draft('message.replied', { id: message.id, from: scene.actor.name, body })];
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
