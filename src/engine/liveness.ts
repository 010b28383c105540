import type { State } from '../core/fold/state.ts';
import type { Owner } from '../core/journal/event.ts';
import { addMs } from '../core/time.ts';
import type { Liveness } from '../core/views/liveness.ts';
import type { Presence } from '../store/presence.ts';

/** Whether the process that owns a session is alive; undefined when that cannot be determined from here. */
export type Probe = (owner: Owner) => 'alive' | 'dead' | undefined;

/** What is known about sessions beside the journal. With `exact` false, only what a rule could need. */
export async function readLiveness(
  presence: Presence,
  probe: Probe,
  state: State,
  now: string,
  exact: boolean,
): Promise<Liveness> {
  const sessions = [...state.sessions.values()];
  // A heartbeat matters to a rule only if the lease since the last event has run out.
  const asked = exact ? sessions.length > 0 : sessions.some(({ seenAt, leaseMs }) => addMs(seenAt, leaseMs) <= now);
  const beats = asked && state.run ? await presence.beats(state.run.id) : new Map<string, string>();
  // The system is asked only about sessions that a rule looks at: most commands look at none.
  const owners = {
    get: (id: string) => {
      const owner = state.sessions.get(id)?.owner;
      return owner ? probe(owner) : undefined;
    },
  };
  return { now, beats, owners };
}
