import type { CommandOf } from '../command.ts';
import type { Draft } from '../event.ts';
import { Fault, notFound } from '../fault.ts';
import { type Handoff, nextId, type Session } from '../state.ts';
import { draft, isMaintainer, mustAllow, mustBeActive, mustBePerson, mustHaveSession, type Scene } from './scene.ts';

/** An agent offers its own steps; a person can offer those of a session that is gone. */
export function offerHandoff(scene: Scene, { to, from, message, snapshot }: CommandOf<'handoff.offer'>): Draft[] {
  mustBeActive(scene);
  const sender = from ? sessionOf(scene, from) : mustHaveSession(scene);
  if (sender.id !== scene.session?.id)
    mustBePerson(scene, 'offer the work of another session', `holdfast handoff --to ${to} --from ${sender.id}`);
  const steps = [...scene.state.steps.values()].filter(
    (step) =>
      step.status === 'in_progress' &&
      (step.holder ? step.holder.session === sender.id : step.lastSession === sender.id),
  );
  const open = [...scene.state.handoffs.values()].find((one) => one.from === sender.id && one.status !== 'accepted');
  if (open) {
    throw new Fault('illegal', `${open.id} offers the work of ${sender.id} to ${open.to} already.`, {
      hints: [`Take it back first with \`holdfast handoff withdraw ${open.id}\`.`],
      data: { handoff: open.id },
    });
  }
  return [
    draft('handoff.offered', {
      id: nextId(scene.state, 'H'),
      from: sender.id,
      to,
      steps: steps.map((step) => step.key),
      message,
      snapshot,
    }),
  ];
}

/** The fencing number passes with the acceptance; the sender's session is superseded in the same breath. */
export function acceptHandoff(scene: Scene, { id }: CommandOf<'handoff.accept'>): Draft[] {
  mustBeActive(scene);
  const handoff = handoffOf(scene, id);
  const session = mustHaveSession(scene);
  if (handoff.status === 'accepted' && handoff.acceptedBy === session.id) return [];
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'accept');
  mustReceive(scene, handoff);
  if (handoff.from === session.id) {
    throw new Fault('illegal', `${handoff.id} offers the work of ${session.id} itself.`, {
      hints: [`Go on with it, or take the offer back with \`holdfast handoff withdraw ${handoff.id}\`.`],
      data: { handoff: handoff.id, session: session.id },
    });
  }
  const claims = handoff.steps
    .filter((key) => {
      const step = scene.state.steps.get(key);
      return step?.status === 'in_progress' && (step.holder === null || step.holder.session === handoff.from);
    })
    .map((step, index) => ({ step, claim: nextId(scene.state, 'L', index) }));
  const sender = scene.state.sessions.get(handoff.from);
  return [
    ...(sender ? [draft('session.ended', { id: sender.id, reason: 'superseded' }, 'verified')] : []),
    draft('handoff.accepted', { id: handoff.id, session: session.id, claims }),
  ];
}

export function clarifyHandoff(scene: Scene, { id, question }: CommandOf<'handoff.clarify'>): Draft[] {
  const handoff = handoffOf(scene, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'clarify');
  mustReceive(scene, handoff);
  return [draft('handoff.clarified', { id: handoff.id, question })];
}

export function declineHandoff(scene: Scene, { id, reason }: CommandOf<'handoff.decline'>): Draft[] {
  const handoff = handoffOf(scene, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'decline');
  mustReceive(scene, handoff);
  return [draft('handoff.declined', { id: handoff.id, reason })];
}

export function withdrawHandoff(scene: Scene, { id, reason }: CommandOf<'handoff.withdraw'>): Draft[] {
  const handoff = handoffOf(scene, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'withdraw');
  if (handoff.by !== scene.actor.name && !isMaintainer(scene)) {
    throw new Fault('not_allowed', `${handoff.id} was offered by ${handoff.by}; only they or a person take it back.`, {
      hints: [`Decline it with \`holdfast handoff decline ${handoff.id}\` if it was offered to you.`],
    });
  }
  return [draft('handoff.withdrawn', { id: handoff.id, reason })];
}

export function finishHandoff(scene: Scene, { id, outcome }: CommandOf<'handoff.finish'>): Draft[] {
  const handoff = handoffOf(scene, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'finish');
  mustReceive(scene, handoff);
  return [draft('handoff.finished', { id: handoff.id, outcome })];
}

/** The next snapshot of the acting session; the sequence rises per agent. */
export function takeSnapshot(scene: Scene, { type: _, ...words }: CommandOf<'snapshot.take'>): Draft[] {
  const session = mustHaveSession(scene);
  const sequence = (scene.state.snapshotSequences.get(session.agent) ?? 0) + 1;
  return [
    draft('snapshot.taken', {
      id: nextId(scene.state, 'P'),
      session: session.id,
      agent: session.agent,
      sequence,
      ...words,
    }),
  ];
}

function mustReceive(scene: Scene, handoff: Handoff): void {
  if (handoff.to === scene.actor.name || isMaintainer(scene)) return;
  throw new Fault('not_allowed', `${handoff.id} is offered to ${handoff.to}; you are ${scene.actor.name}.`, {
    hints: [
      `Ask for it: a person can offer it to you with \`holdfast handoff --to ${scene.actor.name} --from ${handoff.from}\`.`,
    ],
    data: { handoff: handoff.id, to: handoff.to },
  });
}

function handoffOf(scene: Scene, reference: string): Handoff {
  const found = scene.state.handoffs.get(reference) ?? scene.recall('handoff', reference);
  if (found) return found;
  throw notFound('handoff', reference, scene.state.handoffs.keys(), 'See them with `holdfast handoff list`.');
}

function sessionOf(scene: Scene, reference: string): Session {
  const found = scene.state.sessions.get(reference) ?? scene.recall('session', reference);
  if (found) return found;
  throw notFound('session', reference, scene.state.sessions.keys(), 'See them with `holdfast sessions`.');
}
