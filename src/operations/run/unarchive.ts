import * as v from 'valibot';
import { act } from '../act.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { MovedFile, movedWords } from './archive.ts';
import { undoArchive } from './parts/archived-files.ts';

export const unarchive = defineOperation({
  name: 'unarchive',
  summary: 'Bring an archived run back, with its files.',
  scope: 'write',
  words: ['id'],
  input: v.object({ id: described(label, 'The id of the run.') }),
  output: v.object({
    run: v.object({ id: v.string(), status: v.string() }),
    version: v.number(),
    moved: v.array(MovedFile),
  }),
  async run(context, { id }) {
    const done = await act({ ...context, run: id }, { type: 'run.unarchive' });
    const moved = await undoArchive(context, done.run);
    return {
      data: { run: { id: done.run, status: done.state.run?.status ?? '' }, version: done.state.version, moved },
      changed: done.changed,
    };
  },
  say: ({ run, moved }, pen) => [`Run ${pen.bold(run.id)} is ${run.status}.`, ...movedWords(moved, pen)].join('\n'),
});
