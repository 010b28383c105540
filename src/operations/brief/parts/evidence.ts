import { lastWorkIn } from '../../../core/fold/last-work.ts';
import type { FileRow, Session, State, Step } from '../../../core/fold/state.ts';
import type { TreeMark } from '../../../core/journal/event.ts';
import { isSameTree, type TreeName } from '../../../core/tree-name.ts';
import {
  type Ancestry,
  type Conflict,
  compareEvidence,
  DIRTY_LIMIT,
  type Evidence,
  type RecordedEvidence,
  type SeenEvidence,
  type WorkMark,
} from '../../../core/views/conflict.ts';
import { planView } from '../../../core/views/plan.ts';
import type { Engine } from '../../../engine/engine.ts';
import { findMoved, observeFiles, type Wanted } from '../../../workspace/evidence.ts';
import { type GitStatus, readAdded, readAncestry, readGitStatus } from '../../../workspace/git/status.ts';
import { installedPaths, isInstalled } from '../../../workspace/state/installed.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';

/** The working tree compared with what was recorded. */
export interface Findings extends Evidence {
  open: readonly Conflict[];
  /** Commits since the last recorded position; null when unknown. */
  commitsSince: number | null;
  /** Files that git reports as changed; null when unknown. */
  dirty: number | null;
}

/** Files checked of interrupted and failed steps, and again of those recorded last. */
const FILES_LIMIT = 30;
/** A wave may leave many steps, and each costs a query. */
const STEPS_LIMIT = 10;

/** Started early: git runs while the journal is read. */
export function beginGitStatus(context: Context): Promise<GitStatus | null> {
  return readGitStatus(treeOf(context));
}

const treeOf = (context: Context): string => context.workspace()?.tree ?? context.dir;

/** Branch, commit and changed files of the working tree. */
export async function fullTreeMark(context: Context, status: Promise<GitStatus | null>): Promise<TreeMark | undefined> {
  const mark = treeMark(context);
  const found = await status;
  return mark && found ? { ...mark, dirty: [...found.dirty.keys()].slice(0, DIRTY_LIMIT) } : mark;
}

export interface Looking {
  status?: Promise<GitStatus | null> | undefined;
  /** Edits of mirrored files that were just found. */
  edits?: SeenEvidence['edits'];
  /** Where they are already read: the files that were written last, and those of interrupted and failed steps. */
  files?: { written: readonly FileRow[]; left: readonly FileRow[] } | undefined;
}

export async function findEvidence(
  context: Context,
  state: State,
  { status = beginGitStatus(context), edits = [], files: known }: Looking = {},
): Promise<Findings> {
  const workspace = context.workspace();
  // A shared journal has runs of other workspaces, which this tree is not evidence for.
  if (!workspace?.ids.includes(state.run?.workspace ?? '')) {
    return { conflicts: [], files: [], open: [], commitsSince: null, dirty: null };
  }
  const { tree } = workspace;
  const mark = treeMark(context);
  const here = { clone: context.here().clone, tree: mark?.tree ?? null };
  const recorded = await recordedEvidence(context, state, here, known);
  const heads = recorded.marks.filter((one) => isSameTree(one, here)).map((one) => one.head);
  const ancestry = readAncestries(tree, mark?.head ?? null, heads);
  const wanted = wantedFiles(recorded, here);
  const files = await observeFiles(tree, wanted);
  const found = await ownChanges(workspace, state, await status);
  const lost = wanted.filter((file) => files.get(file.path)?.state === 'absent');
  const paths = new Set(wanted.map((file) => file.path));
  const relations = await ancestry;
  const evidence = compareEvidence(state, recorded, {
    ...here,
    edits,
    head: mark?.head ?? null,
    branch: mark?.branch ?? null,
    files,
    moved: await findMoved(
      tree,
      lost,
      paths,
      lost.length > 0 ? await addedSince(tree, found, heads, mark?.head) : null,
    ),
    dirty: found?.dirty ?? null,
    ancestry: relations,
  });
  const last = lastWorkIn(state, here)?.head;
  const relation = last ? relations.get(last) : undefined;
  return {
    ...evidence,
    open: evidence.conflicts.filter((conflict) => !conflict.accepted),
    commitsSince: relation && relation !== 'missing' ? relation.since : null,
    dirty: found ? found.dirty.size : null,
  };
}

