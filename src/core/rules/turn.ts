import type { Session } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, mustHaveSession, type RuleContext } from './rule-context.ts';

/** A turn that is still open was interrupted; a question that is still open was not answered in its own way. */
export function beginTurn(context: RuleContext, { type: _, ...body }: CommandOf<'turn.begin'>): Draft[] {
  mustBeActive(context);
  const session = mustHaveSession(context);
  return [...interrupted(session), ...unanswered(context, session), ...began(session, body)];
}

const began = ({ id }: Session, body: Omit<CommandOf<'turn.begin'>, 'type'>): Draft[] => [
  draft('turn.began', { session: id, ...body }, 'verified'),
];

function interrupted({ id, turn }: Session): Draft[] {
  return turn && turn.endedAt === null
    ? [draft('turn.ended', { session: id, outcome: 'interrupted' }, 'verified')]
    : [];
}

function unanswered({ state }: RuleContext, { id }: Session): Draft[] {
  const open = [...state.effects.values()].filter((effect) => effect.session === id && effect.asks);
  const note = 'The user wrote something else.';
  return open.map((effect) => draft('effect.ended', { id: effect.id, outcome: 'cancelled', note }, 'verified'));
}

/**
 * A turn that was never seen to begin gets its beginning here. The same end, reported by two hooks of one client, is
 * recorded once.
 */
export function endTurn(context: RuleContext, { type: _, ...body }: CommandOf<'turn.end'>): Draft[] {
  const session = mustHaveSession(context);
  const { turn, id } = session;
  const isOpen = turn !== null && turn.endedAt === null;
  const isKnown = turn !== null && !isOpen && (body.said === undefined || body.said === turn.said);
  if (isKnown && turn.outcome === body.outcome) return [];
  return [
    ...(isOpen ? [] : [draft('turn.began', { session: id, kind: 'unknown' }, 'verified')]),
    draft('turn.ended', { session: id, ...body }, 'verified'),
  ];
}
