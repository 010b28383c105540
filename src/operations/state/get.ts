import * as v from 'valibot';
import { notFound } from '../../core/fault.ts';
import { label, version } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { readValue } from './parts/values.ts';

export const stateGet = defineOperation({
  name: 'state.get',
  summary: "Print a value of a program's state, exactly as it was put.",
  // Values are stored as given, secrets included: looking at the run is not enough.
  scope: 'write',
  words: ['key'],
  flags: { version: 'at' },
  examples: ['holdfast state get cart', 'holdfast state get cart --at 41'],
  input: v.object({
    key: described(label, 'The name of the value.'),
    version: v.optional(described(version, 'An earlier value that was kept, by the version that set it.')),
  }),
  output: v.object({
    key: v.string(),
    type: v.picklist(['json', 'bytes']),
    /** As JSON text, or in base64: other interfaces may not keep every text as it is. */
    content: v.string(),
    version: v.number(),
    at: v.string(),
    bytes: v.number(),
  }),
  async run(context, { key, version: wanted }) {
    const found = await readValue(context, key, wanted);
    if (!found) throw notFound('value', key, [], 'See the keys with `holdfast state list`.');
    const { value, ...rest } = found;
    const content = value instanceof Uint8Array ? Buffer.from(value).toString('base64') : JSON.stringify(value);
    return { data: { key, ...rest, content } };
  },
  say: ({ content }, pen) => pen.whole(content),
});
