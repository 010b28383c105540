import * as v from 'valibot';
import { label, version } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { removeValue } from './parts/values.ts';

export const stateRemove = defineOperation({
  name: 'state.remove',
  summary: "Remove a key of a program's state with all its bytes; the journal still shows that it was set.",
  scope: 'write',
  words: ['key'],
  flags: { version: 'at' },
  examples: ['holdfast state remove cart'],
  input: v.object({
    key: described(label, 'The name of the value.'),
    version: v.optional(described(version, 'Only the value that this version set.')),
  }),
  output: v.object({ key: v.string(), removed: v.boolean(), run: v.string(), version: v.number() }),
  async run(context, { key, version: only }) {
    const done = await removeValue(context, key, only);
    const removed = done.events.some((event) => event.type === 'value.removed');
    return { data: { key, removed, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ key, removed }, pen) =>
    removed ? `${pen.quote(key, 'name')} was removed.` : `${pen.quote(key, 'name')} was not set.`,
});
