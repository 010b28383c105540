import { evolve } from '../core/fold/evolve.ts';
import type { Session, State } from '../core/fold/state.ts';
import { forkState } from '../core/fold/state-tables.ts';
import type { Draft, Event, EventBody } from '../core/journal/event.ts';
import type { Decided } from '../core/rules/decide.ts';
import { provisionalEvent } from '../core/rules/rule-context.ts';
import type { Journal } from '../store/journal.ts';
import { eventPages } from './event-pages.ts';

/** The moment a snapshot is taken: everything in the journal it can mention. */
export interface SnapshotMoment {
  run: string;
  at: string;
  /** The version its event gets. */
  version: number;
  taken: EventBody<'snapshot.taken'>;
  session: Session;
  /** How the session ended, if this command ended it. */
  ended: EventBody<'session.ended'> | null;
  /** Before the command; the session is still active in it. */
  before: State;
  /** As it will be when the snapshot is recorded. */
  state: State;
  /** The events of the session, the last ones if there are very many. */
  events: readonly Event[];
}

export type DescribeSnapshot = (moment: SnapshotMoment) => Promise<{ text: string; token: string } | null>;

/**
 * Adds its text, and the token over it, to each snapshot. This happens at the version that was read: if another process
 * is faster, the command is decided again and the text is written again.
 */
export async function describeSnapshots(
  decided: Decided,
  { journal, run, state, at }: { journal: Journal; run: string; state: State; at: string },
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
      const events = session ? await eventsOf(journal, run, session, state.version) : [];
      const ends = drafts.flatMap((one) => (one.type === 'session.ended' ? [one.body] : []));
      const ended = ends.find((end) => end.id === taken.session) ?? null;
      const described = session
        ? await describe({ run, at, version, taken, session, ended, before: state, state: forkState(work), events })
        : null;
      if (described) next = { ...draft, body: { ...taken, ...described } };
    }
    drafts.push(next);
    evolve(work, provisionalEvent(next, work, at, decided));
  }
  return { ...decided, drafts };
}

/** A snapshot of a session among very many events of others shows only its last ones. */
const EVENTS_LIMIT = 20_000;

async function eventsOf(journal: Journal, run: string, session: Session, upTo: number): Promise<Event[]> {
  const found: Event[] = [];
  const after = Math.max(session.startedVersion - 1, upTo - EVENTS_LIMIT);
  for await (const page of eventPages(journal, run, { after, upTo })) {
    found.push(...page.filter((event) => event.session === session.id));
  }
  return found;
}
