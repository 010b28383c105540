import * as v from 'valibot';
import { Sentence, StepKey } from '../../core/text.ts';
import { NoteKind } from '../../core/words.ts';
import { act, idInEvents } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { compactionHints } from '../worklog/parts/file.ts';
import { Made } from './decide.ts';

export const note = defineOperation({
  name: 'note',
  summary: 'Add to the worklog; constraints and dead ends are in every brief.',
  scope: 'write',
  words: ['text'],
  examples: ['holdfast note "no new runtime dependency" --kind constraint'],
  input: v.object({
    text: described(Sentence, 'What to remember.'),
    kind: v.optional(described(NoteKind, 'What kind of note it is (default worklog).'), 'worklog'),
    step: v.optional(described(StepKey, 'The step it is about.')),
  }),
  output: v.object({ ...Made.entries, hints: v.array(v.string()) }),
  async run(context, { text, kind, step }) {
    const done = await act(context, { type: 'note.add', text, kind, step });
    return {
      data: {
        id: idInEvents(done) ?? '',
        run: done.run,
        version: done.state.version,
        hints: compactionHints(done.state),
      },
      changed: done.changed,
    };
  },
  say: ({ id, hints }, pen) => [`Noted as ${pen.bold(id)}.`, ...hints].join('\n'),
});
