import * as v from 'valibot';
import { oneLine } from '../../core/text.ts';
import { currentState } from '../act.ts';
import { defineOperation, type Pen, shaped } from '../operation.ts';
import { type Synced, syncMirrors } from './parts/mirrors.ts';

export const MirrorShape = shaped<Synced>({ format: v.string(), path: v.string(), absorbed: v.number() });

export const mirrorSync = defineOperation({
  name: 'mirror.sync',
  summary: 'Sync mirrors in both directions.',
  scope: 'write',
  local: true,
  input: v.object({}),
  output: v.object({ mirrors: v.array(MirrorShape) }),
  async run(context) {
    return { data: { mirrors: await syncMirrors(context, await currentState(context)) } };
  },
  say: ({ mirrors }, pen) =>
    mirrors.length === 0 ? 'This run has no mirrors.' : mirrors.map((one) => syncedWords(one, pen)).join('\n'),
});

function syncedWords({ path, format, absorbed, dropped, rejected, written }: Synced, pen: Pen): string {
  const changes = [
    ...(absorbed > 0 ? [`${absorbed} changes absorbed`] : []),
    ...(written.length > 0 ? ['written'] : []),
    ...(rejected ? [pen.warn(`an edit could not be read and was kept as ${rejected}`)] : []),
  ];
  const gone = dropped.map(({ kind, name, words }) =>
    pen.warn(`  ${kind} ${oneLine(name, 60)} was removed there and is kept here: ${oneLine(words, 80)}`),
  );
  return [`${pen.bold(path)} ${pen.dim(format)} ${changes.join(', ') || 'up to date'}`, ...gone].join('\n');
}
