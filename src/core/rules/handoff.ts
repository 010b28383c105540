import { Fault, notFound } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { Handoff, Message, Session, State } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft, EventBody } from '../journal/event.ts';
import { isSameName } from '../names.ts';
import { isOpenOffer } from '../views/offer.ts';
import {
  draft,
  isMaintainer,
  mustAllow,
  mustBeActive,
  mustBePerson,
  mustHaveSession,
  type RuleContext,
} from './rule-context.ts';

/**
 * An agent offers its own steps; a person can offer those of another session. The receiver gets a message that points to
 * the offer and to the snapshot it needs to continue.
 */
export function offerHandoff(
  context: RuleContext,
  { to, from, message, attachment, snapshot, mark }: CommandOf<'handoff.offer'>,
): Draft[] {
  mustBeActive(context);
  const sender = from ? sessionOf(context, from) : mustHaveSession(context);
  if (sender.id !== context.session?.id)
    mustBePerson(context, 'offer the work of another session', `holdfast handoff --to ${to} --from ${sender.id}`);
  const steps = [...context.state.steps.values()].filter(
    (step) =>
      step.status === 'in_progress' &&
      (step.holder ? step.holder.session === sender.id : step.lastSession === sender.id),
  );
  const open = [...context.state.handoffs.values()].find((one) => one.from === sender.id && one.status !== 'accepted');
  if (open) {
    throw new Fault('illegal', `${open.id} offers the work of ${sender.id} to ${open.to} already.`, {
      hints: [`Take it back first with \`holdfast handoff withdraw ${open.id}\`.`],
      data: { handoff: open.id },
    });
  }
  const id = nextId(context.state, 'H');
  const keys = steps.map((step) => step.key);
  const isHere = context.state.sessions.has(sender.id);
  const taken = snapshot === undefined && isHere ? snapshotOf(context.state, sender, { mark }) : null;
  const left = snapshot ?? (taken?.type === 'snapshot.taken' ? taken.body.id : undefined);
  const what = keys.length > 0 ? keys.join(', ') : 'its work';
  return [
    ...closeDeclined(context),
    ...(taken ? [taken] : []),
    draft('message.sent', {
      id: nextId(context.state, 'M'),
      from: context.actor.name,
      to,
      type: 'handoff-ready',
      priority: 'P1',
      subject: `${sender.agent} (${sender.id}) hands over ${what}`,
      body: [
        ...(message === undefined ? [] : [message]),
        `Read the snapshot${left === undefined ? '' : ` ${left}`} and the files it lists; accept with \`holdfast handoff accept ${id}\`.`,
        ...(attachment === undefined ? [] : [attachment]),
      ].join('\n\n'),
      about: id,
    }),
    draft('handoff.offered', {
      id,
      from: sender.id,
      to,
      steps: keys,
      message,
      snapshot: left,
      head: mark?.head ?? undefined,
    }),
  ];
}

/** The acceptance moves the fencing number and supersedes the sender's session in one decision. */
export function acceptHandoff(context: RuleContext, { id }: CommandOf<'handoff.accept'>): Draft[] {
  mustBeActive(context);
  const handoff = handoffOf(context, id);
  const session = mustHaveSession(context);
  if (handoff.status === 'accepted' && handoff.acceptedBy === session.id) return [];
  if (!isOpenOffer(context.state, handoff))
    mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'accept', takenBy(context.state, handoff));
  mustReceive(context, handoff);
  if (handoff.from === session.id) {
    throw new Fault('illegal', `${handoff.id} offers the work of ${session.id} itself.`, {
      hints: [`Continue it, or take the offer back with \`holdfast handoff withdraw ${handoff.id}\`.`],
      data: { handoff: handoff.id, session: session.id },
    });
  }
  const claims = handoff.steps
    .filter((key) => {
      const step = context.state.steps.get(key);
      return step?.status === 'in_progress' && (step.holder === null || step.holder.session === handoff.from);
    })
    .map((step, index) => ({ step, claim: nextId(context.state, 'L', index) }));
  const sender = context.state.sessions.get(handoff.from);
  return [
    ...(sender ? finishHandoffsOf(context, sender, `handed on in ${handoff.id}`) : []),
    ...(sender ? [draft('session.ended', { id: sender.id, reason: 'superseded' }, 'verified')] : []),
    draft('handoff.accepted', { id: handoff.id, session: session.id, claims }),
    ...moveOfferMessage(context, handoff, 'acknowledged', `Accepted ${handoff.id}.`),
  ];
}

