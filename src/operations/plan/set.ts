import * as v from 'valibot';
import { Sentence } from '../../core/text.ts';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { findStep } from '../step/parts/find-step.ts';
import { mustBeFewFiles, planFields, planFlags } from './parts/fields.ts';

export const planSet = defineOperation({
  name: 'plan.set',
  summary: 'Change a step of the plan.',
  scope: 'write',
  words: ['key'],
  flags: planFlags,
  examples: ['holdfast plan set t4 --title "Rotate refresh tokens" --after t2,t3'],
  input: v.object({ key: stepKey, title: v.optional(described(Sentence, 'What it is called.')), ...planFields }),
  output: StepOutcome,
  async run(given, { key: name, ...patch }) {
    mustBeFewFiles(patch.context);
    const context = await inRun(given);
    const key = await findStep(context, name);
    const done = await act(context, { type: 'plan.change', step: key, patch });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `Changed ${pen.bold(step.key)} ${step.title}.`,
});
