import type { Handoff, State } from '../fold/state.ts';
import { isSameName } from '../names.ts';

/** A handoff that its receiver can accept. */
export interface Offer {
  id: string;
  by: string;
  session: string;
  steps: readonly string[];
  message: string | null;
  snapshot: string | null;
  at: string;
  /** Events recorded since the offer. */
  eventsSince: number;
  question: string | null;
}

export function offersTo(state: State, agent: string | null): Offer[] {
  const open = [...state.handoffs.values()].filter(
    (one) => agent !== null && isSameName(one.to, agent) && isOpenOffer(state, one),
  );
  return open.map(({ id, by, from, steps, message, snapshot, at, version, question }) => ({
    id,
    by,
    session: from,
    steps,
    message: message ?? null,
    snapshot: snapshot ?? null,
    at,
    eventsSince: state.version - version,
    question,
  }));
}

/** An offer is open until it is accepted, and again if the session that accepted it is gone without progress. */
export function isOpenOffer(state: State, { status, acceptedBy, progressAt }: Handoff): boolean {
  if (status !== 'accepted') return status === 'offered' || status === 'clarifying';
  return progressAt === null && acceptedBy !== null && !state.sessions.has(acceptedBy);
}
