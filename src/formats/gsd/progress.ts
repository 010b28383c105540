import type { ModelStep } from '../../core/model/run-model.ts';

/** Progress in the units of this format. */
export interface Counts {
  total_phases: number;
  completed_phases: number;
  total_plans: number;
  completed_plans: number;
  percent: number;
}

const UNITS = ['total_phases', 'completed_phases', 'total_plans', 'completed_plans'] as const;

export const isOver = ({ status }: Pick<ModelStep, 'status'>): boolean =>
  status === 'completed' || status === 'skipped';

/** The steps below each step that has some. */
export function childrenOf<T extends Pick<ModelStep, 'parent'>>(steps: readonly T[]): Map<string, T[]> {
  const below = new Map<string, T[]>();
  for (const step of steps) {
    if (step.parent === undefined) continue;
    const level = below.get(step.parent);
    if (level) level.push(step);
    else below.set(step.parent, [step]);
  }
  return below;
}

type Unit = 'phases' | 'plans' | null;

function unitIn(steps: readonly ModelStep[]): (step: ModelStep) => Unit {
  const keys = new Set(steps.map(({ key }) => key));
  return ({ parent, kind }) =>
    parent === undefined || !keys.has(parent) ? 'phases' : kind === 'plan' ? 'plans' : null;
}

function count(counts: Counts, unit: Unit, total: number, completed: number): void {
  if (unit === null) return;
  counts[`total_${unit}`] += total;
  counts[`completed_${unit}`] += completed;
}

export function countSteps(steps: readonly ModelStep[]): Counts {
  const counts = { ...NOTHING };
  const unit = unitIn(steps);
  for (const step of steps) count(counts, unit(step), 1, Number(isOver(step)));
  return { ...counts, percent: percentOf(counts) };
}

const NOTHING: Counts = { total_phases: 0, completed_phases: 0, total_plans: 0, completed_plans: 0, percent: 0 };

/** By plans if there are any, else by phases; 100 only when nothing is left. */
export function percentOf(counts: Omit<Counts, 'percent'>): number {
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
  const [before, after] = [moved.slice(0, bar.index), moved.slice(bar.index + bar[0].length)];
  return before + full.repeat(filled) + empty.repeat(cells.length - filled) + after;
}

/** How the steps of a run model differ from those in the files. */
export interface StepChanges {
  status: ModelStep[];
  renamed: { before: ModelStep; after: ModelStep }[];
  added: ModelStep[];
  removed: ModelStep[];
  /** The current position. */
  position: string | null;
}

/**
 * Counters follow the changes: correct ones are recounted, wrong ones are moved by the same amount. A change that the files
 * cannot express reads back unchanged and would be found at every write, so it is not counted. Null where none moves.
 */
export function movedCounts(
  before: readonly ModelStep[],
  now: readonly ModelStep[],
  changes: StepChanges,
  reread: () => readonly ModelStep[],
  said: (key: keyof Counts) => number | null,
  bar: number | null,
): { counts: Partial<Counts>; bar: number | undefined } | null {
  if (changes.status.length + changes.added.length + changes.removed.length === 0) return null;
  const by = changedBy(before, now, changes, new Map(reread().map((step) => [step.key, step])));
  if (UNITS.every((key) => by[key] === 0)) return null;
  const was = countSteps(before);
  for (const key of UNITS) was[key] = said(key) ?? was[key];
  const stored = { ...was };
  const counts: Partial<Counts> = {};
  for (const key of UNITS) {
    const all = key.startsWith('completed_') ? stored[key.replace('completed', 'total') as keyof Counts] : null;
    // Completed never exceeds the total, unless the file already said so.
    const most = all === null || said(key) === null ? Number.POSITIVE_INFINITY : Math.max(all, was[key]);
    stored[key] = Math.min(most, Math.max(0, was[key] + by[key]));
    if (said(key) !== null) counts[key] = stored[key];
  }
  // A percentage keeps counting what it counted. One that counted nothing was set by hand and is left alone.
  const moved = (percent: number | null): number | undefined => {
    const measure = measures.find((one) => percent !== null && Math.abs(percent - one(was)) <= 1);
    return measure && Math.min(100, measure(stored));
  };
  const percent = moved(said('percent'));
  return { counts: percent === undefined ? counts : { ...counts, percent }, bar: moved(bar) };
}

const measures: readonly ((counts: Counts) => number)[] = [
  percentOf,
  (counts) => shareOf(counts.completed_plans, counts.total_plans),
  (counts) => shareOf(counts.completed_phases, counts.total_phases),
];

/** The amount by which each counter moves. */
function changedBy(
  before: readonly ModelStep[],
  now: readonly ModelStep[],
  changes: StepChanges,
  will: ReadonlyMap<string, ModelStep>,
): Counts {
  const by = { ...NOTHING };
  const [unit, unitBefore] = [unitIn(now), unitIn(before)];
  const old = new Map(before.map((step) => [step.key, step]));
  for (const step of changes.status) {
    const [there, was] = [will.get(step.key), old.get(step.key)];
    if (was && (!there || isOver(there) === isOver(step)))
      count(by, unit(step), 0, Number(isOver(step)) - Number(isOver(was)));
  }
  for (const step of changes.added) {
    const there = will.get(step.key);
    if (there) count(by, unit(step), 1, Number(isOver(there)));
  }
  for (const step of changes.removed) if (!will.has(step.key)) count(by, unitBefore(step), -1, -Number(isOver(step)));
  return by;
}

/** Not capped: other tools write 7 of 4 as 175 %. */
function shareOf(done: number, all: number): number {
  return all === 0 ? 0 : Math.round((100 * done) / all);
}
