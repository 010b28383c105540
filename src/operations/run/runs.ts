import * as v from 'valibot';
import { oneLine } from '../../core/text.ts';
import { mayBeChosen } from '../act.ts';
import { defineOperation } from '../operation.ts';

export const runs = defineOperation({
  name: 'runs',
  summary: 'List the runs of this workspace, the last changed first.',
  scope: 'read',
  input: v.object({}),
  output: v.object({
    runs: v.array(
      v.looseObject({
        id: v.string(),
        title: v.string(),
        status: v.string(),
        version: v.number(),
        updatedAt: v.string(),
      }),
    ),
  }),
  async run(context) {
    const engine = await context.engine();
    const workspace = context.workspace()?.id;
    const heads = await engine.heads(workspace === undefined ? {} : { workspace });
    return { data: { runs: heads.map(({ run, ...head }) => ({ id: run, ...head })) } };
  },
  say: ({ runs: found }, pen) =>
    found.length === 0
      ? 'There are no runs yet: `holdfast init`.'
      : found
          .map(
            (run) =>
              `${pen.bold(run.id)} ${pen.dim(`${run.status}${mayBeChosen(run) ? '' : ', imported'}, ${run.updatedAt.slice(0, 16)}Z`)} ${oneLine(run.title, 80)}`,
          )
          .join('\n'),
});
