import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { note, stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { treeMark } from '../working-tree.ts';

export const retry = defineOperation({
  name: 'retry',
  summary: 'Try a failed step again; more than twice only a person may.',
  scope: 'write',
  words: ['key'],
  examples: ['holdfast retry p2', 'holdfast retry p2 --open --note "the registry is back"'],
  input: v.object({
    key: stepKey,
    note,
    open: v.optional(described(v.boolean(), 'Take it not yourself: the next agent to start it goes on with it.')),
  }),
  output: StepOutcome,
  async run(context, { key, note: told, open }) {
    const mark = treeMark(context);
    const done = await act(context, { type: 'step.retry', step: key, note: told, open, mark });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) =>
    `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: retry ${step.retries}${step.holder ? '' : `, open for whoever starts it: \`holdfast start ${step.key}\``}.`,
});
