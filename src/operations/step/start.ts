import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { id, line } from '../../core/line.ts';
import { FilePath, Sentence } from '../../core/text.ts';
import { isDone, type PlanView, planView } from '../../core/views/plan.ts';
import { recordedPath } from '../../workspace/files.ts';
import { act, currentState, inRun, StepOutcome, stepOutcome } from '../act.ts';
import type { Context } from '../context.ts';
import { stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { superviseRun } from '../session/parts/supervision.ts';
import { findStep, nothingNamed, takeable } from './parts/find-step.ts';
import { startMark } from './parts/manifest.ts';
import { mustAllowWork } from './parts/must-allow-work.ts';
import { sayStep } from './parts/say-step.ts';

export const start = defineOperation({
  name: 'start',
  summary: 'Take a step, or take over one that was interrupted.',
  scope: 'write',
  words: ['key'],
  synonyms: { reason: ['why'] },
  examples: [
    'holdfast start p1.2',
    'holdfast start --next',
    'holdfast start 5 --anyway --why "the plan is approved by mail"',
  ],
  input: v.object({
    key: v.optional(stepKey),
    next: v.optional(described(v.boolean(), 'Take the first step that is interrupted or ready.')),
    loaded: v.optional(described(v.array(FilePath), 'A file that you have read for it.')),
    anyway: v.optional(described(v.boolean(), 'Start it although something is in the way (people only).')),
    reason: v.optional(described(Sentence, 'Why it is started anyway.')),
  }),
  output: StepOutcome,
  async run(given, { key: name, next, loaded = [], anyway, reason }) {
    if (anyway === true && reason === undefined)
      throw new Fault('usage', 'To start a step out of order needs a reason.', {
        hints: [`Say why: \`holdfast start ${name ?? 'KEY'} --anyway --why "…"\``],
      });
    const context = await inRun(given);
    await mustAllowWork(context);
    await superviseRun(context);
    const key = name === undefined ? await firstStep(context, next === true) : await findStep(context, name);
    const tree = context.workspace()?.tree ?? context.dir;
    const done = await act(context, {
      type: 'step.start',
      step: key,
      mark: await startMark(context),
      ...(anyway ? { anyway: reason } : {}),
      loaded: loaded.map((path) => recordedPath(tree, context.dir, path)),
    });
    const early = unfinishedBefore(planView(done.state), key);
    if (early.length > 0) context.warn(`Not done, and earlier in the plan: ${early.join(', ')}.`);
    return stepOutcome(done, key);
  },
  say: ({ step, session }, pen) => {
    const from = step.checkpoint ? line` Continue after checkpoint ${pen.quote(step.checkpoint.name, 'name')}.` : '';
    return line`${pen.good(line`○`)} ${sayStep(step, pen)}: in progress, held by ${id(session ?? '')}.${from}`;
  },
});

async function firstStep(context: Context, isMeant: boolean): Promise<string> {
  const state = await currentState(context);
  const [first] = isMeant ? takeable(planView(state)) : [];
  if (!first) throw nothingNamed(state);
  return first.step.key;
}

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
