import * as v from 'valibot';
import { line, id as ownId } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { act } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const handoffDecline = defineOperation({
  name: 'handoff.decline',
  summary: 'Decline an offer; the work stays where it is.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast handoff decline H-2 --reason busy'],
  input: v.object({ id: reference, reason: described(Sentence, 'Why.') }),
  output: v.object({ id: v.string(), run: v.string(), version: v.number() }),
  async run(context, { id, reason }) {
    const done = await act(context, { type: 'handoff.decline', id, reason });
    return { data: { id, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => line`${pen.bold(ownId(id))} was declined.`,
});
