import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import type { LineEdit } from '../markdown.ts';
import { setField } from './fields.ts';
import { setFront } from './front-matter.ts';
import { readPercent } from './numbers.ts';
import { type Counts, countSteps, isOver, moveBar, percentOf } from './progress.ts';
import type { Reading } from './reading.ts';
import type { StatePage } from './state-markdown.ts';
import type { StepChanges } from './step-changes.ts';

/** Counters follow the changes: correct ones are recounted, wrong ones are moved by the same amount. */
export function editProgress(
  reading: Reading,
  model: RunModel,
  changes: StepChanges,
  { page, front, position, anywhere }: StatePage,
  reread: () => readonly ModelStep[],
): LineEdit[] {
  if (changes.status.length === 0 && changes.added.length === 0 && changes.removed.length === 0) return [];
  const before = countSteps(reading.model.steps);
  const by = countChanges(reading, model, changes, reread());
  const edits: LineEdit[] = [];
  const stored = { ...before };
  let moved = false;
  for (const key of Object.keys(before) as (keyof Counts)[]) {
    const field = front?.fields.get(`progress.${key}`);
    stored[key] += by[key];
    if (by[key] !== 0) moved = true;
    if (!field || !/^\d+$/.test(field.value)) continue;
    const all = key.startsWith('completed_') ? stored[key.replace('completed', 'total') as keyof Counts] : null;
    // Completed never exceeds the total, unless the file already said so.
    const most = all === null ? Number.POSITIVE_INFINITY : Math.max(all, Number(field.value));
    stored[key] = Math.min(most, Math.max(0, Number(field.value) + by[key]));
    if (stored[key] !== Number(field.value)) edits.push(setFront(page, field, String(stored[key])));
  }
  if (!moved) return [];
  const was = { ...before };
  for (const key of Object.keys(was) as (keyof Counts)[]) {
    const value = front?.fields.get(`progress.${key}`)?.value ?? '';
    if (/^\d+$/.test(value)) was[key] = Number(value);
  }
  // A percentage that did not follow from the counters was set by hand and is left alone.
  const follows = (percent: number | null) =>
    percent !== null &&
    [
      percentOf(was),
      shareOf(was.completed_plans, was.total_plans),
      shareOf(was.completed_phases, was.total_phases),
    ].some((one) => Math.abs(percent - one) <= 1);
  const percent = percentOf(stored);
  const field = front?.fields.get('progress.percent');
  if (field && follows(readPercent(`${field.value}%`)) && field.value !== String(percent))
    edits.push(setFront(page, field, String(percent)));
  const bar = position.get('progress') ?? anywhere.get('progress');
  if (bar && follows(readPercent(bar.value))) {
    const value = moveBar(bar.value, percent);
    if (value !== bar.value) edits.push(setField(page, bar, value));
  }
  return edits;
}

/**
 * The amount by which each counter moves. A change that the files cannot express reads back unchanged and would be
 * found at every write, so it is not counted.
 */
function countChanges(reading: Reading, model: RunModel, changes: StepChanges, reread: readonly ModelStep[]): Counts {
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
