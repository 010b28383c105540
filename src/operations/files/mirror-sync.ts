import * as v from 'valibot';
import { currentState } from '../act.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { PAUSE_HINT } from './parts/mirror-pause.ts';
import { askWords, newsWords, type Synced, syncMirrors } from './parts/mirrors.ts';

export const MirrorShape = shaped<Synced>({ format: v.string(), path: v.string(), absorbed: v.number() });

export const mirrorSync = defineOperation({
  name: 'mirror.sync',
  summary: 'Sync mirrors in both directions.',
  scope: 'write',
  local: true,
  examples: ['holdfast mirror sync', 'holdfast mirror sync --keep journal'],
  input: v.object({
    keep: v.optional(described(v.picklist(['journal', 'file']), 'End pauses and settle what is asked, for this side.')),
  }),
  output: v.object({ mirrors: v.array(MirrorShape) }),
  async run(context, { keep }) {
    return { data: { mirrors: await syncMirrors(context, await currentState(context), { keep }) } };
  },
  say: ({ mirrors }, pen) =>
    mirrors.length === 0 ? 'This run has no mirrors.' : mirrors.map((one) => syncedWords(one, pen)).join('\n'),
});

function syncedWords(synced: Synced, pen: Pen): string {
  const { path, format, paused, rejected, written } = synced;
  const changes = [
    ...(paused ? [pen.warn('paused')] : []),
    ...(synced.absorbed > 0 ? ['edited'] : []),
    ...(written.length > 0 ? ['written'] : []),
    ...(rejected ? [pen.warn(`an edit could not be read and was kept as ${rejected}`)] : []),
  ];
  return [
    `${pen.bold(path)} ${pen.dim(format)} ${changes.join(', ') || 'up to date'}`,
    ...(paused ? [paused, PAUSE_HINT] : []),
    ...askWords(synced).map((words) => pen.warn(words)),
    ...newsWords(synced),
  ].join('\n  ');
}
