import type { Session, State } from '../fold/state.ts';
import { addMs } from '../time.ts';

/** What is known about sessions beside the journal: heartbeats, and whether their processes run. */
export interface Liveness {
  now: string;
  beats: ReadonlyMap<string, string>;
  /** Whether the owner process runs, for sessions whose owner is known. */
  owners: { get(session: string): 'alive' | 'dead' | undefined };
}

type Leased = Pick<Session, 'id' | 'seenAt' | 'leaseMs'>;

/** When the lease of a session ends. Every event and heartbeat renews it. */
export function leaseEnd(session: Leased, liveness: Liveness): string {
  const beat = liveness.beats.get(session.id);
  const seen = beat && beat > session.seenAt ? beat : session.seenAt;
  return addMs(seen, session.leaseMs);
}

/** A session is gone if its owner process is dead, or if its lease ran out and its owner is not known. */
export function isGone(session: Leased, liveness: Liveness): boolean {
  const owner = liveness.owners.get(session.id);
  if (owner) return owner === 'dead';
  return leaseEnd(session, liveness) <= liveness.now;
}

/** Whether nothing is lost if the session is gone: its turn is over, and no command or subagent that it waits for is running. */
export function isAtRest(state: State, session: Session): boolean {
  if (!session.isResting) return false;
  for (const effect of state.effects.values()) if (effect.session === session.id && !effect.background) return false;
  return [...state.sessions.values()].every((one) => one.parent !== session.id || isAtRest(state, one));
}
