import * as v from 'valibot';
import { id, line } from '../../core/line.ts';
import { act, currentState, inRun, StepOutcome, stepOutcome } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { sayStep } from './parts/say-step.ts';

const Released = v.union([StepOutcome, v.object({ id: v.string(), run: v.string(), version: v.number() })]);

export const release = defineOperation({
  name: 'release',
  summary: 'Put a step back to pending, or give up a claim on files.',
  scope: 'write',
  words: ['key'],
  input: v.object({ key: described(label, 'The key of a step, or the id of a claim (L-4).') }),
  output: Released,
  async run(given, { key }) {
    const context = await inRun(given);
    const id = await claimNamed(context, key);
    if (id !== null) {
      const done = await act(context, { type: 'claim.release', id });
      return { data: { id, run: done.run, version: done.state.version }, changed: done.changed };
    }
    const done = await act(context, { type: 'step.release', step: key });
    return stepOutcome(done, key);
  },
  say: (data, pen) =>
    'id' in data
      ? line`${id(data.id)} is released.`
      : line`${pen.dim(line`□`)} ${sayStep(data.step, pen)}: pending again.`,
});

/** A claim is named by its number or by the name from another tool's file. */
async function claimNamed(context: Context, key: string): Promise<string | null> {
  if (/^L-\d+$/.test(key)) return key;
  const { claims, steps } = await currentState(context);
  if (steps.has(key)) return null;
  return [...claims.values()].find((claim) => claim.alias === key)?.id ?? null;
}
