import * as v from 'valibot';
import { act } from './act.ts';
import { reason } from './fields.ts';
import { defineOperation } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const archive = defineOperation({
  name: 'archive',
  summary: 'Put a finished run away; an unfinished one needs a person and a reason.',
  scope: 'write',
  input: v.object({ reason: v.optional(reason) }),
  output: v.object({ run: v.object({ id: v.string(), status: v.string() }), version: v.number() }),
  async run(context, { reason: why }) {
    const done = await act(context, { type: 'run.archive', reason: why });
    await writeResumeFile(context, done.state);
    return {
      data: { run: { id: done.run, status: done.state.run?.status ?? '' }, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ run }, pen) => `Run ${pen.bold(run.id)} is ${run.status}.`,
});
