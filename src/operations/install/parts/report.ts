import { join } from 'node:path';
import * as v from 'valibot';
import { type ClientName, clientNames, clients } from '../../../clients/index.ts';
import type { Place } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Change } from '../../../core/views/change.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import { removeIfEmpty } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';
import { described, type Outcome, type Pen } from '../../operation.ts';
import type { FileChange, OpenManifest } from './apply.ts';
import { readManifest, writeManifest } from './manifest.ts';
import { manifestFolder } from './place.ts';

const Installation = v.object({
  clients: v.array(v.picklist(clientNames)),
  scope: v.picklist(['project', 'user']),
  dryRun: v.boolean(),
  files: v.array(
    v.object({
      path: v.string(),
      holds: v.string(),
      action: v.picklist(['created', 'changed', 'unchanged', 'left', 'removed', 'restored', 'kept']),
      why: v.optional(v.string()),
    }),
  ),
  /** What only the user can do. */
  steps: v.array(v.string()),
  notes: v.array(v.string()),
});
type Installation = v.InferOutput<typeof Installation>;

/** `install` and `uninstall` have the same input and output. */
export const installFields = {
  scope: 'write',
  local: true,
  words: ['client'],
  flags: { dryRun: 'dry-run' },
  input: v.object({
    client: described(
      v.picklist([...clientNames, 'all']),
      `The client: ${clientNames.join(', ')}; or all that are found.`,
    ),
    user: v.optional(described(v.boolean(), 'In your own settings, for all projects; the default.')),
    project: v.optional(
      described(
        v.boolean(),
        'In the settings of this project, to be committed; teammates without Holdfast are not affected.',
      ),
    ),
    dryRun: v.optional(described(v.boolean(), 'Show what would be done and change nothing.')),
  }),
  output: Installation,
} as const;

export function scopeOf(input: { project?: boolean | undefined; user?: boolean | undefined }): Place['scope'] {
  if (input.project === true && input.user === true)
    throw new Fault('usage', 'Choose `--project` or `--user`, not both.', {
      hints: ['Your own settings are the default.'],
    });
  return input.project === true ? 'project' : 'user';
}

const LOCK_WAIT_MS = 10_000;

/** Reads the manifest, runs `work` and writes the manifest, in one process at a time. */
export async function withManifest<T>(
  context: Context,
  place: Place,
  isDry: boolean,
  work: (open: OpenManifest) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const folder = manifestFolder(context, place, !isDry);
  const read = (): OpenManifest => ({ place, folder, manifest: readManifest(folder) });
  if (isDry) return work(read());
  const done = await withFileLock(join(folder, 'installed.lock'), LOCK_WAIT_MS, async () => {
    const open = read();
    const outcome = await work(open);
    writeManifest(folder, open.manifest);
    return outcome;
  });
  // If nothing is installed, the folder was made for the lock only.
  removeIfEmpty(folder);
  if (done) return done;
  throw new Fault('unavailable', 'Another process is installing right now.', {
    hints: ['Nothing was changed. Try again when it has ended.'],
  });
}

export function reportOf(place: Place, names: readonly ClientName[], changes: readonly FileChange[], isDry: boolean) {
  const files = changes.map(({ key, holds, action, why }) => ({ path: key, holds, action, ...(why ? { why } : {}) }));
  return { clients: [...names], scope: place.scope, dryRun: isDry, files };
}

/** As hashes: the client's settings may hold secrets. */
export function changesOf(changes: readonly FileChange[], isDry: boolean): Change[] {
  if (isDry) return [];
  const hash = (text: string | null): string | null => (text === null ? null : sha256(text));
  return changes.flatMap(({ key, next, file }) =>
    next === undefined ? [] : [{ path: key, before: hash(file.text), after: hash(next) }],
  );
}

export function sayFiles(data: Installation, pen: Pen, done: string): string {
  const titles = data.clients.map((name) => clients[name].title).join(', ');
  const where = data.scope === 'user' ? 'in all your projects' : 'in this project';
  if (data.files.length === 0)
    return [`Nothing of Holdfast is installed for ${pen.bold(titles)} ${where}.`, ...data.steps].join('\n');
  const marks = { left: pen.warn, created: pen.good, changed: pen.good, removed: pen.good, restored: pen.good };
  return [
    `${data.dryRun ? `This would be ${done.toLowerCase()}` : done} ${pen.bold(titles)} ${where}:`,
    ...data.files.map(({ path, holds, action, why }) => {
      const word = data.dryRun ? (planned[action] ?? action) : action;
      const mark = action in marks ? marks[action as keyof typeof marks](word) : pen.dim(word);
      return `  ${mark} ${path}${holds ? pen.dim(` (${holds})`) : ''}${why ? `: ${why}` : ''}`;
    }),
    ...data.steps.map((step) => `${pen.bold(data.dryRun ? 'Then:' : 'Still to do:')} ${step}`),
    ...data.notes.map((note) => pen.dim(note)),
  ].join('\n');
}

/** A dry run has done nothing yet. */
const planned: Partial<Record<Installation['files'][number]['action'], string>> = {
  created: 'create',
  changed: 'change',
  removed: 'remove',
  restored: 'restore',
};
