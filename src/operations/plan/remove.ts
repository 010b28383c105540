import * as v from 'valibot';
import { act, inRun } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findStep } from '../step/parts/find-step.ts';

export const planRemove = defineOperation({
  name: 'plan.remove',
  summary: 'Remove a pending step from the plan.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey }),
  output: v.object({ key: v.string(), run: v.string(), version: v.number() }),
  async run(given, { key: name }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    const done = await act(context, { type: 'plan.remove', step: key });
    return { data: { key, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ key }, pen) => `Removed ${pen.bold(key)}.`,
});
