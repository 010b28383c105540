import * as v from 'valibot';
import { line } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { planFields, planFlags } from './parts/fields.ts';

export const planAdd = defineOperation({
  name: 'plan.add',
  summary: 'Add a step to the plan.',
  scope: 'write',
  words: ['key', 'title'],
  flags: planFlags,
  examples: [
    'holdfast plan add p2 "JWT implementation" --kind phase',
    'holdfast plan add t4 "Rotate tokens" --parent p2 --after t3',
  ],
  input: v.object({ key: stepKey, title: described(Sentence, 'What it is called.'), ...planFields }),
  output: StepOutcome,
  async run(context, { key, title, kind, ...plan }) {
    const done = await act(context, { type: 'plan.add', steps: [{ key, title, kind: kind ?? 'task', ...plan }] });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => line`Added ${pen.bold(pen.quote(step.key, 'name'))} ${pen.quote(step.title, 'title')}.`,
});
