import * as v from 'valibot';
import { Sentence } from '../core/text.ts';
import { act, artifactsOf, StepOutcome, stepInEvents, stepOutcome, treeMark } from './act.ts';
import { artifacts, built, heldStepKey } from './fields.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const complete = defineOperation({
  name: 'complete',
  summary: 'Finish the step you hold.',
  scope: 'write',
  words: ['key'],
  flags: { artifacts: 'artifact' },
  examples: ['holdfast complete --artifact src/refresh.ts --summary "Rotation works, tests pass"'],
  input: v.object({
    key: heldStepKey,
    artifacts,
    summary: v.optional(described(Sentence, 'What came out of it.')),
    built,
  }),
  output: StepOutcome,
  async run(context, { key, artifacts: paths, summary, built: made }) {
    const done = await act(context, {
      type: 'step.complete',
      step: key,
      summary,
      built: made,
      artifacts: await artifactsOf(context, paths, made),
      mark: treeMark(context),
    });
    if (done.events.length > 0) await writeResumeFile(context, done.state);
    return stepOutcome(done, stepInEvents(done, key));
  },
  say: ({ step }, pen) => `${pen.good('✓')} ${pen.bold(step.key)} ${step.title}: completed.`,
});
