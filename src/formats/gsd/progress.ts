import type { ModelStep } from '../../core/model/run-model.ts';

/** Progress in the units of this format. */
export interface Counts {
  total_phases: number;
  completed_phases: number;
  total_plans: number;
  completed_plans: number;
}

export function countSteps(steps: readonly ModelStep[]): Counts {
  const keys = new Set(steps.map(({ key }) => key));
  const counts: Counts = { total_phases: 0, completed_phases: 0, total_plans: 0, completed_plans: 0 };
  for (const { parent, kind, status } of steps) {
    const isRoot = parent === undefined || !keys.has(parent);
    if (!isRoot && kind !== 'plan') continue;
    const unit = isRoot ? 'phases' : 'plans';
    counts[`total_${unit}`] += 1;
    if (isOver({ status })) counts[`completed_${unit}`] += 1;
  }
  return counts;
}

/** By plans if there are any, else by phases; 100 only when nothing is left. */
export function percentOf(counts: Counts): number {
  const [done, all] =
    counts.total_plans > 0
      ? [counts.completed_plans, counts.total_plans]
      : [counts.completed_phases, counts.total_phases];
  if (all === 0) return 0;
  return done >= all ? 100 : Math.min(99, Math.round((100 * done) / all));
}

/** The bar of a new file: ten cells. */
export function progressBar(percent: number): string {
  const filled = Math.round(percent / 10);
  return `[${'█'.repeat(filled)}${'░'.repeat(10 - filled)}] ${percent}%`;
}

/** The same line with another percentage: its brackets, glyphs, width and trailing text stay. */
export function moveBar(line: string, percent: number): string {
  const moved = line.replace(/\d+(?:\.\d+)?(?=\s*%)/, String(percent));
  const bar = /[█▓▉▊▋▌▍▎▏■▰●#=]+[░▒▱□○·.\-_ ]*?(?=[\]\s)]|$)|[░▒▱□○]{3,}|(?<=\[)[.\-_·]{3,}(?=\])/u.exec(moved);
  if (!bar) return moved;
  const cells = [...bar[0]];
  const full =
    cells.find((cell) => /[█▓■▰●#=]/u.test(cell)) ??
    (/[.\-_·]/.test(cells[0] ?? '') ? '#' : cells[0] === '▱' ? '▰' : '█');
  const empty = cells.find((cell) => /[░▒▱□○·.\-_ ]/u.test(cell)) ?? (full === '#' ? '.' : full === '▰' ? '▱' : '░');
  const filled = Math.round((percent / 100) * cells.length);
  return (
    moved.slice(0, bar.index) +
    full.repeat(filled) +
    empty.repeat(cells.length - filled) +
    moved.slice(bar.index + bar[0].length)
  );
}

export const isOver = ({ status }: Pick<ModelStep, 'status'>): boolean =>
  status === 'completed' || status === 'skipped';
