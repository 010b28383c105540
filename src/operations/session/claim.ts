import * as v from 'valibot';
import { FilePath } from '../../core/text.ts';
import { recordedPath } from '../../workspace/files.ts';
import { act, idInEvents } from '../act.ts';
import { note } from '../fields.ts';
import { Made } from '../item/decide.ts';
import { defineOperation, described } from '../operation.ts';

export const claim = defineOperation({
  name: 'claim',
  summary: 'Claim files for your session; others are refused until you release them or your lease expires.',
  scope: 'write',
  words: ['files'],
  examples: ['holdfast claim src/auth/** docs/plan.md', 'holdfast release L-4'],
  input: v.object({
    files: described(v.pipe(v.array(FilePath), v.minLength(1, 'needs at least one')), 'Files or patterns.'),
    note,
  }),
  output: v.object({ ...Made.entries, files: v.array(v.string()) }),
  async run(context, { files, note: why }) {
    const tree = context.workspace()?.tree ?? context.dir;
    const paths = files.map((file) => recordedPath(tree, context.dir, file));
    const done = await act(context, { type: 'claim.take', files: paths, reason: why });
    const mine = [...done.state.claims.values()].find(
      (one) => one.session === done.session && paths.every((path) => one.files.includes(path)),
    );
    return {
      data: { id: idInEvents(done) ?? mine?.id ?? '', files: paths, run: done.run, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ id, files }, pen) => `${pen.bold(id)} claims ${files.join(', ')}.`,
});