/** The files that git reports as changed, without mirrors and installed files: they are not anyone's work. */
export async function ownChanges(
  workspace: Workspace,
  state: State,
  status: GitStatus | null,
): Promise<GitStatus | null> {
  if (!status || status.dirty.size === 0) return status;
  const installed = installedPaths(workspace);
  const dirty =
    installed.size > 0 ? new Map([...status.dirty].filter(([path]) => !isInstalled(installed, path))) : status.dirty;
  if (state.mirrors.size === 0) return { ...status, dirty };
  const { withoutMirrors } = await import('../../files/parts/mirrors.ts');
  return { ...status, dirty: withoutMirrors(workspace, state, dirty) };
}

const leftSteps = (state: State): Step[] =>
  planView(state)
    .leaves.filter((view) => view.interrupted || view.status === 'failed')
    .slice(0, STEPS_LIMIT)
    .map((view) => view.step);

/** The files of interrupted and failed steps. */
export async function filesOfLeft(engine: Engine, state: State): Promise<FileRow[]> {
  const pages = await Promise.all(leftSteps(state).map((step) => readFiles(engine, state, `step:${step.key}`)));
  return pages.flat();
}

async function readFiles(engine: Engine, state: State, tag: string): Promise<FileRow[]> {
  const rows = await engine.rows(state.run?.id ?? '', { kind: 'file', tag, limit: FILES_LIMIT });
  return rows.map((row) => row.doc as FileRow);
}

async function recordedEvidence(
  context: Context,
  state: State,
  here: TreeName,
  known: Looking['files'],
): Promise<RecordedEvidence> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const steps = leftSteps(state);
  const [left, written] = known
    ? [known.left, known.written]
    : await Promise.all([filesOfLeft(engine, state), readFiles(engine, state, 'written')]);
  const rows = [...left.slice(0, FILES_LIMIT), ...written.slice(0, FILES_LIMIT)];
  const files = new Map(rows.map((file) => [file.path, file]));
  const last = new Set(steps.map((step) => step.lastSession).filter((id) => id !== null));
  const sessions = last.size > 0 ? await engine.recall(run, [...last]) : [];
  const { plan, openedAt } = state.run ?? {};
  const place = lastWorkIn(state, here);
  const marks: WorkMark[] = place?.head
    ? [{ head: place.head, branch: place.branch, ...here, step: place.step, at: place.at }]
    : [];
  for (const { key, checkpoint } of steps) {
    const { head, branch, tree, clone } = checkpoint?.mark ?? {};
    // The session of this checkpoint has recorded a later position itself.
    if (!checkpoint || !head || checkpoint.session === place?.session) continue;
    marks.push({ head, branch: branch ?? null, tree, clone, step: key, at: checkpoint.at });
  }
  return {
    files: [...files.values()],
    plan: plan?.sha256 ? { path: plan.path, sha256: plan.sha256, since: openedAt ?? '' } : null,
    marks,
    sessions: sessions.filter((row) => row.kind === 'session').map((row) => row.doc as Session),
  };
}

function wantedFiles({ files, plan }: RecordedEvidence, here: TreeName): Wanted[] {
  const wanted = files
    .filter((file) => isSameTree(file, here))
    .map(({ path, sha256, bytes, stamp }) => ({
      path,
      sha256: sha256 ?? null,
      bytes: bytes ?? null,
      stamp: stamp ?? null,
    }));
  // Last, so that an entry for the plan as an artifact, which has its size, takes precedence.
  return plan ? [...wanted, { path: plan.path, sha256: null, bytes: null, stamp: null }] : wanted;
}

/** Files new to git, and those added by commits since the recorded ones; null without git. */
async function addedSince(
  tree: string,
  found: GitStatus | null,
  heads: readonly string[],
  present: string | null | undefined,
): Promise<string[] | null> {
  if (!found) return null;
  const before = [...new Set(heads)].filter((head) => head !== present);
  const committed = await Promise.all(before.map((head) => readAdded(tree, head)));
  return [...found.added, ...committed.flat()];
}

/** Git runs only for commits other than the present one; usually there are none. */
async function readAncestries(
  tree: string,
  present: string | null,
  heads: readonly string[],
): Promise<Map<string, Ancestry>> {
  const relations = new Map<string, Ancestry>();
  if (present === null) return relations;
  await Promise.all(
    [...new Set(heads)].map(async (head) => {
      const relation = head === present ? { since: 0, lost: 0 } : await readAncestry(tree, head);
      if (relation) relations.set(head, relation);
    }),
  );
  return relations;
}
