import * as v from 'valibot';
import { line, id as ownId } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { act } from '../act.ts';
import { reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const handoffClarify = defineOperation({
  name: 'handoff.clarify',
  summary: 'Ask about an offer before you accept it.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast handoff clarify H-2 --question "which branch?"'],
  input: v.object({ id: reference, question: described(Sentence, 'What you need to know.') }),
  output: v.object({ id: v.string(), run: v.string(), version: v.number() }),
  async run(context, { id, question }) {
    const done = await act(context, { type: 'handoff.clarify', id, question });
    return { data: { id, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => line`${pen.bold(ownId(id))}: your question is recorded; the sender or a person answers it.`,
});
