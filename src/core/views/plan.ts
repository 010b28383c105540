import type { Item, State, Step, StepStatus } from '../fold/state.ts';
import { lazy } from '../lazy.ts';
import { stepNamed } from './named-step.ts';

/** A step with what follows from its children, claims and blockers. It is derived from state and never stored. */
export interface StepView {
  step: Step;
  status: StepStatus;
  depth: number;
  children: readonly Step[];
  /** In progress without a holder. */
  interrupted: boolean;
  /** What keeps it from being started. Empty for steps that are finished or held. */
  obstacles: readonly Obstacle[];
  blocked: boolean;
  /** Active blockers, also of a step that is held. */
  blockers: readonly Obstacle[];
  /** Has unfinished children, and all of them are blocked. */
  paused: boolean;
  /** It was built on a step that has been reopened since. */
  stale: boolean;
}

export type Obstacle =
  | { kind: 'after'; step: string; title: string; status: StepStatus }
  | { kind: 'gate'; step: string; title: string; name?: string }
  | { kind: 'blocker'; id: string; text: string; affects: string };

export interface PlanView {
  /** Every step, parents before children, in plan order. */
  all: readonly StepView[];
  byKey: ReadonlyMap<string, StepView>;
  leaves: readonly StepView[];
  roots: readonly StepView[];
  progress: Progress;
  /** All unfinished roots are blocked or paused: a person is needed. */
  escalated: boolean;
}

/**
 * Progress is the mean, over the top-level steps, of the share of their leaves that are completed or skipped. It is
 * rounded, and 100 only when all are done. For a plan without phases this is the share of finished steps.
 */
export interface Progress {
  percent: number;
  done: number;
  total: number;
  rootsDone: number;
  rootsTotal: number;
}

/** The plan with derived statuses. It is cached with its state, because a command needs it several times. */
export function planView(state: State): PlanView {
  const known = views.get(state);
  if (known?.version === state.version) return known.view;
  const view = viewPlan(state);
  views.set(state, { version: state.version, view });
  return view;
}

const views = new WeakMap<State, { version: number; view: PlanView }>();

/** Most commands need one step, so the other views are computed on first use. */
function viewPlan(state: State): PlanView {
  const childrenOf = childrenByParent(state);
  const statuses = new Map<string, StepStatus>();
  const statusOf = (step: Step): StepStatus => {
    const known = statuses.get(step.key);
    if (known) return known;
    const children = childrenOf.get(step.key);
    // A recorded history may contain a cycle of parents: setting the status first ends the recursion.
    statuses.set(step.key, step.status);
    const status = children ? parentStatus(children.map(statusOf)) : step.status;
    statuses.set(step.key, status);
    return status;
  };
  const blockers = lazy(() => blockersByStep(state));
  const isStale = staleness(state, childrenOf);
  const stuck = lazy(() => findStuck(all, byKey));
  const all: StepView[] = [];
  const byKey = new Map<string, StepView>();
  const visit = (step: Step, depth: number, inherited: () => readonly Obstacle[]): StepView => {
    const children = childrenOf.get(step.key) ?? [];
    const found = lazy(() => [...inherited(), ...ownObstacles(state, step, statusOf, blockers())]);
    const view: StepView = {
      step,
      depth,
      children,
      get status() {
        return statusOf(step);
      },
      get interrupted() {
        return children.length === 0 && step.status === 'in_progress' && step.holder === null;
      },
      get obstacles() {
        const status = statusOf(step);
        const waits = status === 'pending' || status === 'failed' || (status === 'in_progress' && !step.holder);
        return waits ? found() : [];
      },
      get blocked() {
        return view.obstacles.some((obstacle) => obstacle.kind === 'blocker');
      },
      get blockers() {
        return isDone(statusOf(step)) ? [] : found().filter(({ kind }) => kind === 'blocker');
      },
      get paused() {
        return stuck().paused.has(step.key);
      },
      get stale() {
        return isStale(step);
      },
    };
    all.push(view);
    byKey.set(step.key, view);
    for (const child of children) visit(child, depth + 1, found);
    return view;
  };
  const roots = (childrenOf.get(null) ?? []).map((step) => visit(step, 0, () => []));
  const leaves = all.filter((view) => view.children.length === 0);
  const progress = lazy(() => progressOf(roots, leaves, byKey));
  return {
    all,
    byKey,
    leaves,
    roots,
    get progress() {
      return progress();
    },
    get escalated() {
      const remaining = roots.filter((view) => !isDone(view.status));
      return remaining.length > 0 && remaining.every((view) => stuck().all.has(view));
    },
  };
}

