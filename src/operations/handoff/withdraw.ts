import * as v from 'valibot';
import { line, id as ownId } from '../../core/line.ts';
import { Text } from '../../core/text.ts';
import { act } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const handoffWithdraw = defineOperation({
  name: 'handoff.withdraw',
  summary: 'Withdraw an offer that was not accepted yet.',
  scope: 'write',
  words: ['id'],
  input: v.object({ id: reference, reason: v.optional(described(Text, 'Why.')) }),
  output: v.object({ id: v.string(), run: v.string(), version: v.number() }),
  async run(context, { id, reason }) {
    const done = await act(context, { type: 'handoff.withdraw', id, reason });
    return { data: { id, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => line`${pen.bold(ownId(id))} is withdrawn.`,
});
