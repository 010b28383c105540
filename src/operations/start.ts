import * as v from 'valibot';
import { act, StepOutcome, stepOutcome, treeMark } from './act.ts';
import { stepKey } from './fields.ts';
import { defineOperation } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const start = defineOperation({
  name: 'start',
  summary: 'Take a step, or take over one that was interrupted.',
  scope: 'write',
  words: ['key'],
  examples: ['holdfast start p1 --agent claude'],
  input: v.object({ key: stepKey }),
  output: StepOutcome,
  async run(context, { key }) {
    const done = await act(context, { type: 'step.start', step: key, mark: treeMark(context) });
    if (done.events.length > 0) await writeResumeFile(context, done.state);
    return stepOutcome(done, key);
  },
  say: ({ step, session }, pen) => {
    const from = step.checkpoint ? ` Go on after checkpoint ${step.checkpoint.name}.` : '';
    return `${pen.good('○')} ${pen.bold(step.key)} ${step.title}: in progress, held by ${session}.${from}`;
  },
});
