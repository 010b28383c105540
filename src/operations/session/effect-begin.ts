import * as v from 'valibot';
import { Sentence } from '../../core/text.ts';
import { EffectClass } from '../../core/words.ts';
import { act, idInEvents } from '../act.ts';
import { label } from '../fields.ts';
import { Made } from '../item/decide.ts';
import { defineOperation, described } from '../operation.ts';

export const effectBegin = defineOperation({
  name: 'effect.begin',
  summary: 'Record that a side effect such as a deploy begins.',
  scope: 'write',
  words: ['name'],
  examples: ['holdfast effect begin "terraform apply" --class irreversible --key deploy-42'],
  input: v.object({
    name: described(Sentence, 'What is done.'),
    class: v.optional(described(EffectClass, 'What repeating it would do (default unknown).'), 'unknown'),
    key: v.optional(
      described(label, 'A name that identifies the same action: once it succeeded, it is not started again.'),
    ),
  }),
  output: Made,
  async run(context, { name, class: effectClass, key }) {
    const done = await act(context, {
      type: 'effect.begin',
      name,
      class: effectClass,
      key,
      once: true,
      owner: context.identity.owner,
    });
    return { data: { id: idInEvents(done) ?? '', run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => `${pen.bold(id)} began. Record its end with \`holdfast effect end ${id} --outcome …\`.`,
});
