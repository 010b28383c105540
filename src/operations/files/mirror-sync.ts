import * as v from 'valibot';
import type { Mirror } from '../../core/fold/state.ts';
import { currentState } from '../act.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { isOwnMirror } from './parts/mirror-base.ts';
import { PAUSE_HINT } from './parts/mirror-pause.ts';
import { askWords, newsWords, type Synced } from './parts/mirror-words.ts';
import { syncMirrors } from './parts/mirrors.ts';
import { writeResumeCopies } from './parts/resume-copy.ts';

export const MirrorShape = shaped<Synced>({ format: v.string(), path: v.string(), absorbed: v.number() });

export const mirrorSync = defineOperation({
  name: 'mirror.sync',
  summary: 'Sync mirrors in both directions.',
  scope: 'write',
  local: true,
  counts: true,
  examples: ['holdfast mirror sync', 'holdfast mirror sync --keep journal'],
  input: v.object({
    keep: v.optional(described(v.picklist(['journal', 'file']), 'End pauses and settle what is asked, for this side.')),
  }),
  output: v.object({
    mirrors: v.array(MirrorShape),
    /** Those that other clones added. */
    elsewhere: v.array(shaped<Mirror>({ format: v.string(), path: v.string() })),
  }),
  async run(context, { keep }) {
    const state = await currentState(context);
    const workspace = context.workspace();
    const elsewhere = [...state.mirrors.values()].filter((mirror) => !(workspace && isOwnMirror(workspace, mirror)));
    const mirrors = [...(await syncMirrors(context, state, { keep })), ...(await writeResumeCopies(context, state))];
    return { data: { mirrors, elsewhere } };
  },
  say: ({ mirrors, elsewhere }, pen) =>
    [
      ...mirrors.map((one) => syncedWords(one, pen)),
      ...elsewhere.map(
        ({ format, path }) =>
          `${pen.bold(path)} is a mirror of another clone. \`holdfast mirror add ${format} ${path}\` mirrors it here too.`,
      ),
    ].join('\n') || 'This run has no mirrors.',
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
