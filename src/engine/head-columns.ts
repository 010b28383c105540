import type { State, Step } from '../core/fold/state.ts';
import { isBlockedBy } from '../core/views/named-step.ts';
import { phaseProgress, placeOf } from '../core/views/phase-progress.ts';
import { type PlanView, planView } from '../core/views/plan.ts';
import { positionOf } from '../core/views/position.ts';
import { runFactsOf } from '../core/views/run-facts.ts';
import type { HeadColumns } from '../store/projection.ts';

/** The columns of a run's head: what lists of runs and the Codewalk view show. */
export function headOf(state: State): HeadColumns {
  const plan = planView(state);
  const step = positionOf(state, plan).current?.step ?? null;
  const { phase, plan: planned, task, wave, status } = placeOf(state.steps, step && standing(state, plan, step));
  return {
    workspace: state.run?.workspace ?? '',
    title: state.run?.title ?? '',
    status: state.run?.status ?? 'active',
    position: {
      initiative: state.run?.alias ?? state.run?.id ?? '',
      phase: wholeNumber(phase),
      plan: wholeNumber(planned),
      task: task ?? null,
      wave: wholeNumber(wave),
      status: status ?? 'pending',
      progress: phaseProgress(
        plan.all.map(({ step: { key, title, kind, parent }, status: now }) => ({
          key,
          title,
          kind,
          parent,
          status: now,
        })),
        step?.key ?? null,
        state.counted,
      ),
      facts: runFactsOf(state),
      ...(state.run?.isUntouched ? { isUntouched: true } : {}),
      ...(state.run?.isCopied ? { isCopied: true } : {}),
    },
  };
}

function standing(state: State, plan: PlanView, step: Step) {
  const view = plan.byKey.get(step.key);
  const isBlocked = [...state.items.values()].some(
    (item) => item.kind === 'blocker' && item.status === 'active' && isBlockedBy(state.steps, step, item),
  );
  const isInterrupted = view?.interrupted && step.crashes > 0;
  return { ...step, status: view?.status ?? 'pending', isInterrupted, isBlocked };
}

/** The integer columns cannot hold an inserted phase (`2.1`). */
const wholeNumber = (number: string | undefined): number | null =>
  number !== undefined && /^\d{1,9}$/.test(number) ? Number(number) : null;
