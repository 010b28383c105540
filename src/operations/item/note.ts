import * as v from 'valibot';
import { joined, type Line, line, id as ownId } from '../../core/line.ts';
import { Sentence, StepKey } from '../../core/text.ts';
import { NoteKind } from '../../core/words.ts';
import { act, idInEvents } from '../act.ts';
import { defineOperation, described, typed } from '../operation.ts';
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
  output: typed<v.InferOutput<typeof Made> & { hints: Line[] }>(
    v.object({ ...Made.entries, hints: v.array(v.string()) }),
  ),
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
  say: ({ id, hints }, pen) => joined([line`Noted as ${pen.bold(ownId(id))}.`, ...hints], '\n'),
});
