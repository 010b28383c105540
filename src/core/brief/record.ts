import type { Excerpt } from '../fold/conversation.ts';
import type { Session, State } from '../fold/state.ts';
import { openQuestion } from '../views/left.ts';
import type { Role } from '../words.ts';
import type { BriefForm } from './facts.ts';

/** Who reads the brief. */
export interface BriefReader {
  session: string | null;
  agent: string | null;
  /** The reader is a person. */
  person?: boolean | undefined;
  /** The client's name of the reader's conversation. */
  conversation?: string | null | undefined;
  /** The reader's session has already worked in the run. */
  isAtWork?: boolean | undefined;
  role?: Role | undefined;
}

/** The turn that a brief is about: who worked last, whether the agent has stopped, and what it said. */
export interface TurnRecord {
  session: Session;
  isOpen: boolean;
  beganAt: string;
  /** When it ended, or when its session was seen last. */
  endedAt: string;
  /** The client reported the end of the session before that of the turn. */
  endedFirst: boolean;
  /** The user was asked something, or shown a plan. */
  asks: 'answer' | 'approval' | null;
  failure: { reason: 'rate-limit' | 'error'; message: string } | null;
  said: Excerpt | null;
}

/**
 * The latest turn among the sessions of a run; one that is alive wins. A reader whose session has only just begun is left
 * aside, and one whose client resumes its conversation gets its own last turn. Null if nobody has worked on the run.
 */
export function lastTurn(
  state: State,
  sessions: readonly Session[],
  reader: BriefReader,
  form: BriefForm,
  isAlive: (session: string) => boolean,
): TurnRecord | null {
  const isOwn = ({ id, client }: Session): boolean =>
    id === reader.session || (client !== null && client.id === reader.conversation);
  const worked = sessions.filter((session) => session.parent === null && hasWorked(session));
  // With its first prompt a conversation that is resumed has a new session.
  const own = worked.filter((session) => isOwn(session) && !(session.id === reader.session && isAlive(session.id)));
  const others = worked.filter((session) => session.id !== reader.session);
  const isOnly = form === 'joined' && others.length === 0;
  const shown =
    form === 'returned' && own.length > 0
      ? own
      : form === 'compacted' || reader.isAtWork === true || isOnly
        ? worked
        : others;
  const working = (session: Session): number => Number(isInTurn(session) && isAlive(session.id));
  const [last] = [...shown].sort((a, b) => working(b) - working(a) || versionOf(b) - versionOf(a));
  return last ? recordOf(state, last) : null;
}

/** A window in which nothing was asked is not work, and neither is a session that another process of it continued at once. */
const hasWorked = ({ turn, isResting, seenAt, startedAt, status }: Session): boolean =>
  status !== 'superseded' && (turn !== null || !isResting || seenAt !== startedAt);

const versionOf = ({ turn, startedVersion }: Session): number => turn?.version ?? startedVersion;

/** A session without turns counts as one, from its start to its end. */
function isInTurn({ turn, status, isResting }: Session): boolean {
  if (turn) return turn.endedAt === null;
  return status === 'active' ? !isResting : status === 'crashed' && !isResting;
}

function recordOf(state: State, session: Session): TurnRecord {
  const { turn } = session;
  const isOpen = isInTurn(session);
  const question = [...state.effects.values()].find(({ asks, session: by }) => asks && by === session.id);
  const asked = question ?? (state.turn?.session === session.id ? openQuestion(state) : null);
  const endedAt = turn?.endedAt ?? session.seenAt;
  const words = turn?.said && !isOpen ? { text: turn.said, session: session.id, at: endedAt } : null;
  return {
    session,
    isOpen,
    beganAt: turn?.beganAt ?? session.startedAt,
    endedAt: asked?.at ?? endedAt,
    endedFirst: isOpen && session.status !== 'active' && session.status !== 'crashed',
    asks: asked ? (asked.asks === 'plan' ? 'approval' : 'answer') : turn?.asks && !isOpen ? 'answer' : null,
    failure: turn?.outcome === 'failed' ? (turn.failure ?? null) : null,
    said: words ?? state.said,
  };
}

export interface RecordedRequest extends Excerpt {
  /** The question that it answers. */
  question: string | null;
  which: 'current' | 'latest' | 'first';
}

/** The current request, the newest one after it, the first one if it is another: in this order. */
export function requestsOf({ requests: { current, latest, first } }: State): RecordedRequest[] {
  const all = [
    ...(current ? [{ ...current, which: 'current' as const }] : []),
    ...(latest && latest.version !== current?.version ? [{ ...latest, which: 'latest' as const }] : []),
    ...(first && first.version !== current?.version && first.version !== latest?.version
      ? [{ ...first, which: 'first' as const }]
      : []),
  ];
  return all.map(({ text, session, at, question, which }) => ({ text, session, at, question, which }));
}

/** The event from which files, commands and to-do entries count: the request that opened the run, or came when it was finished. */
export const countsFrom = ({ requests: { current, first } }: State): number =>
  current && current.version !== first?.version ? current.version : 0;
