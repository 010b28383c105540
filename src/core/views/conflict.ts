import type { FileRow, Session, State, Step } from '../fold/state.ts';
import { sha256 } from '../sha256.ts';
import { isSameClone, isSameTree, type TreeName } from '../tree-name.ts';
import { planView } from './plan.ts';

/** A difference between what was recorded and what is found. */
export interface Conflict {
  id: string;
  kind: ConflictKind;
  /** The file; `.` for the working tree as a whole. */
  path: string;
  expected: string;
  found: string;
  /** When what was expected was recorded. */
  since: string;
  step: string | null;
  /** Acknowledged with `holdfast accept`. */
  accepted: boolean;
}

export type ConflictKind =
  /** A file that an interrupted step left partly changed. */
  | 'half_changed'
  /** A recorded file that changed since, without a recorded change. */
  | 'changed_outside'
  | 'gone'
  /** Gone, and the same content is found at another path. */
  | 'renamed'
  /** Recorded as an artifact and never seen. */
  | 'claimed_absent'
  | 'plan_changed'
  /** The work was recorded on a branch that is not checked out, and is not part of the one that is. */
  | 'other_branch'
  /** The commit the work was recorded at is no longer in the history of its branch. */
  | 'rebased_away'
  /** A file that is named in what a step built, and has changed since. */
  | 'built_mismatch'
  /** A mirror was edited. */
  | 'mirror_edited';

/** Whether a recorded file is still as recorded. */
export type Verdict = 'holds' | 'drifted' | 'unknown';

export interface FileVerdict {
  path: string;
  verdict: Verdict;
  step: string | null;
  basis: FileRow['basis'];
  recordedAt: string;
  /** The reason for `unknown`. */
  why: string | null;
}

/** A path as it is now. */
export type Observation =
  | { state: 'absent' }
  | { state: 'present'; sha256: string; bytes: number }
  /** The path exists but is not a file of this tree: a folder, or a link that leads out of it. */
  | { state: 'replaced'; by: string }
  | { state: 'unreadable'; why: string };

/** A commit that work was recorded at. */
export interface WorkMark extends TreeName {
  head: string;
  branch: string | null;
  step: string | null;
  at: string;
}

/** How many commits were added and lost since a recorded commit. */
export type Ancestry = { since: number; lost: number } | 'missing';

export interface RecordedEvidence {
  files: readonly FileRow[];
  plan: { path: string; sha256: string; since: string } | null;
  marks: readonly WorkMark[];
  /** The last sessions of interrupted steps. */
  sessions: readonly Session[];
}

export interface SeenEvidence extends TreeName {
  head: string | null;
  branch: string | null;
  files: ReadonlyMap<string, Observation>;
  /** Where the content of an absent file is now. */
  moved: ReadonlyMap<string, string>;
  /** Changed paths with the word git uses; null if git cannot say. */
  dirty: ReadonlyMap<string, string> | null;
  ancestry: ReadonlyMap<string, Ancestry>;
  /** Edits of mirrors since they were written. */
  edits?: readonly { path: string; found: string }[];
}

export interface Evidence {
  /** The accepted ones too. */
  conflicts: readonly Conflict[];
  files: readonly FileVerdict[];
}

/** How many changed paths are recorded with a session; a full list may be incomplete. */
export const DIRTY_LIMIT = 200;
/** A longer list of unrecorded files would bury the rest. */
const UNRECORDED_LIMIT = 50;

/** Compares what was recorded with what is found now. */
export function compareEvidence(state: State, recorded: RecordedEvidence, seen: SeenEvidence): Evidence {
  const conflicts: Conflict[] = [];
  const add: Add = (kind, path, expected, found, since, step) => {
    const id = conflictId(kind, path, expected, found);
    const accepted = state.acceptedConflicts.has(id);
    conflicts.push({ id, kind, path, expected, found, since, step, accepted });
  };
  const left = leftBehind(state, recorded, seen);
  const files = recorded.files.map((file): FileVerdict => {
    const { verdict, why, drift } = compareFile(file, seen);
    if (drift) reportFile(state, file, drift, left, add);
    const { path, step, basis, at: recordedAt } = file;
    return { path, verdict, step, basis, recordedAt, why };
  });
  compareUnrecorded(recorded, left, add);
  comparePlan(recorded, seen, add);
  compareMarks(recorded, seen, add);
  for (const { path, found } of seen.edits ?? [])
    add('mirror_edited', path, 'as Holdfast wrote it', found, state.run?.updatedAt ?? '', null);
  return { conflicts, files };
}

