import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const gate = defineOperation({
  name: 'gate',
  summary: 'Open or close the gate before a step (people only).',
  scope: 'maintain',
  words: ['key', 'state'],
  examples: ['holdfast gate p3 open'],
  input: v.object({ key: stepKey, state: described(v.picklist(['open', 'close']), 'What to do with it.') }),
  output: StepOutcome,
  async run(context, { key, state }) {
    const done = await act(context, { type: 'gate.set', step: key, open: state === 'open' });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => {
    return `${pen.bold(step.key)} ${step.title}: ${step.gate ? `the gate is ${step.gate.state}` : 'there is no gate'}.`;
  },
});
