import * as v from 'valibot';
import { notFound } from '../../core/fault.ts';
import { act, currentState } from '../act.ts';
import { defineOperation, described } from '../operation.ts';

export const mirrorRemove = defineOperation({
  name: 'mirror.remove',
  summary: 'Stop mirroring a file; the file stays as it is.',
  scope: 'write',
  words: ['path'],
  input: v.object({ path: described(v.string(), 'The file or its format.') }),
  output: v.object({ run: v.string(), format: v.string(), path: v.string() }),
  async run(context, { path }) {
    const mirrors = [...(await currentState(context)).mirrors.values()];
    const meant = mirrors.find((one) => one.path === path) ?? mirrors.find((one) => one.format === path);
    const known = mirrors.map((one) => one.path);
    if (!meant) throw notFound('mirror', path, known, 'See them with `holdfast mirror list`.');
    const done = await act(context, { type: 'mirror.remove', ...meant });
    return { data: { run: done.run, ...meant }, changed: done.changed };
  },
  say: ({ path }, pen) => `${pen.bold(path)} is no longer mirrored; it stays as it is.`,
});
