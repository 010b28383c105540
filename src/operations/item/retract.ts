import * as v from 'valibot';
import { act } from '../act.ts';
import { reason, reference } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { Made } from './decide.ts';

export const retract = defineOperation({
  name: 'retract',
  summary: 'Retract a decision, with a reason; it stays in the journal.',
  scope: 'write',
  words: ['id'],
  input: v.object({ id: reference, reason }),
  output: Made,
  async run(context, { id, reason: why }) {
    const done = await act(context, { type: 'decision.retract', id, reason: why });
    return { data: { id, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => `Decision ${pen.bold(id)} is retracted.`,
});