/** Tells the second of two receivers who was first. */
function takenBy(state: State, { acceptedBy }: Handoff): string[] {
  if (acceptedBy === null) return [];
  const session = state.sessions.get(acceptedBy);
  return [`It was accepted by ${session ? `${session.agent} (${acceptedBy})` : acceptedBy}.`];
}

/** Moves the message of an offer, if it is open and the actor is its receiver. */
function moveOfferMessage(
  context: RuleContext,
  handoff: Handoff,
  to: 'acknowledged' | 'actioned',
  note: string,
): Draft[] {
  const sent = offerMessage(context, handoff);
  if (!sent || !isSameName(sent.to, context.actor.name) || sent.status === to || sent.status === 'actioned') return [];
  return [draft('message.moved', { id: sent.id, to, note })];
}

function offerMessage({ state }: Pick<RuleContext, 'state'>, { id }: Handoff): Message | undefined {
  return [...state.messages.values()].find((message) => message.about === id && message.type === 'handoff-ready');
}

/** Holdfast sent this message and the sender's session is over, so it must be closed here: open mail stays in folded state. */
function closeOfferMessage(context: Pick<RuleContext, 'state'>, handoff: Handoff, note: string): Draft[] {
  const sent = offerMessage(context, handoff);
  return sent ? [draft('message.moved', { id: sent.id, to: 'closed', note, disposition: 'resolved' })] : [];
}

/** A sender that offers again has read that the offer was declined. */
function closeDeclined({ state, actor }: RuleContext): Draft[] {
  return [...state.messages.values()]
    .filter(({ type, status, from }) => type === 'handoff-ready' && status === 'actioned' && from === actor.name)
    .map(({ id }) => draft('message.moved', { id, to: 'closed', note: 'Offered again.', disposition: 'superseded' }));
}

/** Records, when a session ends, the outcome of the handoffs it accepted and made progress on. */
export function finishHandoffsOf(context: Omit<RuleContext, 'plan'>, session: Session, how: string): Draft[] {
  const taken = [...context.state.handoffs.values()].filter(
    (one) => one.status === 'accepted' && one.acceptedBy === session.id && one.progressAt !== null,
  );
  return taken.flatMap((handoff) => {
    const steps = handoff.steps.map((key) => {
      const step = context.state.steps.get(key);
      const at = step?.checkpoint ? ` at ${step.checkpoint.name}` : '';
      return `${key} ${step ? step.status.replace('_', ' ') : 'removed'}${at}`;
    });
    const outcome = [`${how}.`, ...(steps.length > 0 ? [`${steps.join(', ')}.`] : [])].join(' ');
    return [
      draft('handoff.finished', { id: handoff.id, outcome }, 'verified'),
      ...closeOfferMessage(context, handoff, outcome),
    ];
  });
}

export function clarifyHandoff(context: RuleContext, { id, question }: CommandOf<'handoff.clarify'>): Draft[] {
  const handoff = handoffOf(context, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'clarify');
  mustReceive(context, handoff);
  const sent = offerMessage(context, handoff);
  const asked = sent && isSameName(sent.to, context.actor.name) ? sent : null;
  return [
    draft('handoff.clarified', { id: handoff.id, question }),
    // The sender gets the question as a reply.
    ...(asked ? [draft('message.replied', { id: asked.id, from: context.actor.name, body: question })] : []),
  ];
}

