import * as v from 'valibot';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findStep } from './parts/find-step.ts';

export const confirm = defineOperation({
  name: 'confirm',
  summary: 'Confirm that a stale step still holds, or (people only) an imported gate or skip.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey }),
  output: StepOutcome,
  async run(given, { key: name }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    const done = await act(context, { type: 'step.confirm', step: key });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.good('✓')} ${pen.bold(step.key)} ${step.title}: confirmed.`,
});
