import * as v from 'valibot';
import { act } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';

export const planRemove = defineOperation({
  name: 'plan.remove',
  summary: 'Remove a pending step from the plan.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey }),
  output: v.object({ key: v.string(), run: v.string(), version: v.number() }),
  async run(context, { key }) {
    const done = await act(context, { type: 'plan.remove', step: key });
    return { data: { key, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ key }, pen) => `Removed ${pen.bold(key)}.`,
});