type Add = (
  kind: ConflictKind,
  path: string,
  expected: string,
  found: string,
  since: string,
  step: string | null,
) => void;

/** A hash of the conflict itself: it can be accepted without being recorded, and a later change is another conflict. */
function conflictId(kind: ConflictKind, path: string, expected: string, found: string): string {
  return `K-${sha256(JSON.stringify([kind, path, expected, found])).slice(0, 6)}`;
}

interface Drift {
  kind: 'changed' | 'gone' | 'renamed' | 'claimed_absent';
  expected: string;
  found: string;
}

function compareFile(file: FileRow, seen: SeenEvidence): { verdict: Verdict; why: string | null; drift?: Drift } {
  const unknown = (why: string) => ({ verdict: 'unknown' as const, why });
  const drifted = (kind: Drift['kind'], expected: string, found: string) => ({
    verdict: 'drifted' as const,
    why: null,
    drift: { kind, expected, found },
  });
  const holds = { verdict: 'holds' as const, why: null };
  if (!isSameTree(file, seen)) return unknown(`recorded in ${treeWords(file, seen)}`);
  const observed = seen.files.get(file.path);
  if (!observed) return unknown('not looked at');
  if (observed.state === 'unreadable') return unknown(observed.why);
  const found =
    observed.state === 'absent' ? NOT_THERE : observed.state === 'replaced' ? observed.by : digest(observed);
  if (file.change === 'deleted') return observed.state === 'absent' ? holds : drifted('changed', 'deleted', found);
  if (!file.sha256) {
    return observed.state === 'absent'
      ? drifted('claimed_absent', 'a file that was claimed', NOT_THERE)
      : unknown('only named when it was recorded');
  }
  const expected = digest({ sha256: file.sha256, bytes: file.bytes ?? null });
  if (observed.state === 'present')
    return observed.sha256 === file.sha256 ? holds : drifted('changed', expected, found);
  if (observed.state === 'replaced') return drifted('changed', expected, found);
  const movedTo = seen.moved.get(file.path);
  return movedTo === undefined ? drifted('gone', expected, NOT_THERE) : drifted('renamed', expected, `at ${movedTo}`);
}

const NOT_THERE = 'not there';

function treeWords(file: FileRow, seen: SeenEvidence): string {
  if (!isSameClone(file, seen)) return 'another clone, not here';
  return file.tree === null ? 'the main working tree' : `another working tree, ${file.tree}`;
}

function digest({ sha256: hash, bytes }: { sha256: string; bytes: number | null }): string {
  return `sha256 ${hash.slice(0, 12)}${bytes === null ? '' : `, ${bytes} bytes`}`;
}

function reportFile(
  state: State,
  file: FileRow,
  { kind, expected, found }: Drift,
  left: ReadonlyMap<string, Leftover>,
  add: Add,
): void {
  const step = file.step === null ? undefined : state.steps.get(file.step);
  if (kind === 'claimed_absent') return add(kind, file.path, expected, found, file.at, file.step);
  // A file that was only read is not work, and work in progress is not a conflict.
  if (file.read || isAtWork(state, file, step)) return;
  if (kind === 'renamed') return add(kind, file.path, expected, found, file.at, file.step);
  const unfinished = step?.status === 'in_progress' || step?.status === 'failed';
  if (kind === 'gone') {
    const what = file.built && !unfinished ? 'built_mismatch' : 'gone';
    return add(what, file.path, expected, found, file.at, file.step);
  }
  if (unfinished) return add('half_changed', file.path, expected, found, file.at, file.step);
  const leftover = left.get(file.path);
  if (leftover) return add('half_changed', file.path, expected, found, file.at, leftover.step.key);
  add(file.built ? 'built_mismatch' : 'changed_outside', file.path, expected, found, file.at, file.step);
}

