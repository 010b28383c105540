import * as v from 'valibot';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { reason, stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { actWords } from './parts/act-words.ts';
import { findStep } from './parts/find-step.ts';

export const skip = defineOperation({
  name: 'skip',
  summary: 'Skip a step, with a reason (people only).',
  scope: 'maintain',
  by: 'person',
  words: ['key', 'reason'],
  synonyms: { reason: ['why'] },
  examples: ['holdfast skip p1.2 "why"'],
  input: v.object({ key: stepKey, reason }),
  output: StepOutcome,
  async run(given, { key: name, reason: why }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    const done = await act(context, { type: 'step.skip', step: key, reason: why });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.dim('–')} ${pen.bold(step.key)} ${step.title}: skipped${actWords(step.skipped, pen)}.`,
});
