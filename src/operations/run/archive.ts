import * as v from 'valibot';
import { act, currentState, inRun } from '../act.ts';
import { reason } from '../fields.ts';
import { defineOperation, type Pen, shaped } from '../operation.ts';
import { carryOutArchive, type Moved, planArchive } from './parts/archived-files.ts';

export const MovedFile = shaped<Moved>({ what: v.string(), from: v.string(), to: v.string() });

export const archive = defineOperation({
  name: 'archive',
  summary: 'Archive a finished run, with its state file and plans; an unfinished one needs a person and a reason.',
  scope: 'write',
  input: v.object({ reason: v.optional(reason) }),
  output: v.object({
    run: v.object({ id: v.string(), status: v.string() }),
    version: v.number(),
    moved: v.array(MovedFile),
  }),
  async run(given, { reason: why }) {
    const context = await inRun(given);
    const before = await currentState(context);
    if (before.mirrors.size > 0) await planArchive(context, before);
    const done = await act(context, { type: 'run.archive', reason: why });
    const moved = await carryOutArchive(context, done.run);
    return {
      data: { run: { id: done.run, status: done.state.run?.status ?? '' }, version: done.state.version, moved },
      changed: done.changed,
    };
  },
  say: ({ run, moved }, pen) => [`Run ${pen.bold(run.id)} is ${run.status}.`, ...movedWords(moved, pen)].join('\n'),
});

export function movedWords(moved: readonly Moved[], pen: Pen): string[] {
  return moved.map(({ what, from, to }) => `  ${what}: ${pen.dim(from)} → ${to}`);
}
