import type { Mirror, State } from '../../../core/fold/state.ts';
import { keepCopy } from '../../../workspace/guarded/copies.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { isOwnMirror, readBase, saveBase } from './mirror-base.ts';
import { mustBeMirrorable } from './mirror-paths.ts';
import type { Synced } from './mirror-words.ts';
import { mustBeFree, unsynced } from './mirrors.ts';

/** The brief as a file in the working tree, for those who want one there. It is written and never read. */
export const RESUME = { name: 'resume', home: 'RESUME.md', writes: ['**/*.md'] } as const;

export const isResumeCopy = ({ format }: Mirror): boolean => format === RESUME.name;

/** Brings the copies of RESUME.md up to date. What someone wrote into one is kept as a backup first. */
export async function writeResumeCopies(context: Context, state: State): Promise<Synced[]> {
  const workspace = context.workspace();
  const own = [...state.mirrors.values()].filter(isResumeCopy);
  const page = workspace && own.length > 0 ? workspace.files.read(RESUME.home) : null;
  if (!workspace || page === null) return [];
  const written: Synced[] = [];
  for (const mirror of own) {
    if (!isOwnMirror(workspace, mirror)) continue;
    const isWritten = await writeCopy(context, workspace, state, mirror, page);
    written.push({ ...unsynced(mirror), written: isWritten ? [mirror.path] : [] });
  }
  return written;
}

/** The same after a command has recorded something: an error here is only a warning. */
export async function keepResumeCopies(context: Context, state: State): Promise<void> {
  try {
    await writeResumeCopies(context, state);
  } catch (thrown) {
    context.warn(`The copy of RESUME.md was not written: ${(thrown as Error).message}`);
  }
}

async function writeCopy(
  context: Context,
  workspace: Workspace,
  state: State,
  mirror: Mirror,
  page: string,
): Promise<boolean> {
  const { path } = mirror;
  mustBeMirrorable(workspace.tree, RESUME, path);
  const tree = openGuarded(workspace.tree);
  const present = tree.read(path);
  if (present === page) return false;
  await mustBeFree(context, await context.engine(), state, [path]);
  const isEdited = present !== null && present !== readBase(workspace, mirror, new Map())?.get(path);
  if (isEdited) {
    const kept = keepCopy(workspace.files, 'backups', path, present, context.now());
    context.warn(`${path} was edited; the edit is kept as ${kept} in the data folder and not read.`);
  }
  if (!tree.replace(path, present, page)) return false;
  saveBase(workspace, mirror, new Map([[path, page]]));
  return true;
}
