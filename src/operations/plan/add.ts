import * as v from 'valibot';
import type { State } from '../../core/fold/state.ts';
import { line } from '../../core/line.ts';
import { Sentence, StepKey } from '../../core/text.ts';
import { act, currentState, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { mustBeFewFiles, planFields, planFlags } from './parts/fields.ts';

export const planAdd = defineOperation({
  name: 'plan.add',
  summary: 'Add a step to the plan.',
  scope: 'write',
  words: ['key', 'title'],
  readWords: (words) => (isTitle(words) ? { title: words.join(' ') } : null),
  flags: planFlags,
  examples: [
    'holdfast plan add "Buy a domain"',
    'holdfast plan add p2 "JWT implementation" --kind phase',
    'holdfast plan add t4 "Rotate tokens" --parent p2 --after t3',
  ],
  input: v.object({
    key: v.optional(described(StepKey, 'Its key; made from its place in the plan when left out.')),
    title: described(Sentence, 'What it is called.'),
    ...planFields,
  }),
  output: StepOutcome,
  async run(given, { key: named, title, kind, ...plan }) {
    mustBeFewFiles(plan.context);
    const context = await inRun(given);
    const key = named ?? freeKey(await currentState(context), plan.parent);
    const done = await act(context, { type: 'plan.add', steps: [{ key, title, kind: kind ?? 'task', ...plan }] });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => line`Added ${pen.bold(pen.quote(step.key, 'name'))} ${pen.quote(step.title, 'title')}.`,
});

/** The next free `t4`, or `p2.4` below a parent. */
function freeKey({ steps }: State, parent: string | undefined): string {
  const stem = parent === undefined ? 't' : `${parent}.`;
  let number = 1;
  for (const key of steps.keys()) {
    const digits = key.startsWith(stem) ? key.slice(stem.length) : '';
    if (/^\d{1,9}$/.test(digits)) number = Math.max(number, Number(digits) + 1);
  }
  return `${stem}${number}`;
}

/** One word, or a sentence without quotes. A key before a title is two words, or has a digit. */
const isTitle = ([first = '', ...others]: readonly string[]): boolean =>
  others.length === 0 || (others.length > 1 && !/\d/.test(first));
