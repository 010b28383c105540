import type { State, Step } from '../fold/state.ts';
import { lazy } from '../lazy.ts';
import { numberOf } from './named-step.ts';
import { isDone, type PlanView, readySteps, type StepView } from './plan.ts';

/** The current position: the steps to continue with, and where the first of them is in the plan. */
export interface Position {
  /**
   * An own step first, then the one a file calls current, an interrupted, held or failed one, the last touched first; else
   * the next ready one. The order of the plan breaks ties only.
   */
  current: StepView | null;
  interrupted: readonly StepView[];
  held: readonly StepView[];
  failed: readonly StepView[];
  /** Those after the step that was completed last come first. */
  ready: readonly StepView[];
  lastCompleted: Step | null;
  /** By the number in its key (`2-3` is phase 2, plan 3; `9.10` stays); without one, by its place, counted from 1. */
  phase: { number: string; step: Step } | null;
  plan: { number: string; step: Step } | null;
  task: Step | null;
}

export function positionOf(state: State, plan: PlanView, mine: string | null = null): Position {
  const interrupted = lastTouchedFirst(plan.leaves.filter((view) => view.interrupted));
  const held = lastTouchedFirst(
    plan.leaves.filter((view) => view.status === 'in_progress' && view.step.holder !== null),
  );
  const own = held.filter((view) => view.step.holder?.session === mine);
  const failed = lastTouchedFirst(plan.leaves.filter((view) => view.status === 'failed'));
  const ready = lazy(() => nextReady(plan));
  const current =
    own[0] ??
    standIn(state, plan) ??
    interrupted[0] ??
    held[0] ??
    failed[0] ??
    ready()[0] ??
    plan.leaves.find((view) => !isDone(view.status)) ??
    null;
  const path = current ? pathTo(plan, current) : [];
  const root = path[0];
  const planned = path.find((view) => view.step.kind === 'plan');
  return {
    current,
    interrupted,
    held,
    failed,
    get ready() {
      return ready();
    },
    get lastCompleted() {
      return lastCompleted(state);
    },
    phase:
      root && (root !== current || root.step.kind === 'phase')
        ? { number: numberOf(state.steps, root.step), step: root.step }
        : null,
    plan: planned ? { number: numberOf(state.steps, planned.step), step: planned.step } : null,
    task: current ? current.step : null,
  };
}

function lastTouchedFirst(views: readonly StepView[]): StepView[] {
  const touchedAt = ({ step: { startedAt, endedAt, checkpoint } }: StepView): string =>
    [startedAt, endedAt, checkpoint?.at].reduce<string>((last, at) => (at && at > last ? at : last), '');
  return [...views].sort((a, b) => (touchedAt(a) < touchedAt(b) ? 1 : touchedAt(a) > touchedAt(b) ? -1 : 0));
}

/** Ready steps from the one completed last onwards, then those before it. Several completed at once came from a file. */
function nextReady(plan: PlanView): StepView[] {
  const ready = readySteps(plan);
  const completed = plan.leaves.filter(({ step }) => step.status === 'completed' && step.endedAt !== null);
  const latest = completed
    .map(({ step }) => step.endedAt)
    .sort()
    .at(-1);
  const [last, another] = completed.filter(({ step }) => step.endedAt === latest);
  if (!last || another) return ready;
  const from = plan.leaves.indexOf(last);
  const isAfter = (view: StepView): boolean => plan.leaves.indexOf(view) > from;
  return [...ready.filter(isAfter), ...ready.filter((view) => !isAfter(view))];
}

/** The step that a file calls the current one, or the first open one below it. */
function standIn({ stand }: State, plan: PlanView): StepView | null {
  if (stand === null || !plan.byKey.has(stand)) return null;
  const isBelow = (view: StepView): boolean => pathTo(plan, view).some(({ step }) => step.key === stand);
  return plan.leaves.find((view) => !isDone(view.status) && isBelow(view)) ?? null;
}

function pathTo(plan: PlanView, view: StepView): StepView[] {
  const path = [view];
  for (let parent = view.step.parent; parent !== null; ) {
    const above = plan.byKey.get(parent);
    if (!above || path.includes(above)) break;
    path.unshift(above);
    parent = above.step.parent;
  }
  return path;
}

function lastCompleted(state: State): Step | null {
  let last: Step | null = null;
  for (const step of state.steps.values()) {
    if (step.status === 'completed' && step.endedAt && (!last?.endedAt || step.endedAt >= last.endedAt)) last = step;
  }
  return last;
}
