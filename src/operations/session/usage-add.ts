import * as v from 'valibot';
import { ActorName, StepKey } from '../../core/text.ts';
import { act } from '../act.ts';
import { defineOperation, described } from '../operation.ts';

const Tokens = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const usageAdd = defineOperation({
  name: 'usage.add',
  summary: 'Record tokens that were spent.',
  scope: 'write',
  input: v.object({
    input: described(Tokens, 'Tokens read, without cached ones.'),
    output: described(Tokens, 'Tokens written.'),
    cached: v.optional(described(Tokens, 'Tokens read from a cache.')),
    of: v.optional(described(ActorName, 'The agent that spent them.')),
    step: v.optional(described(StepKey, 'The step they were spent on.')),
  }),
  output: v.object({ agent: v.string(), run: v.string(), version: v.number() }),
  async run(context, input) {
    const done = await act(context, { type: 'usage.add', ...input });
    return {
      data: { agent: input.of ?? context.identity.actor.name, run: done.run, version: done.state.version },
      changed: done.changed,
    };
  },
  say: ({ agent }) => `Recorded for ${agent}.`,
});
