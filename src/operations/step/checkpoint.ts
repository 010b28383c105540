import * as v from 'valibot';
import { line } from '../../core/line.ts';
import { act, inRun, StepOutcome, stepInEvents, stepOutcome } from '../act.ts';
import { artifacts, built, heldStepKey, label, nextAction } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { artifactsOf, treeMark } from '../working-tree.ts';
import { findStep } from './parts/find-step.ts';
import { mustAllowWork } from './parts/must-allow-work.ts';
import { sayStep } from './parts/say-step.ts';

export const checkpoint = defineOperation({
  name: 'checkpoint',
  summary: 'Record that a named point inside the step you hold is reached.',
  scope: 'write',
  words: ['name'],
  flags: { artifacts: 'artifact' },
  examples: ['holdfast checkpoint endpoint_drafted --artifact src/refresh.ts --next "wire the router"'],
  input: v.object({
    name: described(label, 'The name of the point that is reached.'),
    step: heldStepKey,
    artifacts,
    built,
    next: nextAction,
  }),
  output: StepOutcome,
  async run(given, { name, step: named, artifacts: paths, built: made, next }) {
    const context = await inRun(given);
    await mustAllowWork(context);
    const step = named === undefined ? undefined : await findStep(context, named);
    const done = await act(context, {
      type: 'step.checkpoint',
      step,
      name,
      next,
      built: made,
      artifacts: await artifactsOf(context, paths, made),
      mark: treeMark(context),
    });
    return stepOutcome(done, stepInEvents(done, step));
  },
  say: ({ step }, pen) =>
    line`${pen.good(line`○`)} ${sayStep(step, pen)}: checkpoint ${pen.quote(step.checkpoint?.name ?? '', 'name')}.`,
});