/** Whether the session that works on the file is still active and will record it again. */
function isAtWork(state: State, file: FileRow, step: Step | undefined): boolean {
  if (step) return step.status === 'in_progress' && step.holder !== null;
  return file.session !== null && state.sessions.has(file.session);
}

interface Leftover {
  step: Step;
  session: Session;
  word: string;
}

/** Files that are changed now and were not when the session started that crashed during a step. */
function leftBehind(state: State, { sessions }: RecordedEvidence, seen: SeenEvidence): Map<string, Leftover> {
  const { dirty } = seen;
  const found = new Map<string, Leftover>();
  if (!dirty) return found;
  for (const { step, interrupted } of planView(state).leaves) {
    const session = interrupted ? sessions.find((one) => one.id === step.lastSession) : undefined;
    // A session that ended properly knew what it left; its mark is from its end.
    if (session?.status !== 'crashed') continue;
    const before = session.mark?.dirty;
    if (!before || before.length >= DIRTY_LIMIT || !isSameTree(session.mark ?? {}, seen)) continue;
    const known = new Set(before);
    for (const [path, word] of dirty) {
      if (!known.has(path) && !found.has(path)) found.set(path, { step, session, word });
    }
  }
  return found;
}

function compareUnrecorded({ files, plan }: RecordedEvidence, left: ReadonlyMap<string, Leftover>, add: Add): void {
  const recorded = new Set([...files.map((file) => file.path), ...(plan ? [plan.path] : [])]);
  const unrecorded = [...left].filter(([path]) => !recorded.has(path));
  for (const [path, { step, session, word }] of unrecorded.slice(0, UNRECORDED_LIMIT)) {
    add(
      'half_changed',
      path,
      `unchanged when ${session.id} began`,
      `${word}, not recorded`,
      session.startedAt,
      step.key,
    );
  }
}

function comparePlan({ plan }: RecordedEvidence, { files, tree }: SeenEvidence, add: Add): void {
  // The digest was taken in the main tree.
  const observed = plan && !tree ? files.get(plan.path) : undefined;
  if (!plan || !observed || observed.state === 'unreadable') return;
  if (observed.state === 'present' && observed.sha256 === plan.sha256) return;
  const found =
    observed.state === 'present'
      ? digest({ sha256: observed.sha256, bytes: null })
      : observed.state === 'absent'
        ? NOT_THERE
        : observed.by;
  add('plan_changed', plan.path, digest({ sha256: plan.sha256, bytes: null }), found, plan.since, null);
}

function compareMarks({ marks }: RecordedEvidence, seen: SeenEvidence, add: Add): void {
  const { head, branch, ancestry } = seen;
  if (head === null) return;
  const reported = new Set<string>();
  for (const mark of marks) {
    if (!isSameTree(mark, seen) || mark.head === head || reported.has(mark.head)) continue;
    reported.add(mark.head);
    const relation = ancestry.get(mark.head);
    if (!relation || (relation !== 'missing' && relation.lost === 0)) continue;
    const at = `commit ${mark.head.slice(0, 12)}`;
    const expected = mark.branch === null ? at : `branch ${mark.branch} at ${at}`;
    // `found` leaves out the current commit, so that one more commit does not make it another conflict.
    const here = branch === null ? 'no branch' : `branch ${branch}`;
    if (relation !== 'missing' && mark.branch !== null && mark.branch !== branch) {
      add('other_branch', '.', expected, here, mark.at, mark.step);
    } else {
      const where = relation === 'missing' ? 'not in this repository' : `not in the history of ${here}`;
      add('rebased_away', '.', expected, where, mark.at, mark.step);
    }
  }
}