export function declineHandoff(context: RuleContext, { id, reason }: CommandOf<'handoff.decline'>): Draft[] {
  const handoff = handoffOf(context, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'decline');
  mustReceive(context, handoff);
  return [
    draft('handoff.declined', { id: handoff.id, reason }),
    ...moveOfferMessage(context, handoff, 'actioned', `Declined: ${reason}`),
  ];
}

export function withdrawHandoff(context: RuleContext, { id, reason }: CommandOf<'handoff.withdraw'>): Draft[] {
  const handoff = handoffOf(context, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'withdraw');
  if (!isSameName(handoff.by, context.actor.name) && !isMaintainer(context)) {
    throw new Fault('not_allowed', `${handoff.id} was offered by ${handoff.by}; only they or a person take it back.`, {
      hints: [`Decline it with \`holdfast handoff decline ${handoff.id}\` if it was offered to you.`],
    });
  }
  const sent = offerMessage(context, handoff);
  const note = reason ?? `${handoff.id} was withdrawn.`;
  return [
    draft('handoff.withdrawn', { id: handoff.id, reason }),
    ...(sent ? [draft('message.moved', { id: sent.id, to: 'closed', note, disposition: 'withdrawn' })] : []),
  ];
}

export function finishHandoff(context: RuleContext, { id, outcome }: CommandOf<'handoff.finish'>): Draft[] {
  const handoff = handoffOf(context, id);
  mustAllow('handoff', `Handoff ${handoff.id}`, handoff.status, 'finish');
  mustReceive(context, handoff);
  return [draft('handoff.finished', { id: handoff.id, outcome }), ...closeOfferMessage(context, handoff, outcome)];
}

export function takeSnapshot(context: RuleContext, { type: _, ...words }: CommandOf<'snapshot.take'>): Draft[] {
  return [snapshotOf(context.state, mustHaveSession(context), words)];
}

type Closing = Omit<EventBody<'snapshot.taken'>, 'id' | 'session' | 'agent' | 'sequence' | 'token' | 'text'>;

/** Ids and sequence numbers follow the snapshots that the same decision takes before. The engine adds the text. */
export function snapshotOf(state: State, session: Session, closing: Closing, before: readonly Draft[] = []): Draft {
  const taken = before.flatMap((one) => (one.type === 'snapshot.taken' ? [one.body] : []));
  const last = state.snapshotSequences.get(session.agent) ?? 0;
  const sequence = last + 1 + taken.filter((one) => one.agent === session.agent).length;
  const mark = closing.mark ? { ...closing.mark, dirty: undefined } : undefined;
  const id = nextId(state, 'P', taken.length);
  const body = { id, session: session.id, agent: session.agent, sequence, ...closing, mark };
  return draft('snapshot.taken', body, closing.reconstructed ? 'verified' : 'declared');
}

function mustReceive(context: RuleContext, handoff: Handoff): void {
  if (isSameName(handoff.to, context.actor.name) || isMaintainer(context)) return;
  throw new Fault('not_allowed', `${handoff.id} is offered to ${handoff.to}; you are ${context.actor.name}.`, {
    hints: [
      `Ask for it: a person can offer it to you with \`holdfast handoff --to ${context.actor.name} --from ${handoff.from}\`.`,
    ],
    data: { handoff: handoff.id, to: handoff.to },
  });
}

function handoffOf(context: RuleContext, reference: string): Handoff {
  const found = context.state.handoffs.get(reference) ?? context.recall('handoff', reference);
  if (found) return found;
  throw notFound('handoff', reference, context.state.handoffs.keys(), 'See them with `holdfast handoff list`.');
}

function sessionOf(context: RuleContext, reference: string): Session {
  const found = context.state.sessions.get(reference) ?? context.recall('session', reference);
  if (found) return found;
  throw notFound('session', reference, context.state.sessions.keys(), 'See them with `holdfast sessions`.');
}
