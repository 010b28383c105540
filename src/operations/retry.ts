import * as v from 'valibot';
import { act, StepOutcome, stepOutcome, treeMark } from './act.ts';
import { note, stepKey } from './fields.ts';
import { defineOperation } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const retry = defineOperation({
  name: 'retry',
  summary: 'Try a failed step again; more than twice only a person may.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: stepKey, note }),
  output: StepOutcome,
  async run(context, { key, note: told }) {
    const done = await act(context, { type: 'step.retry', step: key, note: told, mark: treeMark(context) });
    await writeResumeFile(context, done.state);
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: retry ${step.retries}.`,
});
