import * as v from 'valibot';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { reason, stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findStep } from './parts/find-step.ts';

export const reopen = defineOperation({
  name: 'reopen',
  summary: 'Reopen a finished or skipped step; steps that depend on it are stale until confirmed.',
  scope: 'write',
  words: ['key', 'reason'],
  synonyms: { reason: ['why'] },
  examples: ['holdfast reopen p1.2 "why"'],
  input: v.object({ key: stepKey, reason }),
  output: StepOutcome,
  async run(given, { key: name, reason: why }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    const done = await act(context, { type: 'step.reopen', step: key, reason: why });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: reopened.`,
});
