import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { currentStepOf } from '../current-step.ts';
import { flat } from '../text/lines.ts';
import { childrenOf, isOver, type StepChanges } from './progress.ts';
import type { Reading } from './reading.ts';

/** How the steps of a run model differ from those in the files. */
export function stepChanges(reading: Reading, model: RunModel): StepChanges {
  const before = new Map(reading.model.steps.map((step) => [step.key, step]));
  const after = new Set(model.steps.map(({ key }) => key));
  const derived = derivedStatuses(reading.model.steps);
  const changes: StepChanges = { status: [], renamed: [], added: [], removed: [], position: null };
  for (const step of model.steps) {
    const old = before.get(step.key);
    if (!old) changes.added.push(step);
    // A file may give a phase a status that its plans contradict; what follows from the plans is not a change.
    else if (step.status !== old.status && step.status !== derived.get(step.key)) changes.status.push(step);
    if (old && flat(old.title) !== flat(step.title)) changes.renamed.push({ before: old, after: step });
  }
  changes.removed = reading.model.steps.filter(({ key }) => !after.has(key));
  const current = currentStepOf(model);
  const steps = reading.model.steps.map((step) => ({ ...step, status: derived.get(step.key) ?? step.status }));
  changes.position = current === currentStepOf({ ...reading.model, steps }) ? reading.steps.position : current;
  return changes;
}

function derivedStatuses(steps: readonly ModelStep[]): Map<string, ModelStep['status']> {
  const below = childrenOf(steps);
  return new Map(
    [...below].map(([key, children]) => {
      const isIdle = children.every(({ status }) => status === 'pending');
      return [key, children.every(isOver) ? 'completed' : isIdle ? 'pending' : 'in_progress'];
    }),
  );
}