/**
 * All steps that cannot continue until a blocker is settled: blocked steps, steps that wait for one, and parents without
 * any other unfinished child, which are paused.
 */
function findStuck(
  views: readonly StepView[],
  byKey: ReadonlyMap<string, StepView>,
): { all: Set<StepView>; paused: Set<string> } {
  const waiting = new Map<string, StepView[]>();
  const remaining = new Map<string, number>();
  for (const view of views) {
    for (const obstacle of view.obstacles) {
      if (obstacle.kind !== 'after') continue;
      const list = waiting.get(obstacle.step);
      if (list) list.push(view);
      else waiting.set(obstacle.step, [view]);
    }
    const left = view.children.filter((child) => !isDone(byKey.get(child.key)?.status ?? child.status));
    remaining.set(view.step.key, left.length);
  }
  const all = new Set<StepView>();
  const paused = new Set<string>();
  const found = views.filter((view) => view.blocked);
  for (let view = found.pop(); view; view = found.pop()) {
    if (all.has(view)) continue;
    all.add(view);
    found.push(...(waiting.get(view.step.key) ?? []));
    const parent = view.step.parent === null ? undefined : byKey.get(view.step.parent);
    if (!parent) continue;
    const left = (remaining.get(parent.step.key) ?? 0) - 1;
    remaining.set(parent.step.key, left);
    if (left > 0) continue;
    paused.add(parent.step.key);
    found.push(parent);
  }
  return { all, paused };
}

type Children = ReadonlyMap<string | null, readonly Step[]>;

function childrenByParent(state: State): Children {
  const childrenOf = new Map<string | null, Step[]>();
  for (const step of state.steps.values()) {
    const parent = step.parent !== null && state.steps.has(step.parent) ? step.parent : null;
    const siblings = childrenOf.get(parent);
    if (siblings) siblings.push(step);
    else childrenOf.set(parent, [step]);
  }
  return childrenOf;
}

export const isDone = (status: StepStatus): boolean => status === 'completed' || status === 'skipped';

function parentStatus(children: readonly StepStatus[]): StepStatus {
  if (children.every((status) => status === 'skipped')) return 'skipped';
  if (children.every(isDone)) return 'completed';
  return children.every((status) => status === 'pending' || status === 'skipped') ? 'pending' : 'in_progress';
}

/** Active blockers by the step they name, as `3` or as `Phase 3: OAuth`. Other text in `affects` blocks nothing. */
function blockersByStep(state: State): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const item of state.items.values()) {
    if (item.kind !== 'blocker' || item.status !== 'active') continue;
    const named = (item.affects ?? []).flatMap((words) => stepNamed(state.steps, words)?.key ?? []);
    for (const key of new Set([...named, ...(item.step ? [item.step] : [])])) {
      const list = found.get(key);
      if (list) list.push(item);
      else found.set(key, [item]);
    }
  }
  return found;
}

function ownObstacles(
  state: State,
  step: Step,
  statusOf: (step: Step) => StepStatus,
  blockers: ReadonlyMap<string, Item[]>,
): Obstacle[] {
  const obstacles: Obstacle[] = [];
  for (const key of step.after) {
    const before = state.steps.get(key);
    if (before && !isDone(statusOf(before))) {
      obstacles.push({ kind: 'after', step: key, title: before.title, status: statusOf(before) });
    }
  }
  if (step.gate?.state === 'closed') {
    const { name } = step.gate;
    obstacles.push({ kind: 'gate', step: step.key, title: step.title, ...(name ? { name } : {}) });
  }
  for (const item of blockers.get(step.key) ?? []) {
    obstacles.push({ kind: 'blocker', id: item.id, text: item.text, affects: step.key });
  }
  return obstacles;
}

