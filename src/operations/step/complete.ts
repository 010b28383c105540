import * as v from 'valibot';
import { joined, line } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { act, actPart, currentState, inRun, StepOutcome, stepInEvents, stepOutcome } from '../act.ts';
import type { Context } from '../context.ts';
import { artifacts, built, heldStepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { artifactsOf, treeMark } from '../working-tree.ts';
import { findStep } from './parts/find-step.ts';
import { manifestOf } from './parts/manifest.ts';
import { mustAllowWork } from './parts/must-allow-work.ts';
import { sayStep } from './parts/say-step.ts';

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
    summary: v.optional(described(Sentence, 'The result.')),
    built,
  }),
  output: v.object({
    ...StepOutcome.entries,
    /** That was the last step: the run can be archived. */
    finished: v.boolean(),
  }),
  async run(given, { key: name, artifacts: paths, summary, built: made }) {
    const context = await inRun(given);
    await mustAllowWork(context);
    const key = name === undefined ? undefined : await findStep(context, name);
    if (key !== undefined) await takeFirst(context, key);
    const done = await act(context, {
      type: 'step.complete',
      step: key,
      summary,
      built: made,
      artifacts: await manifestOf(context, key, await artifactsOf(context, paths, made)),
      mark: treeMark(context),
    });
    const { data, changed } = stepOutcome(done, stepInEvents(done, key));
    return { data: { ...data, finished: done.state.run?.status === 'completed' }, changed };
  },
  say: ({ step, run, finished }, pen) =>
    joined(
      [
        line`${pen.good(line`✓`)} ${sayStep(step, pen)}: completed.`,
        ...(finished
          ? [line`That was the last step: \`holdfast archive --run ${pen.quote(run)}\` archives the run.`]
          : []),
      ],
      '\n',
    ),
});

/** A person does not take a step before finishing it: what nobody holds is started and completed at once. */
async function takeFirst(context: Context, key: string): Promise<void> {
  if (context.identity.actor.kind !== 'person') return;
  const { steps } = await currentState(context);
  const step = steps.get(key);
  if (step?.status === 'pending' && step.holder === null)
    await actPart(context, 'start', { type: 'step.start', step: key, mark: treeMark(context) });
}
