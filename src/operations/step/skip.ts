import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { reason, stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { actWords } from './parts/act-words.ts';

export const skip = defineOperation({
  name: 'skip',
  summary: 'Skip a step, with a reason (people only).',
  scope: 'maintain',
  by: 'person',
  words: ['key'],
  input: v.object({ key: stepKey, reason }),
  output: StepOutcome,
  async run(context, { key, reason: why }) {
    const done = await act(context, { type: 'step.skip', step: key, reason: why });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.dim('–')} ${pen.bold(step.key)} ${step.title}: skipped${actWords(step.skipped, pen)}.`,
});
