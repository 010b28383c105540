import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { reason, stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';

export const reopen = defineOperation({
  name: 'reopen',
  summary: 'Reopen a finished or skipped step; steps that depend on it are stale until confirmed.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey, reason }),
  output: StepOutcome,
  async run(context, { key, reason: why }) {
    const done = await act(context, { type: 'step.reopen', step: key, reason: why });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: reopened.`,
});
