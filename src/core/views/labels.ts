import type { State } from '../fold/state.ts';
import { isGone, type Liveness } from './liveness.ts';
import type { StepView } from './plan.ts';
import type { RunStateWord } from './run-state.ts';

/** The words that people read for states, in every interface. Stored words and those of `--json` stay as they are. */

export type RunLabel = Exclude<RunStateWord, 'completed'>;

export const runLabel = (word: RunStateWord): RunLabel => (word === 'completed' ? 'finished' : word);

export type SessionLabel = 'working' | 'idle' | 'not responding' | 'cut off' | 'ended' | 'handed over';

/** Of the state of an open session, or of the reason for which one ended. */
export function sessionLabel(word: string, isHandedOver = false): SessionLabel {
  if (word === 'working' || word === 'idle' || word === 'not responding' || word === 'cut off') return word;
  if (word === 'active') return 'working';
  if (word === 'crashed') return isHandedOver ? 'handed over' : 'cut off';
  return isHandedOver ? 'handed over' : 'ended';
}

export type StepLabel = 'pending' | 'ready' | 'in progress' | 'interrupted' | 'failed' | 'done' | 'skipped';

/**
 * A step that waits for others, for a gate or for a blocker is pending; it is ready once nothing holds it up. One whose
 * session is gone is interrupted, also before that is recorded.
 */
export function stepLabel(view: StepView, state: State, liveness: Liveness): StepLabel {
  const { status, obstacles, step, children } = view;
  const holder = step.holder && state.sessions.get(step.holder.session);
  const isLeft = children.length === 0 && holder !== null && (holder === undefined || isGone(holder, liveness));
  if (view.interrupted || (status === 'in_progress' && isLeft)) return 'interrupted';
  switch (status) {
    case 'pending':
      return obstacles.length === 0 ? 'ready' : 'pending';
    case 'in_progress':
      return 'in progress';
    case 'completed':
      return 'done';
    case 'failed':
    case 'skipped':
      return status;
    default:
      return status satisfies never;
  }
}
