import * as v from 'valibot';
import type { Mirror } from '../../core/fold/state.ts';
import { currentState } from '../act.ts';
import { defineOperation, shaped } from '../operation.ts';

export const mirrorList = defineOperation({
  name: 'mirror.list',
  summary: 'List the mirrors of this run.',
  scope: 'read',
  input: v.object({}),
  output: v.object({ mirrors: v.array(shaped<Mirror>({ format: v.string(), path: v.string() })) }),
  async run(context) {
    const state = await currentState(context);
    return { data: { mirrors: [...state.mirrors.values()] } };
  },
  say: ({ mirrors }, pen) =>
    mirrors.length === 0
      ? 'This run has no mirrors: `holdfast mirror add FORMAT`.'
      : mirrors.map(({ format, path }) => `${pen.bold(path)} ${pen.dim(format)}`).join('\n'),
});
