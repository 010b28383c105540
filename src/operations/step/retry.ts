import * as v from 'valibot';
import { act, StepOutcome, stepOutcome } from '../act.ts';
import { note, stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { treeMark } from '../working-tree.ts';

export const retry = defineOperation({
  name: 'retry',
  summary: 'Retry a failed step; more than twice needs a person.',
  scope: 'write',
  words: ['key'],
  examples: ['holdfast retry p2', 'holdfast retry p2 --open --note "the registry is back"'],
  input: v.object({
    key: stepKey,
    note,
    open: v.optional(described(v.boolean(), 'Reopen without taking it: the next agent to start it continues.')),
  }),
  output: StepOutcome,
  async run(context, { key, note: remark, open }) {
    const mark = treeMark(context);
    const done = await act(context, { type: 'step.retry', step: key, note: remark, open, mark });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) =>
    `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: retry ${step.retries}${step.holder ? '' : `, open for the next agent: \`holdfast start ${step.key}\``}.`,
});
