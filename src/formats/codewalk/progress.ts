import type { ModelStep } from '../../core/model/run-model.ts';

/** Sixteen cells, a space, the percentage. */
export function progressBar(percent: number): string {
  const filled = Math.round((percent / 100) * 16);
  return `${'█'.repeat(filled)}${'░'.repeat(16 - filled)} ${percent}%`;
}

/** The mean over the phases of the share of their completed leaves; 100 only when nothing is left. */
export function progressOf(steps: readonly ModelStep[], current: string | null) {
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
