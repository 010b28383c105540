import type { Run, Session, State } from '../fold/state.ts';
import { addMs, inWords, msBetween } from '../time.ts';
import { isInTurn, leftWords } from './left.ts';
import { isGone, type Liveness } from './liveness.ts';
import { type RunFacts, runFactsOf, type SessionFacts } from './run-facts.ts';

/** The state of a run in a word and a sentence. It is derived and never stored. */
export interface RunState {
  /** What rules compare. */
  state: RunStateName;
  /** What people read. */
  word: RunStateWord;
  why: string;
}

export type RunStateName =
  /** The user was asked, and no turn began since. */
  | 'waiting'
  /** A turn is open and its session is alive. */
  | 'working'
  /** A turn is open and its session is gone. */
  | 'cut off'
  /** No turn is open, and something is left. */
  | 'open'
  /** Planned, and nothing of it was ever begun. */
  | 'not started'
  /** Ad hoc, and nothing is left. */
  | 'finished'
  | Exclude<Run['status'], 'active'>;

export type RunStateWord = Exclude<RunStateName, 'waiting'> | 'needs you' | 'not responding' | 'blocked' | 'idle';

/** The state of a session that has not ended. */
export type SessionStateWord = 'working' | 'idle' | 'not responding' | 'cut off' | 'gone';

/** Alive and silent for longer than its lease: not responding. Gone with its turn over, nothing was cut off. */
export function sessionStateOf(session: SessionFacts, liveness: Liveness): SessionStateWord {
  if (isGone(session, liveness)) return session.isOpen ? 'cut off' : 'gone';
  if (!session.isOpen) return 'idle';
  return addMs(session.seenAt, session.leaseMs) <= liveness.now ? 'not responding' : 'working';
}

/** The same for one session of folded state. */
export function sessionWordOf(state: State, session: Session, liveness: Liveness): SessionStateWord {
  const { id, agent, leaseMs, seenAt, owner } = session;
  const steps = [...state.steps.values()].filter(({ holder }) => holder?.session === id).map(({ key }) => key);
  const isOpen = isInTurn(session);
  return sessionStateOf({ id, agent, leaseMs, seenAt, owner, conversation: null, isOpen, steps }, liveness);
}

export const stateOfRun = (state: State, liveness: Liveness): RunState => runStateOf(runFactsOf(state), liveness);

/** The first that applies, in this order. With several sessions the latest turn counts, and a working one wins. */
export function runStateOf(facts: RunFacts, liveness: Liveness): RunState {
  const { status, waits, turn } = facts;
  if (status === 'abandoned' || status === 'archived' || status === 'moved')
    return { state: status, word: status, why: '' };
  const sessions = facts.sessions.map((session) => ({ session, word: sessionStateOf(session, liveness) }));
  const working = sessions.filter(({ word }) => word === 'working' || word === 'not responding');
  const last = turn?.session;
  if (waits !== null && working.every(({ session }) => session.id === last)) {
    return { state: 'waiting', word: 'needs you', why: waits === 'plan' ? 'a plan was shown' : 'a question was asked' };
  }
  const [alive] = working;
  if (alive) return workingState(working, liveness);
  const cut = cutOff(facts, sessions);
  if (cut !== null) return { state: 'cut off', word: 'cut off', why: cut };
  return restingState(facts);
}

interface NamedSession {
  session: SessionFacts;
  word: SessionStateWord;
}

function workingState(working: readonly NamedSession[], { now }: Liveness): RunState {
  const responding = working.filter(({ word }) => word === 'working');
  const names = (some: readonly NamedSession[]): string =>
    some
      .map(({ session: { agent, steps } }) => (steps.length > 0 ? `${agent} on ${steps.join(', ')}` : agent))
      .join('; ');
  if (responding.length > 0) return { state: 'working', word: 'working', why: names(responding) };
  const since = inWords(msBetween(working[0]?.session.seenAt ?? now, now));
  return {
    state: 'working',
    word: 'not responding',
    why: `${names(working)}: alive, but nothing recorded for ${since}`,
  };
}

/** The last turn is open although its session ended, or a session is gone in its turn and no later turn began. */
function cutOff({ turn, sessions: all }: RunFacts, sessions: readonly NamedSession[]): string | null {
  if (turn !== null && turn.endedAt === null && !all.some(({ id }) => id === turn.session)) {
    return turn.cutBy === 'crashed' ? `${turn.agent} stopped responding` : `${turn.agent} ended before its turn did`;
  }
  const gone = sessions.filter(({ word, session }) => word === 'cut off' && (turn === null || isLatest(turn, session)));
  return gone.length > 0 ? `${gone.map(({ session }) => session.agent).join('; ')}: stopped responding` : null;
}

/** A session without turns has no turn of its own to compare. */
const isLatest = (turn: NonNullable<RunFacts['turn']>, { id, seenAt }: SessionFacts): boolean =>
  turn.session === id || seenAt >= (turn.endedAt ?? turn.beganAt);

function restingState({ kind, status, source, left, forPerson, blockedBy, isBegun, progress }: RunFacts): RunState {
  // Whether a program is done with it is not recorded.
  if (source !== undefined && kind === 'ad-hoc' && left.length === 0)
    return { state: 'finished', word: 'idle', why: '' };
  const remains = kind === 'planned' ? status !== 'completed' : left.length > 0;
  if (!remains || (kind === 'planned' && left.length === 0 && isBegun && progress.total > 0)) {
    const isDone = kind === 'planned';
    return { state: isDone ? 'completed' : 'finished', word: isDone ? 'completed' : 'finished', why: '' };
  }
  const state = left.length === 0 && !isBegun ? 'not started' : 'open';
  if (forPerson.length > 0) return { state, word: 'needs you', why: forPerson.slice(0, 3).join('; ') };
  if (blockedBy !== null) {
    const why = blockedBy.length > 0 ? `by ${blockedBy.slice(0, 3).join(', ')}` : 'nothing that remains can be started';
    return { state, word: 'blocked', why };
  }
  const why = progress.total === 0 && kind === 'planned' ? 'there is no plan yet' : '';
  return { state, word: state, why: left.map(leftWords).slice(0, 4).join(', ') || why };
}

/** Something can still be done in it. Planned runs are unfinished until every step is completed or skipped. */
export function isUnfinished({ state }: RunState, { kind, status, progress }: RunFacts): boolean {
  if (state === 'working' || state === 'cut off' || state === 'waiting' || state === 'open') return true;
  return kind === 'planned' && status === 'active' && (state === 'not started' || progress.done < progress.total);
}

/** An ended run is history, not work to continue. */
export const isOver = ({ status }: Run): boolean => status === 'archived' || status === 'abandoned';
