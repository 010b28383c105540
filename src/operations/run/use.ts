import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { line } from '../../core/line.ts';
import { chosenRun } from '../../workspace/run-presence.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { treeMark } from '../working-tree.ts';
import { chooseForTree } from './parts/choose-run.ts';
import { namedRun } from './parts/current-run.ts';

export const use = defineOperation({
  name: 'use',
  summary: 'Choose the run of this working tree: commands mean it, and new sessions join it.',
  scope: 'write',
  local: true,
  words: ['run'],
  examples: ['holdfast use login', 'holdfast use --clear'],
  input: v.object({
    run: v.optional(described(label, 'Its id, a part of it that is clear, or its title.')),
    clear: v.optional(described(v.boolean(), 'Choose none.')),
  }),
  output: v.object({ run: v.nullable(v.string()), title: v.nullable(v.string()), before: v.nullable(v.string()) }),
  async run(context, { run, clear }) {
    const workspace = context.workspace();
    if (!workspace) {
      throw new Fault('not_found', 'There is no workspace here.', { hints: ['Create one with `holdfast init`.'] });
    }
    if (run !== undefined && clear) {
      throw new Fault('usage', 'Give a run or `--clear`, not both.', { hints: ['See `holdfast help use`.'] });
    }
    const tree = treeMark(context)?.tree ?? '';
    const before = chosenRun(workspace.files, tree);
    // A part of a title is enough: nothing is recorded, and the answer names the run.
    const head = run === undefined ? null : await namedRun(context, run, true);
    if (head || clear) await chooseForTree(context, head?.run ?? null);
    const shown = head?.run ?? (clear ? null : before);
    return { data: { run: shown, title: head?.title ?? null, before } };
  },
  say: ({ run, title, before }, pen) => {
    if (run === null) return line`No run is chosen in this working tree.`;
    const named = title === null ? '' : line` (${pen.quote(title, 'title')})`;
    const was = before !== null && before !== run ? line` Before: ${pen.quote(before, 'name')}.` : '';
    return line`The run of this working tree is ${pen.quote(run, 'name')}${named}.${was}`;
  },
});
