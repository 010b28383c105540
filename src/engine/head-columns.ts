import type { State } from '../core/fold/state.ts';
import { planView } from '../core/views/plan.ts';
import { positionOf } from '../core/views/position.ts';
import { runFactsOf } from '../core/views/run-facts.ts';
import type { HeadColumns } from '../store/projection.ts';

/** The columns of a run's head: what lists of runs and the Codewalk view show. */
export function headOf(state: State): HeadColumns {
  const plan = planView(state);
  const { phase, plan: planned, task } = positionOf(state, plan);
  return {
    workspace: state.run?.workspace ?? '',
    title: state.run?.title ?? '',
    status: state.run?.status ?? 'active',
    position: {
      phase: phase?.number ?? null,
      plan: planned?.number ?? null,
      task: task?.title ?? null,
      wave: task?.wave ?? null,
      status: task ? (plan.byKey.get(task.key)?.status ?? 'pending') : (state.run?.status ?? 'active'),
      progress: plan.progress,
      facts: runFactsOf(state),
      ...(state.run?.isUntouched ? { isUntouched: true } : {}),
      ...(state.run?.isCopied ? { isCopied: true } : {}),
    },
  };
}
