import type { Mirror } from '../../../core/fold/state.ts';
import type { TreeMark } from '../../../core/journal/event.ts';
import { sha256 } from '../../../core/sha256.ts';
import { instantOf } from '../../../core/time.ts';
import type { Parsed } from '../../../formats/format.ts';
import { readAncestry, readBlobs } from '../../../workspace/git/status.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { MirrorMemory, Paused, Version } from './mirror-base.ts';

/**
 * Finds out whether a file that differs from its base is not an edit at all: a version from before (a checkout of an older
 * commit) or a stale copy. To absorb it would undo what was recorded since.
 */
export async function pauseFor(
  workspace: Workspace,
  { path: main }: Mirror,
  path: string,
  text: string,
  memory: MirrorMemory,
  journalVersion: number,
): Promise<Paused | null> {
  const versions = (memory.versions ?? []).filter((one) => (one.path ?? main) === path);
  const at = versions.findLastIndex((version) => version.sha256 === sha256(text));
  if (at >= 0) {
    // What only others wrote since, others may take back.
    if (!versions.slice(at + 1).some(({ ours }) => ours)) return null;
    return older(path, versions[at] as Version, journalVersion);
  }
  const lastOwn = versions.findLast(({ ours }) => ours);
  if (!lastOwn) return null;
  const bytes = Buffer.from(text);
  // Loaded on demand, because every command loads this file: it takes as long as a fifth of a command.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const committed = (await readBlobs(workspace.tree, path)).find((one) => one.blob === blob);
  if (!committed || committed.at >= lastOwn.at) return null;
  return older(path, { ...lastOwn, at: committed.at }, journalVersion);
}

const older = (path: string, { at, version }: Version, now: number): Paused => ({
  why: 'older',
  words: `${path} is at the version of ${at.slice(0, 16).replace('T', ' ')}; ${ahead(now - version)}`,
});

const ahead = (events: number): string =>
  events > 0 ? `the journal is ${events} ${events === 1 ? 'event' : 'events'} ahead.` : 'the journal is ahead.';

/** A copy whose own time is older than that of the base. */
export function staleCopy({ path }: Mirror, before: Parsed, after: Parsed): Paused | null {
  const [old, now] = [before, after].map(({ model }) => instantOf(model?.run.updatedAt ?? ''));
  if (!old || !now || now >= old) return null;
  return {
    why: 'stale',
    words: `${path} says that it was updated at ${after.model?.run.updatedAt}, before the version that is known.`,
  };
}

/**
 * Another branch is checked out than when the files were last synchronised, and it does not contain the commit of that
 * moment: its files are not those of this work. A branch that was started here is the same work.
 */
export async function otherBranch(
  { tree }: Workspace,
  { path }: Mirror,
  { branch, head }: MirrorMemory,
  mark: TreeMark | undefined,
): Promise<Paused | null> {
  if (!mark || !branch || !mark.branch || mark.branch === branch || !head || mark.head === head) return null;
  const relation = await readAncestry(tree, head);
  if (relation === undefined || (relation !== 'missing' && relation.lost === 0)) return null;
  const words = `${path} belongs to the branch ${branch}; ${mark.branch} is checked out.`;
  return { why: 'branch', words };
}

export const goneFile = ({ path }: Mirror): Paused => ({
  why: 'gone',
  words: `${path} is gone and was not written again.`,
});

export const PAUSE_HINT =
  '`holdfast mirror sync --keep journal` writes what is recorded, `--keep file` takes over what the file says.';
