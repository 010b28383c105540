import * as v from 'valibot';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { note, stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { treeMark } from '../working-tree.ts';
import { findStep } from './parts/find-step.ts';

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
  async run(given, { key: name, note: remark, open }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    const mark = treeMark(context);
    // A person decides; the work is the agent's.
    const isLeft = open ?? context.identity.actor.kind === 'person';
    const done = await act(context, { type: 'step.retry', step: key, note: remark, open: isLeft, mark });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) =>
    `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: retry ${step.retries}${step.holder ? '' : `, open for the next agent: \`holdfast start ${step.key}\``}.`,
});
