import type { ModelStep } from '../../core/model/run-model.ts';
import type { Draft } from './draft.ts';
import { readPercent } from './words/numbers.ts';

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

/** Counters follow the changes: correct ones are recounted, wrong ones are moved by the same amount. */
export function editProgress(draft: Draft, reread: () => readonly ModelStep[]): void {
  const { reading, changes, state, setField, setFront } = draft;
  if (changes.status.length === 0 && changes.added.length === 0 && changes.removed.length === 0) return;
  const by = countChanges(draft, reread());
  const keys = Object.keys(by) as (keyof Counts)[];
  if (keys.every((key) => by[key] === 0)) return;
  const was = countSteps(reading.model.steps);
  const said = (key: string): string => state.front?.fields.get(`progress.${key}`)?.value ?? '';
  for (const key of keys) if (/^\d+$/.test(said(key))) was[key] = Number(said(key));
  const stored = { ...was };
  for (const key of keys) {
    const all = key.startsWith('completed_') ? stored[key.replace('completed', 'total') as keyof Counts] : null;
    // Completed never exceeds the total, unless the file already said so.
    const most = all === null || said(key) === '' ? Number.POSITIVE_INFINITY : Math.max(all, was[key]);
    stored[key] = Math.min(most, Math.max(0, was[key] + by[key]));
    if (/^\d+$/.test(said(key)) && stored[key] !== was[key]) setFront(`progress.${key}`, String(stored[key]));
  }
  // A percentage keeps counting what it counted. One that counted nothing was set by hand and is left alone.
  const moved = (percent: number | null): number | null => {
    const measure = measures.find((one) => percent !== null && Math.abs(percent - one(was)) <= 1);
    return measure ? Math.min(100, measure(stored)) : null;
  };
  const percent = moved(readPercent(`${said('percent')}%`));
  if (percent !== null) setFront('progress.percent', String(percent));
  const bar = state.position.get('progress') ?? state.anywhere.get('progress');
  const shown = bar ? moved(readPercent(bar.value)) : null;
  if (bar && shown !== null) setField(bar, moveBar(bar.value, shown));
}

const measures: readonly ((counts: Counts) => number)[] = [
  percentOf,
  (counts) => shareOf(counts.completed_plans, counts.total_plans),
  (counts) => shareOf(counts.completed_phases, counts.total_phases),
];

/**
 * The amount by which each counter moves. A change that the files cannot express reads back unchanged and would be
 * found at every write, so it is not counted.
 */
function countChanges({ reading, model, changes }: Draft, reread: readonly ModelStep[]): Counts {
  const will = new Map(reread.map((step) => [step.key, step]));
  const unit = (all: readonly ModelStep[]): ((step: ModelStep) => 'phases' | 'plans' | null) => {
    const keys = new Set(all.map(({ key }) => key));
    return ({ parent, kind }) =>
      parent === undefined || !keys.has(parent) ? 'phases' : kind === 'plan' ? 'plans' : null;
  };
  const by: Counts = { total_phases: 0, completed_phases: 0, total_plans: 0, completed_plans: 0 };
  const add = (what: 'phases' | 'plans' | null, total: number, completed: number): void => {
    if (what === null) return;
    by[`total_${what}`] += total;
    by[`completed_${what}`] += completed;
  };
  const [now, was] = [unit(model.steps), unit(reading.model.steps)];
  const old = new Map(reading.model.steps.map((step) => [step.key, step]));
  for (const step of changes.status) {
    const there = will.get(step.key);
    const before = old.get(step.key);
    if (before && (!there || isOver(there) === isOver(step)))
      add(now(step), 0, Number(isOver(step)) - Number(isOver(before)));
  }
  for (const step of changes.added) {
    const there = will.get(step.key);
    if (there) add(now(step), 1, Number(isOver(there)));
  }
  for (const step of changes.removed) if (!will.has(step.key)) add(was(step), -1, -Number(isOver(step)));
  return by;
}

/** Not capped: other tools write 7 of 4 as 175 %. */
function shareOf(done: number, all: number): number {
  return all === 0 ? 0 : Math.round((100 * done) / all);
}
