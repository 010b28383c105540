import * as v from 'valibot';
import { act } from '../act.ts';
import { reason } from '../fields.ts';
import { defineOperation } from '../operation.ts';

export const abort = defineOperation({
  name: 'abort',
  summary: 'Abandon a run, with a reason (people only).',
  scope: 'maintain',
  by: 'person',
  words: ['reason'],
  synonyms: { reason: ['why'] },
  examples: ['holdfast abort "the customer left" --run login'],
  input: v.object({ reason }),
  output: v.object({ run: v.object({ id: v.string(), status: v.string() }), version: v.number() }),
  async run(context, { reason: why }) {
    const done = await act(context, { type: 'run.abort', reason: why });
    return {
      data: { run: { id: done.run, status: done.state.run?.status ?? '' }, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ run }, pen) => `Run ${pen.bold(run.id)} is ${run.status}.`,
});
