import * as v from 'valibot';
import { id, line } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { ErrorType } from '../../core/words.ts';
import { act, inRun, StepOutcome, stepInEvents, stepOutcome } from '../act.ts';
import { heldStepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { treeMark } from '../working-tree.ts';
import { findStep } from './parts/find-step.ts';
import { sayStep } from './parts/say-step.ts';

export const fail = defineOperation({
  name: 'fail',
  summary: 'Record that the step you hold failed, and raise an error.',
  scope: 'write',
  words: ['key', 'message'],
  readWords: (words) => (words.length === 1 && /\s/.test(words[0] ?? '') ? { message: words[0] ?? '' } : null),
  examples: ['holdfast fail "the model server answers 503"'],
  input: v.object({
    key: heldStepKey,
    type: v.optional(described(ErrorType, 'The kind of error.'), 'runtime'),
    message: described(Sentence, 'What went wrong.'),
  }),
  output: v.object({ ...StepOutcome.entries, error: v.nullable(v.string()) }),
  async run(given, { key: name, type, message }) {
    const context = await inRun(given);
    const key = name === undefined ? undefined : await findStep(context, name);
    const done = await act(context, {
      type: 'step.fail',
      step: key,
      errorType: type,
      message,
      mark: treeMark(context),
    });
    const outcome = stepOutcome(done, stepInEvents(done, key));
    return { ...outcome, data: { ...outcome.data, error: outcome.data.step.error } };
  },
  say: ({ step, error }, pen) =>
    line`${pen.bad(line`✗`)} ${sayStep(step, pen)}: failed (${id(error ?? '')}). Retry, skip, abort or adjust.`,
});
