import type { RunModel } from '../../core/model/run-model.ts';

/** Sixteen cells, a space, the percentage. */
export function progressBar(percent: number): string {
  const filled = Math.round((percent / 100) * 16);
  return `${'█'.repeat(filled)}${'░'.repeat(16 - filled)} ${percent}%`;
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

export const COUNTED = 'codewalk-counted';

export function countedIn(model: RunModel): Counted | null {
  const counted = model.kept?.[COUNTED] as Partial<Counted> | undefined;
  const { phase, tasks, done } = counted ?? {};
  return typeof phase === 'string' && Number.isSafeInteger(tasks) && Number.isSafeInteger(done)
    ? (counted as Counted)
    : null;
}

/** The mean over the phases of the share of their completed leaves; 100 only when nothing is left. */
export function progressOf(model: RunModel, current: string | null) {
  const { steps } = model;
  const keys = new Set(steps.map(({ key }) => key));
  const parents = new Set(steps.map(({ parent }) => parent));
  const root = new Map<string, string>();
  for (const step of steps)
    root.set(
      step.key,
      step.parent !== undefined && keys.has(step.parent) ? (root.get(step.parent) ?? step.parent) : step.key,
    );
  const shares = new Map<string, { done: number; all: number }>();
  for (const step of steps) {
    const phase = root.get(step.key) as string;
    const share = shares.get(phase) ?? { done: 0, all: 0 };
    if (!parents.has(step.key)) {
      share.all += 1;
      if (step.status === 'completed' || step.status === 'skipped') share.done += 1;
    }
    shares.set(phase, share);
  }
  const counted = countedIn(model);
  const told = counted && shares.get(counted.phase);
  // Once the plan names as many tasks as the file counted, it is the better source.
  if (counted && told && told.all < counted.tasks) {
    const isOver = told.all > 0 && steps.find(({ key }) => key === counted.phase)?.status === 'completed';
    told.done = isOver ? counted.tasks : Math.min(counted.tasks, counted.done + told.done);
    told.all = counted.tasks;
  }
  const all = [...shares.values()];
  const sum = all.reduce((total, { done, all: count }) => total + (count === 0 ? 0 : done / count), 0);
  const percent = all.length === 0 ? 0 : Math.round((100 * sum) / all.length);
  const phase = current === null ? null : (root.get(current) ?? current);
  const here = phase === null ? undefined : shares.get(phase);
  const done = all.filter((share) => share.done === share.all).length;
  return {
    phase,
    total: all.length,
    done,
    tasks: here?.all ?? 0,
    tasksDone: here?.done ?? 0,
    percent: done === all.length ? percent : Math.min(percent, 99),
  };
}
