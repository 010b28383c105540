import { evolve } from '../core/fold/evolve.ts';
import type { Session, State } from '../core/fold/state.ts';
import { forkState } from '../core/fold/state-tables.ts';
import type { Draft, Event, EventBody } from '../core/journal/event.ts';
import type { Decided } from '../core/rules/decide.ts';
import type { Store } from '../store/store.ts';

/** The moment a snapshot is taken: all of the journal that it speaks of. */
export interface SnapshotMoment {
  run: string;
  at: string;
  /** The version its event gets. */
  version: number;
  taken: EventBody<'snapshot.taken'>;
  session: Session;
  /** With what the session ended, where it ended with this very command. */
  ended: EventBody<'session.ended'> | null;
  /** Before the command; the session is still active in it. */
  before: State;
  /** As it will stand when the snapshot is recorded. */
  state: State;
  /** What the session recorded, as far back as anybody looks. */
  events: readonly Event[];
}

export type DescribeSnapshot = (moment: SnapshotMoment) => Promise<{ text: string; token: string } | null>;

/**
 * Puts into each snapshot what it says, and the token over it. This happens at the version that was read: if somebody is
 * quicker, the command is decided again and the snapshot written again.
 */
export async function describeSnapshots(
  decided: Decided,
  { store, run, state, at }: { store: Store; run: string; state: State; at: string },
  describe: DescribeSnapshot,
): Promise<Decided> {
  const work = forkState(state);
  const drafts: Draft[] = [];
  for (const draft of decided.drafts) {
    const version = work.version + 1;
    let next = draft;
    if (draft.type === 'snapshot.taken') {
      const { body: taken } = draft;
      const session = state.sessions.get(taken.session) ?? work.sessions.get(taken.session);
      const events = session ? await eventsOf(store, run, session, state.version) : [];
      const ends = drafts.flatMap((one) => (one.type === 'session.ended' ? [one.body] : []));
      const ended = ends.find((end) => end.id === taken.session) ?? null;
      const told = session
        ? await describe({ run, at, version, taken, session, ended, before: state, state: forkState(work), events })
        : null;
      if (told) next = { ...draft, body: { ...taken, ...told } };
    }
    drafts.push(next);
    const { actor, session } = decided;
    evolve(work, {
      ...next,
      run,
      version,
      at,
      actor,
      session,
      key: null,
      previous: '',
      hash: '',
      bodyHash: '',
    } as Event);
  }
  return { ...decided, drafts };
}

const PAGE = 2000;
/** A session among a million events of others is told by its last ones. */
const EVENTS_LIMIT = 20_000;

async function eventsOf(store: Store, run: string, session: Session, until: number): Promise<Event[]> {
  const found: Event[] = [];
  let after = Math.max(session.startedVersion - 1, until - EVENTS_LIMIT);
  while (after < until) {
    const page = await store.read(run, after, Math.min(PAGE, until - after));
    found.push(...page.filter((event) => event.session === session.id));
    after = page.at(-1)?.version ?? until;
  }
  return found;
}
