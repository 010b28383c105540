import type { State } from '../fold/state.ts';
import { hasOpenTurn, isUncertain, isWaiting, whatIsLeft } from '../views/left.ts';
import { planView } from '../views/plan.ts';
import { positionOf } from '../views/position.ts';
import type { RunFacts, Situation } from './facts.ts';
import { nextFacts, stepFacts } from './position-facts.ts';
import type { Deciding } from './sections/next.ts';

/**
 * The facts that decide what comes next, from folded state alone, for a file that is read later: sessions that live now may
 * have left what they hold by then.
 */
export function decidingFacts(state: State, now: string): Deciding {
  const isPlanned = state.run?.kind === 'planned';
  const plan = planView(state);
  const position = positionOf(state, plan);
  const { failed } = state.commands;
  return {
    isPlanned,
    situation: situationOf(state, now),
    uncertain: uncertainIn(state),
    commands: failed ? [{ is: 'failed', name: failed.name, exitCode: null, at: now, changedAfter: 0 }] : [],
    steps: stepFacts(plan, position, { isPlanned, since: '', isOthers: () => false }),
    next: nextFacts(state, [], plan, position, isPlanned),
  };
}

/** Only as far as the next action depends on it. */
function situationOf(state: State, at: string): Situation {
  const who = { agent: state.turn?.agent ?? '', session: state.turn?.session ?? '' };
  if (state.run?.kind === 'planned') return { is: 'unattended', at };
  if (isWaiting(state)) return { is: 'waiting', who, at, for: 'answer', hasWindow: false };
  if (hasOpenTurn(state)) return { is: 'cut-off', who, at, because: 'session-end', subagents: [] };
  const left = whatIsLeft(state);
  return left.length > 0 ? { is: 'open', who, at, left, hasWindow: false } : { is: 'finished', who, at, isLast: false };
}

function uncertainIn(state: State): RunFacts['uncertain'] {
  return [...state.effects.values()]
    .filter((effect) => isUncertain(effect) && !effect.asks)
    .map(({ id, name, at, class: kind }) => ({
      id,
      name,
      at,
      irreversible: kind === 'irreversible',
      process: { is: 'unlisted', isClientGone: false },
    }));
}
