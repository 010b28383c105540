import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';

export const confirm = defineOperation({
  name: 'confirm',
  summary: 'Confirm that a stale step still holds, or (people only) an imported gate or skip.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey }),
  output: StepOutcome,
  async run(context, { key }) {
    const done = await act(context, { type: 'step.confirm', step: key });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.good('✓')} ${pen.bold(step.key)} ${step.title}: confirmed.`,
});
