import type { Item, Session, State } from '../fold/state.ts';
import { type Fixed, fixed, type Line, line } from '../line.ts';
import { isDone, planView } from './plan.ts';

/** Something that is left to do in a run in which no turn is open. */
export interface Left {
  kind: LeftKind;
  count: number;
  /** Ids, step keys or names, the first few. */
  what: readonly string[];
}

export type LeftKind =
  | 'to-do'
  | 'step'
  | 'effect'
  | 'background'
  | 'blocker'
  | 'error'
  | 'question'
  | 'commitment'
  | 'finding'
  | 'handoff'
  | 'failed turn'
  | 'failed command';

/** `2 to-do entries`, `a failed command`, `an uncertain effect`: in briefs, lists and the dashboard. */
export function leftWords({ kind, count }: Pick<Left, 'kind' | 'count'>): Line {
  const { one, many } = nouns[kind];
  return count === 1 ? line`${one}` : line`${count} ${many}`;
}

const nouns: Readonly<Record<LeftKind, { one: Fixed; many: Fixed }>> = {
  'to-do': { one: fixed('a to-do entry'), many: fixed('to-do entries') },
  step: { one: fixed('a step'), many: fixed('steps') },
  effect: { one: fixed('an uncertain effect'), many: fixed('uncertain effects') },
  background: { one: fixed('a background command'), many: fixed('background commands') },
  blocker: { one: fixed('a blocker'), many: fixed('blockers') },
  error: { one: fixed('an error'), many: fixed('errors') },
  question: { one: fixed('a question'), many: fixed('questions') },
  commitment: { one: fixed('a commitment'), many: fixed('commitments') },
  finding: { one: fixed('a finding that must be fixed'), many: fixed('findings that must be fixed') },
  handoff: { one: fixed('an unanswered handoff'), many: fixed('unanswered handoffs') },
  'failed turn': { one: fixed('a failed turn'), many: fixed('failed turns') },
  'failed command': { one: fixed('a failed command'), many: fixed('failed commands') },
};

const NAMED = 3;

export function whatIsLeft(state: State): Left[] {
  const left: Left[] = [];
  const add = (kind: LeftKind, what: readonly string[]): void => {
    if (what.length > 0) left.push({ kind, count: what.length, what: what.slice(0, NAMED) });
  };
  const steps = planView(state).leaves.filter((view) => !isDone(view.status));
  add(
    'to-do',
    steps.filter(({ step }) => isTodo(step.key)).map(({ step }) => step.key),
  );
  if (isBegun(state)) {
    add(
      'step',
      steps.filter(({ step }) => !isTodo(step.key)).map(({ step }) => step.key),
    );
  }
  const effects = [...state.effects.values()].filter((effect) => !effect.asks);
  add(
    'effect',
    effects.filter((effect) => isUncertain(effect) && !effect.background).map(({ id }) => id),
  );
  add(
    'background',
    effects.filter((effect) => effect.background).map(({ id }) => id),
  );
  const items = [...state.items.values()];
  for (const kind of ['blocker', 'error', 'question', 'commitment', 'finding'] as const) {
    add(
      kind,
      items.filter((item) => item.kind === kind && isLeft(item)).map(({ id }) => id),
    );
  }
  const offers = [...state.handoffs.values()].filter(({ status }) => status === 'offered' || status === 'clarifying');
  add(
    'handoff',
    offers.map(({ id }) => id),
  );
  if (state.turn?.outcome === 'failed') add('failed turn', [state.turn.session]);
  const { last } = state.commands;
  if (last?.outcome === 'failed') add('failed command', [last.effect]);
  return left;
}

/** An entry of an agent's to-do list. */
export const isTodo = (key: string): boolean => /^todo-\d+$/.test(key);

/** Whether it is unknown what a command did; repeating one that reads or can be repeated does no harm. */
export const isUncertain = ({ class: effectClass }: { class: string }): boolean =>
  effectClass === 'irreversible' || effectClass === 'unknown';

function isLeft({ kind, status, severity }: Item): boolean {
  if (kind === 'blocker') return status === 'active';
  return status === 'open' && (kind !== 'finding' || severity === 'must_fix');
}

/** Whether someone has worked on the run: a session, or a step that is no longer as planned. */
export function isBegun(state: State): boolean {
  if (state.turn !== null || state.totals.sessions > 0) return true;
  for (const step of state.steps.values()) if (step.status !== 'pending') return true;
  return false;
}

/** Whether a turn is open, in a session that lives or in one that was cut off; `except` is left aside. */
export function hasOpenTurn(state: State, except: string | null = null): boolean {
  if (state.turn !== null && state.turn.session !== except && state.turn.endedAt === null) return true;
  return [...state.sessions.values()].some(
    (session) => session.id !== except && session.parent === null && isInTurn(session),
  );
}

/** A session without turns counts as one turn; version 0.1 recorded that it rests. */
export const isInTurn = ({ turn, isResting }: Session): boolean => (turn === null ? !isResting : turn.endedAt === null);

/** Whether the user was asked and no turn began since: in the last words, or with a tool that asks. */
export function isWaiting(state: State): boolean {
  const { turn } = state;
  if (turn !== null && turn.endedAt !== null && turn.asks) return true;
  const question = openQuestion(state);
  // Another session that works on it does not wait.
  const isWorkedOn = turn !== null && turn.endedAt === null && question !== null && turn.beganAt > question.at;
  return question !== null && !isWorkedOn;
}

export function openQuestion(state: State) {
  for (const effect of state.effects.values()) if (effect.asks) return effect;
  return null;
}

/** Nothing is open and nothing is left. `except` names a session that is just beginning its turn. */
export function isFinished(state: State, except: string | null = null): boolean {
  if (state.run?.kind === 'planned') return state.run.status === 'completed';
  return (
    state.turn?.outcome !== 'interrupted' &&
    !hasOpenTurn(state, except) &&
    !isWaiting(state) &&
    whatIsLeft(state).length === 0
  );
}