/** Whether a step is built, directly or through a stale step, on one that was reopened after it was started or confirmed. */
function staleness(state: State, childrenOf: Children): (step: Step) => boolean {
  const wasReopened = lazy(() => [...state.steps.values()].some((step) => step.reopenedVersion > 0));
  /** The version of the newest reopening that makes a step stale, or 0. */
  const causes = new Map<string, number>();
  const open = new Map<string, Step[]>();
  return (asked) => {
    if (!wasReopened()) return false;
    // An explicit stack: a chain of steps may be longer than the call stack allows.
    const stack = [asked];
    for (let step = stack.at(-1); step; step = stack.at(-1)) {
      const befores = open.get(step.key);
      if (causes.has(step.key)) {
        stack.pop();
      } else if (!befores) {
        const found = hasBuilt(step) ? dependenciesOf(state, step, childrenOf) : [];
        open.set(step.key, found);
        for (const before of found) if (!open.has(before.key)) stack.push(before);
      } else {
        const since = Math.max(step.startedVersion, step.confirmedVersion);
        const versions = befores.flatMap((before) => [before.reopenedVersion, causes.get(before.key) ?? 0]);
        causes.set(
          step.key,
          versions.reduce((newest, version) => Math.max(newest, version > since ? version : 0), 0),
        );
      }
    }
    return (causes.get(asked.key) ?? 0) > 0;
  };
}

/** A step that was added as completed was never started here. */
const hasBuilt = (step: Step): boolean =>
  step.status === 'completed' || (step.startedVersion > 0 && step.status !== 'pending');

/** The steps that a step or its ancestors come after, with all their descendants. */
function dependenciesOf(state: State, step: Step, childrenOf: Children): Step[] {
  const found: Step[] = [];
  const collect = (before: Step): void => {
    found.push(before);
    for (const child of childrenOf.get(before.key) ?? []) collect(child);
  };
  for (const link of [step, ...ancestorsOf(state, step)]) {
    for (const key of link.after) {
      const before = state.steps.get(key);
      if (before) collect(before);
    }
  }
  return found;
}

export function ancestorsOf(state: State, step: Step): Step[] {
  const found: Step[] = [];
  for (let parent = step.parent; parent !== null; ) {
    const above = state.steps.get(parent);
    if (!above || found.includes(above)) break;
    found.push(above);
    parent = above.parent;
  }
  return found;
}

export function hasChildren(state: State, key: string): boolean {
  for (const step of state.steps.values()) if (step.parent === key) return true;
  return false;
}

function progressOf(
  roots: readonly StepView[],
  leaves: readonly StepView[],
  byKey: ReadonlyMap<string, StepView>,
): Progress {
  const share = (view: StepView): { done: number; total: number } => {
    if (view.children.length === 0) return { done: isDone(view.status) ? 1 : 0, total: 1 };
    return view.children.reduce(
      (sum, child) => {
        const below = share(byKey.get(child.key) as StepView);
        return { done: sum.done + below.done, total: sum.total + below.total };
      },
      { done: 0, total: 0 },
    );
  };
  const done = leaves.filter((view) => isDone(view.status)).length;
  const mean = roots.reduce((sum, view) => {
    const { done: finished, total } = share(view);
    return sum + finished / total;
  }, 0);
  const percent = roots.length === 0 ? 0 : Math.round((mean / roots.length) * 100);
  return {
    percent: done < leaves.length ? Math.min(percent, 99) : percent,
    done,
    total: leaves.length,
    rootsDone: roots.filter((view) => isDone(view.status)).length,
    rootsTotal: roots.length,
  };
}

/** Retries an agent may make without asking; after that a person decides. */
export const MAX_RETRIES = 2;

export const retriesLeft = ({ retries }: Step): number => Math.max(0, MAX_RETRIES - retries);

/** The leaves that can be started now, in plan order. */
export function readySteps(plan: PlanView): StepView[] {
  return plan.leaves.filter((view) => view.status === 'pending' && view.obstacles.length === 0);
}
