import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { label, version } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { putValues } from './parts/values.ts';

export const statePut = defineOperation({
  name: 'state.put',
  summary: "Set a key of a program's state to a value, which comes back whole and exactly as given.",
  scope: 'write',
  words: ['key', 'value'],
  examples: ['holdfast state put cart \'{"items":[1,2]}\'', 'holdfast state put cart null --expect 41'],
  input: v.object({
    key: described(label, 'The name of the value.'),
    value: v.optional(described(v.string(), 'The value as JSON text. It is not searched and no secret is left out.')),
    base64: v.optional(described(v.string(), 'The value as bytes, in base64.')),
    expect: v.optional(described(version, 'The version that is replaced; 0 where the key must not be set.')),
    keep: v.optional(
      described(v.picklist(['latest', 'all']), '`all` keeps the value that is replaced (default latest).'),
    ),
  }),
  output: v.object({
    key: v.string(),
    version: v.number(),
    sha256: v.string(),
    bytes: v.number(),
    run: v.string(),
  }),
  async run(context, { key, value: json, base64, expect, keep }) {
    const value = valueIn(json, base64);
    const { put, run, changed } = await putValues(context, [
      { key, value, expect: expect === 0 ? null : expect, keep },
    ]);
    const [first] = put;
    if (!first) throw new Fault('internal', 'Nothing was put.');
    return { data: { ...first, run }, changed };
  },
  say: ({ key, bytes, version: at }, pen) => `${pen.quote(key, 'name')} has ${bytes} bytes now, version ${at}.`,
});

function valueIn(json: string | undefined, base64: string | undefined): unknown {
  const hints = ['`holdfast state put KEY \'{"a":1}\'`; a text is written with its quotes: \'"text"\'.'];
  if ((json === undefined) === (base64 === undefined))
    throw new Fault('invalid', 'Give the value as JSON or as base64, and not both.', { hints });
  if (base64 !== undefined) {
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.toString('base64').replace(/=+$/, '') !== base64.replace(/\s+/g, '').replace(/=+$/, ''))
      throw new Fault('invalid', 'The value is not base64.', {
        hints: ['Use the standard alphabet: A-Z a-z 0-9 + /.'],
      });
    return new Uint8Array(bytes);
  }
  try {
    return JSON.parse(json ?? '');
  } catch (cause) {
    throw new Fault('invalid', `The value is not JSON: ${(cause as Error).message}.`, { hints, cause });
  }
}
