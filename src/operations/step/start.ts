import * as v from 'valibot';
import { id, line } from '../../core/line.ts';
import { isDone, type PlanView, planView } from '../../core/views/plan.ts';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { superviseRun } from '../session/parts/supervision.ts';
import { treeMark } from '../working-tree.ts';
import { sayStep } from './parts/say-step.ts';

export const start = defineOperation({
  name: 'start',
  summary: 'Take a step, or take over one that was interrupted.',
  scope: 'write',
  words: ['key'],
  examples: ['holdfast start p1 --agent claude'],
  input: v.object({ key: stepKey }),
  output: StepOutcome,
  async run(given, { key }) {
    const context = await inRun(given);
    await superviseRun(context);
    const done = await act(context, { type: 'step.start', step: key, mark: treeMark(context) });
    const early = unfinishedBefore(planView(done.state), key);
    if (early.length > 0) context.warn(`Not done, and earlier in the plan: ${early.join(', ')}.`);
    return stepOutcome(done, key);
  },
  say: ({ step, session }, pen) => {
    const from = step.checkpoint ? line` Continue after checkpoint ${pen.quote(step.checkpoint.name, 'name')}.` : '';
    return line`${pen.good(line`○`)} ${sayStep(step, pen)}: in progress, held by ${id(session ?? '')}.${from}`;
  },
});

/** Unfinished steps earlier in the plan that no session holds: the step may have been started out of order. */
function unfinishedBefore({ leaves }: PlanView, key: string): string[] {
  const index = leaves.findIndex((view) => view.step.key === key);
  const { wave, parallel } = leaves[index]?.step ?? {};
  if (parallel) return [];
  const open = leaves.slice(0, index).filter(({ status, step }) => {
    const together = wave !== null && step.wave === wave;
    return !isDone(status) && step.holder === null && !together;
  });
  return open.slice(0, 8).map((view) => view.step.key);
}
