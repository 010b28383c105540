import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { ActorName, Label, StepKey } from '../../core/text.ts';
import { act } from '../act.ts';
import { defineOperation, described } from '../operation.ts';

const Tokens = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const usageAdd = defineOperation({
  name: 'usage.add',
  summary: 'Record tokens that were spent.',
  scope: 'write',
  input: v.object({
    input: described(Tokens, 'Tokens read, with those from a cache.'),
    output: described(Tokens, 'Tokens written.'),
    cached: v.optional(described(Tokens, 'The part of them that was read from a cache.')),
    model: v.optional(described(Label, 'The model that spent them.')),
    of: v.optional(described(ActorName, 'The agent that spent them.')),
    step: v.optional(described(StepKey, 'The step they were spent on.')),
  }),
  output: v.object({ agent: v.string(), run: v.string(), version: v.number() }),
  async run(context, input) {
    mustContain(input);
    const done = await act(context, { type: 'usage.add', ...input });
    return {
      data: { agent: input.of ?? context.identity.actor.name, run: done.run, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ agent }) => `Recorded for ${agent}.`,
});

/** Until 0.2 cached tokens were counted outside of the input. */
function mustContain({
  input,
  output,
  cached = 0,
}: {
  input: number;
  output: number;
  cached?: number | undefined;
}): void {
  if (cached <= input) return;
  throw new Fault('invalid', `--cached is part of --input: ${cached} of ${input} tokens cannot come from a cache.`, {
    hints: [
      `If ${input} were read in addition to the cached ones: \`holdfast usage add --input ${input + cached} --output ${output} --cached ${cached}\`.`,
    ],
  });
}
