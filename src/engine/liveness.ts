import type { Session, State } from '../core/fold/state.ts';
import type { Owner } from '../core/journal/event.ts';
import { addMs } from '../core/time.ts';
import type { Liveness } from '../core/views/liveness.ts';
import type { Presence } from '../store/presence.ts';

/** Whether the process that owns a session is alive; undefined when that cannot be determined from here. */
export type Probe = (owner: Owner, session: string) => 'alive' | 'dead' | undefined;

/** What a look at a session needs. */
export type Watched = Pick<Session, 'id' | 'seenAt' | 'leaseMs' | 'owner'>;

/** What is known about the sessions of a run beside the journal. With `exact` false, only what a rule could need. */
export async function readLiveness(
  presence: Presence,
  probe: Probe,
  { run, sessions }: { run: string | null; sessions: readonly Watched[] },
  now: string,
  exact: boolean,
): Promise<Liveness> {
  // A heartbeat matters to a rule only if the lease since the last event has run out.
  const asked = exact ? sessions.length > 0 : sessions.some(({ seenAt, leaseMs }) => addMs(seenAt, leaseMs) <= now);
  const beats = asked && run !== null ? await presence.beats(run) : new Map<string, string>();
  // The system is asked only about sessions that a rule looks at: most commands look at none.
  const owners = {
    get: (id: string) => {
      const owner = sessions.find((session) => session.id === id)?.owner;
      return owner ? probe(owner, id) : undefined;
    },
  };
  return { now, beats, owners };
}

export const watchedIn = ({ run, sessions }: State): { run: string | null; sessions: Watched[] } => ({
  run: run?.id ?? null,
  sessions: [...sessions.values()],
});
