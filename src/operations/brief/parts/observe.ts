import type { FileLines } from '../../../core/brief/facts.ts';
import type { BriefRows, ObservedProcess, TreeChanges } from '../../../core/brief/observed.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import { isSameTree, type TreeName } from '../../../core/tree-name.ts';
import type { Liveness } from '../../../core/views/liveness.ts';
import { isGone } from '../../../core/views/liveness.ts';
import { readCommitsSince, readLineCounts } from '../../../workspace/git/changes.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { isOnThisMachine, probeOwner } from '../../../workspace/process.ts';
import { findProcesses } from '../../../workspace/process-search.ts';
import { lookAtFile } from '../../../workspace/tree-file.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';
import { ownChanges } from './evidence.ts';

/** Commands without an end whose session is gone, looked for on this machine. */
export async function observeProcesses(
  context: Context,
  state: State,
  liveness: Liveness,
): Promise<Map<string, ObservedProcess>> {
  const lost = [...state.effects.values()].filter(({ session, owner }) => {
    const present = session === null ? undefined : state.sessions.get(session);
    return (!present || isGone(present, liveness)) && (!owner || isOnThisMachine(owner, context.here().machine));
  });
  const commands = lost.map(({ id, name, at }) => ({ id, text: name, at }));
  return findProcesses(context.workspace()?.tree ?? context.dir, commands);
}

/** Whether the clients of sessions run, as far as that can be seen from here. */
export function observeClients(context: Context, sessions: readonly Session[]): Map<string, 'alive' | 'dead'> {
  const found = new Map<string, 'alive' | 'dead'>();
  for (const { id, owner } of sessions) {
    const verdict = owner ? probeOwner(owner, context.here().machine) : undefined;
    if (verdict) found.set(id, verdict);
  }
  return found;
}

/** Git may not hold up a session that starts. */
const PATIENCE_MS = 1000;
/** Of a change that no edit explains, so many files are looked at. */
const LOOKED = 40;

/** The working tree against its last commit; null without git, after the time limit, or for a run of another workspace. */
export async function observeChanges(
  context: Context,
  state: State,
  rows: BriefRows,
  status: Promise<GitStatus | null>,
): Promise<TreeChanges | null> {
  const workspace = context.workspace();
  if (!workspace?.ids.includes(state.run?.workspace ?? '')) return null;
  const found = await within(PATIENCE_MS, status);
  if (!found) return null;
  const { tree } = workspace;
  const dirty = (await ownChanges(workspace, state, found))?.dirty ?? found.dirty;
  const mark = treeMark(context);
  const start = firstHead(rows.sessions, mark ?? {});
  const [counts, commits] = await Promise.all([
    mayShowLines(dirty, rows) ? within(PATIENCE_MS, readLineCounts(tree)) : null,
    start === null || start === mark?.head ? [] : within(PATIENCE_MS, readCommitsSince(tree, start)),
  ]);
  const named = new Set([...rows.files.map((file) => file.path), ...[...dirty.keys()].slice(0, LOOKED)]);
  const lines = new Map<string, FileLines>();
  const modifiedAt = new Map<string, string>();
  for (const path of named) {
    const word = dirty.get(path) ?? (isInNewFolder(path, dirty) ? 'untracked' : null);
    const isNew = word === 'untracked' || word === 'added';
    const look = lookAtFile(tree, path, isNew);
    if (look) modifiedAt.set(path, look.modifiedAt);
    const counted = counts?.get(path);
    if (word === 'deleted') lines.set(path, { is: 'deleted' });
    else if (isNew) lines.set(path, { is: 'new', lines: look?.lines ?? null });
    else if (word !== null && counted) lines.set(path, { is: 'edited', ...counted });
  }
  return { dirty, lines, modifiedAt, commits };
}

/** Whether a changed file may be the run's: recorded as written, or clean when a session began. Else git is not asked again. */
function mayShowLines(dirty: ReadonlyMap<string, string>, { files, sessions }: BriefRows): boolean {
  if (dirty.size === 0) return false;
  return files.some(({ path }) => dirty.has(path)) || sessions.some(({ mark }) => mark?.dirty !== undefined);
}

/** The commit at which the run began in this working tree. */
function firstHead(sessions: readonly Session[], tree: TreeName): string | null {
  const here = sessions.filter(({ mark }) => mark?.head && isSameTree(mark, tree));
  return here.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))[0]?.mark?.head ?? null;
}

const isInNewFolder = (path: string, dirty: ReadonlyMap<string, string>): boolean =>
  [...dirty.keys()].some((folder) => folder.endsWith('/') && path.startsWith(folder));

const PENDING = Symbol('pending');

async function within<T>(ms: number, answer: Promise<T | null>): Promise<T | null> {
  // What is known already needs no timer.
  const known = await Promise.race([answer, PENDING]);
  if (known !== PENDING) return known as T | null;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
