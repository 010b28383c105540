import type { Run, Session, State } from '../fold/state.ts';
import { addMs, inWords, msBetween } from '../time.ts';
import { isGone, type Liveness } from './liveness.ts';
import { type Waiting, waitsForPerson } from './needs-you.ts';
import { type PlanView, planView, readySteps } from './plan.ts';

/** The state of a run in a word and a sentence. It is derived and never stored. */
export interface RunState {
  word: RunStateWord;
  why: string;
}

export type RunStateWord =
  /** A session is active and records work. */
  | 'working'
  /** Work cannot continue until a person has acted. */
  | 'waiting'
  /** Steps remain, and none of them can be started. */
  | 'blocked'
  /** Alive, but nothing recorded for longer than its lease. */
  | 'stuck'
  /** The session is gone in the middle of a step. */
  | 'dead'
  /** Work could continue, but no session is active. */
  | 'paused'
  | Exclude<Run['status'], 'active'>;

/** The state of a session that has not ended. */
export type SessionStateWord = 'working' | 'idle' | 'stuck' | 'dead';

/** A session that is alive but has recorded nothing for longer than its lease is stuck. */
export function sessionStateOf(state: State, session: Session, liveness: Liveness): SessionStateWord {
  if (isGone(session, liveness)) return 'dead';
  if (addMs(session.seenAt, session.leaseMs) <= liveness.now) return 'stuck';
  return stepsHeldBy(state, session.id).length > 0 ? 'working' : 'idle';
}

export function runStateOf(state: State, liveness: Liveness): RunState {
  const { run } = state;
  if (run && run.status !== 'active') return { word: run.status, why: run.reason ?? '' };
  const plan = planView(state);
  const sessions = [...state.sessions.values()].map((session) => ({
    session,
    word: sessionStateOf(state, session, liveness),
    steps: stepsHeldBy(state, session.id),
  }));
  const of = (word: SessionStateWord) => sessions.filter((session) => session.word === word);
  const names = (word: SessionStateWord): string =>
    of(word)
      .map(({ session, steps }) => `${session.agent}${steps.length > 0 ? ` on ${steps.join(', ')}` : ''}`)
      .join('; ');
  if (of('working').length > 0) return { word: 'working', why: names('working') };
  const [quiet] = of('stuck');
  if (quiet) {
    const since = inWords(msBetween(quiet.session.seenAt, liveness.now));
    return { word: 'stuck', why: `${names('stuck')}: alive, but nothing recorded for ${since}` };
  }
  const abandoned = of('dead').filter(({ steps }) => steps.length > 0);
  if (abandoned.length > 0) return { word: 'dead', why: `${names('dead')}: stopped responding` };
  return stateWithoutSessions(state, plan, of('idle').length > 0 ? names('idle') : null);
}

/** For a run in which no session holds a step; `idle` names the sessions that are active without one. */
function stateWithoutSessions(state: State, plan: PlanView, idle: string | null): RunState {
  const waiting = waitsForPerson(state).filter(({ kind }) => kind !== 'escalation');
  if (waiting.length > 0) return { word: 'waiting', why: waiting.map(waitingWords).slice(0, 3).join('; ') };
  const interrupted = plan.leaves.filter((view) => view.interrupted);
  const crashed = interrupted.filter((view) => view.step.crashes > 0);
  if (idle === null && crashed.length > 0) {
    const crashes = crashed.map(({ step }) => `${step.lastAgent ?? 'an agent'} crashed on ${step.key}`);
    return { word: 'dead', why: `${crashes.slice(0, 3).join('; ')}; not taken over` };
  }
  const remains = plan.progress.done < plan.progress.total;
  if (remains && interrupted.length === 0 && (plan.escalated || readySteps(plan).length === 0)) {
    const blockers = [...state.items.values()].filter((item) => item.kind === 'blocker' && item.status === 'active');
    const by = blockers.map((item) => item.id).slice(0, 3);
    return { word: 'blocked', why: by.length > 0 ? `by ${by.join(', ')}` : 'nothing that remains can be started' };
  }
  if (idle !== null) return { word: 'working', why: `${idle}, between steps` };
  if (interrupted.length > 0)
    return { word: 'paused', why: `stopped in the middle of ${interrupted.map(({ step }) => step.key).join(', ')}` };
  const [next] = readySteps(plan);
  // Without a plan only the next action itself can be blocked.
  const told = state.next?.text ?? '';
  const stop = [...state.items.values()].find(
    (one) => one.kind === 'blocker' && one.status === 'active' && told.includes(one.text),
  );
  if (plan.leaves.length === 0 && stop) return { word: 'blocked', why: `by ${stop.id}` };
  return { word: 'paused', why: next ? `${next.step.key} is ready` : 'there is no plan yet' };
}

/** An ended run is history, not work to continue. */
export const isOver = ({ status }: Run): boolean => status === 'archived' || status === 'abandoned';

const waitingWords = ({ kind, id }: Waiting): string => `${kind} ${id}`;

function stepsHeldBy(state: State, session: string): string[] {
  return [...state.steps.values()].filter((step) => step.holder?.session === session).map((step) => step.key);
}
