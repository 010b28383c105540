import * as v from 'valibot';
import { act, currentState, inRun, StepOutcome, stepNow, stepOutcome } from '../act.ts';
import { stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { actWords } from './parts/act-words.ts';
import { findStep } from './parts/find-step.ts';

export const gate = defineOperation({
  name: 'gate',
  summary: 'Open or close the gate before a step (people only).',
  scope: 'maintain',
  by: 'person',
  words: ['key', 'state'],
  examples: ['holdfast gate p3 open'],
  input: v.object({
    key: stepKey,
    state: v.optional(described(v.picklist(['open', 'close']), 'What to do with it; without it its state is shown.')),
  }),
  output: StepOutcome,
  async run(given, { key: name, state }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    if (state === undefined) return { data: stepNow(await currentState(context), context.run, key) };
    const done = await act(context, { type: 'gate.set', step: key, open: state === 'open' });
    return stepOutcome(done, key);
  },
  say: ({ step }, pen) => {
    const { gate } = step;
    if (!gate) return `${pen.bold(step.key)} ${step.title}: there is no gate.`;
    const { by, evidence = null, version = 0, isClaim = false } = gate;
    const act = by === undefined ? null : { by, evidence, version, isClaim };
    return `${pen.bold(step.key)} ${step.title}: the gate ${act === null ? 'is' : 'was'} ${gate.state === 'open' ? (act === null ? 'open' : 'opened') : 'closed'}${actWords(act, pen)}.`;
  },
});
