import { type Nameable, numberOf, pathTo } from './named-step.ts';

/** The counters of Codewalk's `progress`, which STATE.md, the tables and the views of the journal share. */
export interface PhaseProgress {
  phases_total: number;
  phases_completed: number;
  current_phase_tasks: number;
  current_phase_completed: number;
  bar: string;
}

/**
 * What the counters of a file say of a phase beyond the tasks it names: STATE.md names the current task only. Read with
 * the file and kept with the run, so that counters follow from the plan and never from their old values.
 */
export interface Counted {
  phase: string;
  tasks: number;
  /** Completed, of those that the file does not name. */
  done: number;
}

/** Its name in what a run model keeps. */
export const COUNTED = 'codewalk-counted';

export function countedIn(kept: Readonly<Record<string, unknown>> | undefined): Counted | null {
  const { phase, tasks, done } = (kept?.[COUNTED] ?? {}) as Partial<Counted>;
  return typeof phase === 'string' && isCount(tasks) && isCount(done) ? { phase, tasks, done } : null;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Counted from the plan. The bar is the mean over the phases of the share of their finished leaves. */
export function phaseProgress(
  steps: readonly (Nameable & { status: string })[],
  current: string | null,
  counted: Counted | null,
): PhaseProgress {
  const keys = new Set(steps.map(({ key }) => key));
  const parents = new Set(steps.map(({ parent }) => parent));
  const phaseOf = new Map<string, string>();
  const shares = new Map<string, { done: number; all: number }>();
  for (const { key, parent, status } of steps) {
    const phase = parent && keys.has(parent) ? (phaseOf.get(parent) ?? parent) : key;
    phaseOf.set(key, phase);
    const share = shares.get(phase) ?? { done: 0, all: 0 };
    if (!parents.has(key)) {
      share.all += 1;
      if (isOver(status)) share.done += 1;
    }
    shares.set(phase, share);
  }
  const told = counted && shares.get(counted.phase);
  // Once the plan names as many tasks as the file counted, it is the better source.
  if (counted && told && told.all < counted.tasks) {
    const isDone = told.all > 0 && steps.some(({ key, status }) => key === counted.phase && isOver(status));
    told.done = isDone ? counted.tasks : Math.min(counted.tasks, counted.done + told.done);
    told.all = counted.tasks;
  }
  const all = [...shares.values()];
  const sum = all.reduce((total, share) => total + (share.all === 0 ? 0 : share.done / share.all), 0);
  const percent = all.length === 0 ? 0 : Math.round((100 * sum) / all.length);
  const done = all.filter((share) => share.done === share.all).length;
  const here = current === null ? undefined : shares.get(phaseOf.get(current) ?? current);
  return {
    phases_total: all.length,
    phases_completed: done,
    current_phase_tasks: here?.all ?? 0,
    current_phase_completed: here?.done ?? 0,
    bar: progressBar(done === all.length ? percent : Math.min(percent, 99)),
  };
}

/** Where the work is, as the design says it. */
export interface Place {
  phase?: string | undefined;
  phase_name?: string | undefined;
  plan?: string | undefined;
  plan_name?: string | undefined;
  task?: string | undefined;
  wave?: string | undefined;
  status?: string | undefined;
}

interface PlacedStep extends Nameable {
  status: string;
  wave?: number | null | undefined;
  /** A task whose session crashed is open again. */
  isInterrupted?: boolean | undefined;
  isBlocked?: boolean | undefined;
}

/** The place of a step; only a status where there is none to do. */
export function placeOf(steps: ReadonlyMap<string, Nameable>, step: PlacedStep | null): Place {
  if (!step) return { status: steps.size > 0 ? 'completed' : 'pending' };
  const path = pathTo(steps, steps.get(step.key) ?? step);
  const phase = path[0] as Nameable;
  const plan = path.find(({ kind }) => kind === 'plan');
  const isTask = path.length > 1 && step.kind !== 'plan';
  return {
    phase: numberOf(steps, phase),
    phase_name: phase.title,
    plan: plan && numberOf(steps, plan),
    plan_name: plan?.title,
    task: isTask ? step.title : undefined,
    wave: typeof step.wave === 'number' ? String(step.wave) : undefined,
    status:
      step.status !== 'in_progress'
        ? step.status
        : step.isBlocked
          ? 'blocked'
          : step.isInterrupted
            ? 'open'
            : step.status,
  };
}

const isOver = (status: string): boolean => status === 'completed' || status === 'skipped';

/** Sixteen cells, a space, the percentage. */
function progressBar(percent: number): string {
  const filled = Math.round((percent / 100) * 16);
  return `${'█'.repeat(filled)}${'░'.repeat(16 - filled)} ${percent}%`;
}
