import * as v from 'valibot';
import { defineOperation, described } from '../operation.ts';
import { listValues } from './parts/values.ts';

export const stateList = defineOperation({
  name: 'state.list',
  summary: "List the keys of a program's state with size and time.",
  scope: 'read',
  words: ['prefix'],
  examples: ['holdfast state list', 'holdfast state list cart/'],
  input: v.object({
    prefix: v.optional(described(v.string(), 'Only keys that begin with this.')),
    kept: v.optional(described(v.boolean(), 'The values that were replaced and kept, instead.')),
  }),
  output: v.object({
    values: v.array(
      v.object({
        key: v.string(),
        version: v.number(),
        at: v.string(),
        bytes: v.number(),
        type: v.picklist(['json', 'bytes']),
        sha256: v.string(),
        by: v.string(),
      }),
    ),
  }),
  async run(context, { prefix = '', kept = false }) {
    const found = await listValues(context, prefix, kept ? 'kept' : 'current');
    const values = found.map(({ key, version, at, bytes, type, sha256, by }) => ({
      key,
      version,
      at,
      bytes,
      type,
      sha256,
      by,
    }));
    return { data: { values } };
  },
  say: ({ values }, pen) =>
    values.length === 0
      ? 'No value is set.'
      : values
          .map(
            ({ key, version, at, bytes }) =>
              `${pen.quote(key, 'name')} ${pen.dim(`${bytes} bytes, version ${version}, ${at}`)}`,
          )
          .join('\n'),
});
