import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import { isBlockedBy, pathTo } from '../../core/views/named-step.ts';
import {
  COUNTED,
  type Counted,
  countedIn,
  type PhaseProgress,
  type Place,
  phaseProgress,
  placeOf,
} from '../../core/views/phase-progress.ts';
import { currentStepOf } from '../current-step.ts';
import { stepStatus } from '../step-status.ts';
import { byKey } from './rows.ts';

export type Counters = { [K in Exclude<keyof PhaseProgress, 'bar'>]?: number | undefined };

/** A position and counters as a plan: phases by number, the current one with its plan and task. */
export function readPlace(place: Place | null, counters: Counters): Pick<RunModel, 'steps' | 'position' | 'kept'> {
  const { phases_total: total = 0, phases_completed: done = 0 } = counters;
  const current = keyOf(place?.phase);
  const steps: ModelStep[] = [];
  for (let number = 1; Number.isSafeInteger(total) && number <= Math.min(total, 200); number++)
    if (String(number) !== current)
      steps.push({
        key: String(number),
        title: `Phase ${number}`,
        kind: 'phase',
        status: number <= done ? 'completed' : 'pending',
      });
  if (!place) return { steps };
  if (current === null) return { steps, position: { step: null } };
  const isOver = Number(current) <= done;
  const status = stepStatus(place.status ?? '') ?? 'in_progress';
  const path: ModelStep[] = [];
  const add = (kind: ModelStep['kind'], key: string, title: string): void => {
    const parent = path.at(-1)?.key;
    path.push({ key, title, kind, status: isOver ? 'completed' : 'in_progress', ...(parent ? { parent } : {}) });
  };
  add('phase', current, place.phase_name ?? `Phase ${current}`);
  const plan = keyOf(place.plan);
  if (plan !== null) add('plan', `${current}-${plan}`, place.plan_name ?? `Plan ${plan}`);
  if (place.task) add('task', taskKey(path.at(-1)?.key ?? current, place.task), place.task);
  const last = path.at(-1) as ModelStep;
  last.status = isOver && status === 'in_progress' ? 'completed' : status;
  // What lies around a task that has not begun has not begun either.
  if (last.status === 'pending') for (const step of path) step.status = 'pending';
  if (/^\d{1,9}$/.test(place.wave ?? '')) last.wave = Number(place.wave);
  const at = steps.findIndex((step) => Number(step.key) > Number(current));
  steps.splice(at < 0 ? steps.length : at, 0, ...path);
  const counted = countedBeyond(counters, current, last);
  return { steps, position: { step: last.key }, ...(counted ? { kept: { [COUNTED]: counted } } : {}) };
}

function countedBeyond(counters: Counters, phase: string, last: ModelStep): Counted | null {
  const { current_phase_tasks: tasks = -1, current_phase_completed: done = -1 } = counters;
  const named = last.key === phase ? 0 : 1;
  if (!Number.isSafeInteger(tasks) || !Number.isSafeInteger(done) || tasks <= named || done < 0) return null;
  const isDone = last.status === 'completed' || last.status === 'skipped';
  return { phase, tasks, done: Math.max(0, done - (isDone ? named : 0)) };
}

/** A task is identified by its title, so its key is derived from it. */
function taskKey(parent: string, title: string): string {
  return `${parent}.${slugOf(title, 'task')}`;
}

export function slugOf(text: string, otherwise: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return slug || otherwise;
}

function keyOf(words: string | undefined): string | null {
  const key = words?.trim() ?? '';
  return isName(key, '._', 20) ? key : null;
}

/** The step that the run or the file names while it is open, else the next one. */
export function currentIn(model: RunModel): ModelStep | null {
  const steps = byKey(model);
  const named = steps.get(model.position?.step ?? '');
  const isOpen = named && named.status !== 'completed' && named.status !== 'skipped';
  return (isOpen ? named : steps.get(currentStepOf(model) ?? '')) ?? null;
}

export function placeIn(model: RunModel): Place {
  const steps = byKey(model);
  const step = currentIn(model);
  const isBlocked =
    step !== null &&
    model.items.some((item) => item.kind === 'blocker' && item.status === 'active' && isBlockedBy(steps, step, item));
  return placeOf(steps, step && { ...step, isInterrupted: step.interrupted, isBlocked });
}

/** A number as one, unless it would not be written as it was: `9.10`. */
export const asNumber = (words: string): string | number => (String(Number(words)) === words ? Number(words) : words);

export const progressIn = (model: RunModel): PhaseProgress =>
  phaseProgress(model.steps, currentIn(model)?.key ?? null, countedIn(model.kept));

/** What was built in the phase of the position. */
export function builtIn(model: RunModel): string[] {
  const steps = byKey(model);
  const step = currentIn(model);
  if (!step) return [];
  const [phase] = pathTo(steps, step);
  return [...new Set(model.steps.flatMap((one) => (pathTo(steps, one)[0] === phase ? (one.built ?? []) : [])))];
}
