import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { currentStepOf } from '../current-step.ts';
import type { Reading } from './reading.ts';

/** How the steps of a run model differ from those in the files. */
export interface StepChanges {
  status: ModelStep[];
  renamed: { before: ModelStep; after: ModelStep }[];
  added: ModelStep[];
  removed: ModelStep[];
  /** The current position. */
  position: string | null;
}

export function stepChanges(reading: Reading, model: RunModel): StepChanges {
  const before = new Map(reading.model.steps.map((step) => [step.key, step]));
  const after = new Map(model.steps.map((step) => [step.key, step]));
  const derivedBefore = derivedStatuses(reading.model.steps);
  const changes: StepChanges = { status: [], renamed: [], added: [], removed: [], position: null };
  for (const step of model.steps) {
    const old = before.get(step.key);
    if (!old) changes.added.push(step);
    // A file may give a phase a status that its plans contradict; what follows from the plans is not a change.
    else if (step.status !== old.status && step.status !== derivedBefore.get(step.key)) changes.status.push(step);
    if (old && old.title.replace(/\s+/g, ' ').trim() !== step.title.replace(/\s+/g, ' ').trim())
      changes.renamed.push({ before: old, after: step });
  }
  for (const step of reading.model.steps) if (!after.has(step.key)) changes.removed.push(step);
  const stands = currentStepOf(model);
  const steps = reading.model.steps.map((step) => ({ ...step, status: derivedBefore.get(step.key) ?? step.status }));
  changes.position = stands === currentStepOf({ ...reading.model, steps }) ? reading.steps.position : stands;
  return changes;
}

function derivedStatuses(steps: readonly ModelStep[]): Map<string, ModelStep['status']> {
  const below = new Map<string, ModelStep[]>();
  for (const step of steps) {
    if (step.parent === undefined) continue;
    const level = below.get(step.parent);
    if (level) level.push(step);
    else below.set(step.parent, [step]);
  }
  const derived = new Map<string, ModelStep['status']>();
  for (const [key, children] of below) {
    const done = children.every(({ status }) => status === 'completed' || status === 'skipped');
    const idle = children.every(({ status }) => status === 'pending');
    derived.set(key, done ? 'completed' : idle ? 'pending' : 'in_progress');
  }
  return derived;
}
