import { join } from 'node:path';
import * as v from 'valibot';
import { clients } from '../../../clients/clients.ts';
import { type ClientName, clientNames } from '../../../clients/conversation.ts';
import type { Place } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Change } from '../../../core/views/changed.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import { described, type Outcome, type Pen } from '../../operation.ts';
import type { Desk, Step } from './apply.ts';
import { readRecord, removeIfEmpty, writeRecord } from './manifest.ts';
import { recordFolder } from './place.ts';

/** What `install` and `uninstall` take and tell, which is the same. */

export const ChosenClient = described(
  v.picklist([...clientNames, 'all']),
  'The client: claude, codex, gemini, qwen, copilot, vscode, cursor, opencode; or all that are found.',
);
export const project = v.optional(described(v.boolean(), 'In the settings of this project, which is the default.'));
export const user = v.optional(described(v.boolean(), "In the user's own settings, for all projects."));
export const dryRun = v.optional(described(v.boolean(), 'Tell what would be done and change nothing.'));

export const Installation = v.object({
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

export function scopeOf(input: { project?: boolean | undefined; user?: boolean | undefined }): Place['scope'] {
  if (input.project === true && input.user === true)
    throw new Fault('usage', 'It is either `--project` or `--user`.', { hints: ['Without both it is the project.'] });
  return input.user === true ? 'user' : 'project';
}

const LOCK_WAIT_MS = 10_000;

/** One process at a time, with the record of what is installed, which is written in the end. */
export async function atDesk<T>(
  place: Place,
  isDry: boolean,
  work: (desk: Desk) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const folder = recordFolder(place);
  const open = (): Desk => ({ place, folder, record: readRecord(folder) });
  if (isDry) return work(open());
  const done = await withFileLock(join(folder, 'installed.lock'), LOCK_WAIT_MS, async () => {
    const desk = open();
    const outcome = await work(desk);
    writeRecord(folder, desk.record);
    return outcome;
  });
  // Nothing is kept there: the folder was made for the lock.
  removeIfEmpty(folder);
  if (done) return done;
  throw new Fault('unavailable', 'Another process is installing at this moment.', {
    hints: ['Nothing was changed. Try again when it has ended.'],
  });
}

export function reportOf(place: Place, names: readonly ClientName[], steps: readonly Step[], isDry: boolean) {
  const files = steps.map(({ key, holds, action, why }) => ({ path: key, holds, action, ...(why ? { why } : {}) }));
  return { clients: [...names], scope: place.scope, dryRun: isDry, files };
}

/** By hash: the texts are the client's settings and may hold anything. */
export function changesOf(steps: readonly Step[], isDry: boolean): Change[] {
  if (isDry) return [];
  const hash = (text: string | null): string | null => (text === null ? null : sha256(text));
  return steps.flatMap(({ key, next, target }) =>
    next === undefined ? [] : [{ path: key, before: hash(target.text), after: hash(next) }],
  );
}

export function sayFiles(data: Installation, pen: Pen, done: string): string {
  const titles = data.clients.map((name) => clients[name].title).join(', ');
  const where = data.scope === 'user' ? 'for all projects of this user' : 'in this project';
  if (data.files.length === 0) return `Nothing of Holdfast is installed for ${pen.bold(titles)} ${where}.`;
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

/** What was not done yet is not told as if it were. */
const planned: Partial<Record<Installation['files'][number]['action'], string>> = {
  created: 'create',
  changed: 'change',
  removed: 'remove',
  restored: 'restore',
};
