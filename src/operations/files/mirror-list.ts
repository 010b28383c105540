import * as v from 'valibot';
import type { Mirror } from '../../core/fold/state.ts';
import { currentState } from '../act.ts';
import { defineOperation, shaped } from '../operation.ts';
import { isOwnMirror } from './parts/mirror-base.ts';

export interface Listed extends Mirror {
  /** False for one that another clone added: it is neither read nor written here. */
  here: boolean;
}

export const mirrorList = defineOperation({
  name: 'mirror.list',
  summary: 'List the mirrors of this run.',
  scope: 'read',
  input: v.object({}),
  output: v.object({ mirrors: v.array(shaped<Listed>({ format: v.string(), path: v.string(), here: v.boolean() })) }),
  async run(context) {
    const state = await currentState(context);
    const workspace = context.workspace();
    const isHere = (mirror: Mirror): boolean => workspace !== null && isOwnMirror(workspace, mirror);
    return { data: { mirrors: [...state.mirrors.values()].map((mirror) => ({ ...mirror, here: isHere(mirror) })) } };
  },
  say: ({ mirrors }, pen) =>
    mirrors.length === 0
      ? 'This run has no mirrors: `holdfast mirror add FORMAT`.'
      : mirrors
          .map(
            ({ format, path, here }) => `${pen.bold(path)} ${pen.dim(here ? format : `${format}, of another clone`)}`,
          )
          .join('\n'),
});
