import * as v from 'valibot';
import { EffectOutcome } from '../../core/words.ts';
import { act } from '../act.ts';
import { note, reference } from '../fields.ts';
import { Made } from '../item/decide.ts';
import { defineOperation, described } from '../operation.ts';

export const effectEnd = defineOperation({
  name: 'effect.end',
  summary: 'Record how a side effect ended.',
  scope: 'write',
  words: ['id'],
  flags: { exitCode: 'exit-code' },
  input: v.object({
    id: reference,
    outcome: described(EffectOutcome, 'How it ended.'),
    exitCode: v.optional(described(v.pipe(v.number(), v.integer()), 'The exit code of a command.')),
    note,
  }),
  output: v.object({ ...Made.entries, outcome: v.string() }),
  async run(context, { id, outcome, exitCode, note: remark }) {
    const done = await act(context, { type: 'effect.end', id, outcome, exitCode, note: remark });
    return { data: { id, outcome, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id, outcome }, pen) => `${pen.bold(id)} ended: ${outcome}.`,
});
