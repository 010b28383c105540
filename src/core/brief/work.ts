import type { FileRow, State } from '../fold/state.ts';
import type { Owner } from '../journal/event.ts';
import { addMs } from '../time.ts';
import { isSameTree } from '../tree-name.ts';
import { isUncertain } from '../views/left.ts';
import { isCheck } from './check-command.ts';
import type { CommandFact, FileFact, FileFacts, ProcessFact, Uncertain } from './facts.ts';
import type { BriefRows, Observed, TreeChanges } from './observed.ts';
import type { TurnRecord } from './record.ts';

/** What the facts about commands and files are derived from. */
export interface Work {
  state: State;
  rows: BriefRows;
  /** Files that the run changed before the current request. */
  earlier: ReadonlySet<string>;
  observed: Observed;
  turn: TurnRecord | null;
  /** The last sign of any session but the reader's; empty without one. */
  seenAt: string;
  /** Whether a session is alive. */
  isAlive: (session: string) => boolean;
  /** The work was done in the reader's working tree. */
  isHere: boolean;
  now: string;
}

/** Effects without a recorded end that could do harm if repeated: irreversible ones first, then the newest. */
export function uncertainEffects(work: Work): Uncertain[] {
  return [...work.state.effects.values()]
    .filter((effect) => isUncertain(effect) && !effect.asks)
    .sort((a, b) => Number(b.class === 'irreversible') - Number(a.class === 'irreversible') || (a.at < b.at ? 1 : -1))
    .map((effect) => ({
      id: effect.id,
      name: effect.name,
      irreversible: effect.class === 'irreversible',
      at: effect.at,
      process: processOf(work, effect),
    }));
}

function processOf(
  { observed, isAlive, rows }: Work,
  effect: { id: string; session: string | null; owner?: Owner | undefined },
): ProcessFact {
  const { session, owner } = effect;
  if (session !== null && isAlive(session)) return { is: 'in-session', session };
  if (owner && isElsewhere(owner, observed)) {
    return { is: 'elsewhere', host: owner.host.split(' ')[0] ?? owner.host };
  }
  const found = observed.processes?.get(effect.id) ?? { is: 'unlisted' as const };
  if (found.is === 'alive') return found;
  const hadClient = rows.sessions.find(({ id }) => id === session)?.client ?? null;
  return { is: found.is, isClientGone: hadClient !== null };
}

/** Two machines may have the same host name; the process namespace is part of it. */
function isElsewhere({ host, machine }: Owner, observed: Observed): boolean {
  return (
    (observed.host !== null && host !== observed.host) ||
    (!!machine && observed.machine !== undefined && machine !== observed.machine)
  );
}

/** The last failure that was not repaired, what was running, and the last check that passed. */
export function commandFacts(work: Work): CommandFact[] {
  const { state, turn } = work;
  const commands = work.rows.commands;
  const facts: CommandFact[] = [];
  const failure = commands.find(({ effect }, index) => {
    if (effect.outcome !== 'failed') return false;
    // A search that found nothing is news only if it was the last thing before the cut.
    if (effect.class === 'read') return index === 0 && turn?.isOpen === true;
    return !commands
      .slice(0, index)
      .some((later) => later.effect.outcome === 'succeeded' && isSame(later.effect.name, effect.name));
  });
  if (failure) {
    const { name, exitCode, endedAt, at } = failure.effect;
    facts.push({
      is: 'failed',
      name,
      exitCode: exitCode ?? null,
      at: endedAt ?? at,
      changedAfter: changedAfter(work, failure) ?? 0,
    });
  }
  for (const effect of state.effects.values()) {
    if (effect.class === 'idempotent' && !(effect.session !== null && work.isAlive(effect.session)))
      facts.push({ is: 'running', name: effect.name });
  }
  const passed = commands.find(({ effect }) => effect.outcome === 'succeeded' && isCheck(effect.name));
  const isStale = passed && failure && isSame(passed.effect.name, failure.effect.name);
  if (passed && !isStale) {
    const { name, exitCode, endedAt, at } = passed.effect;
    facts.push({
      is: 'passed',
      name,
      exitCode: exitCode ?? null,
      at: endedAt ?? at,
      changedAfter: changedAfter(work, passed),
    });
  }
  return facts;
}

const isSame = (a: string, b: string): boolean => a.replace(/\s+/g, ' ').trim() === b.replace(/\s+/g, ' ').trim();

/** How many files were changed after a command ended: by recorded edits, and in any other way. */
function changedAfter(work: Work, { effect, version }: BriefRows['commands'][number]): number | null {
  const recorded = work.rows.files.filter((file) => file.version > version).map((file) => file.path);
  const { changes } = work.observed;
  if (!changes || !work.isHere) return recorded.length;
  const endedAt = effect.endedAt ?? effect.at;
  const others = [...unrecordedPaths(work, changes), ...work.rows.files.map((file) => file.path)];
  return new Set([...recorded, ...others.filter((path) => (changes.modifiedAt.get(path) ?? '') > endedAt)]).size;
}

/** A hook reports a change a moment after the file was written. */
const LATER_MS = 2000;

/** The last moment at which a change can be the session's own work. */
function workedUntil({ turn, observed, now }: Work): string {
  const isRunning = [...(observed.processes?.values() ?? [])].some((found) => found.is === 'alive');
  if (turn === null || isRunning) return now;
  return addMs(turn.session.seenAt, LATER_MS);
}

/** The last moment at which a commit or a change can be work of the run, by whichever session. */
function runWorkedUntil(work: Work): string {
  const others = work.seenAt === '' ? '' : addMs(work.seenAt, LATER_MS);
  return [workedUntil(work), others].sort().at(-1) ?? '';
}

/** Clean when the session began, changed now, and not by a recorded edit. */
function unrecordedPaths(work: Work, changes: TreeChanges): string[] {
  const session = work.turn?.session;
  const before = session?.mark?.dirty;
  if (!session || !before) return [];
  const known = new Set([...before, ...work.earlier, ...work.rows.files.map((file) => file.path)]);
  const until = workedUntil(work);
  return [...changes.dirty.keys()].filter((path) => {
    const at = changes.modifiedAt.get(path);
    return !known.has(path) && !path.endsWith('/') && at !== undefined && at >= session.startedAt && at <= until;
  });
}

const FILES = 6;

/** The files of the run as they are now; names alone where git says nothing, or the work is elsewhere. */
export function fileFacts(work: Work): FileFacts {
  const { changes, mark, clone } = work.observed;
  const here = { clone, tree: mark?.tree };
  const rows = work.rows.files.filter((file) => !work.isHere || isSameTree(file, here));
  if (!changes || !work.isHere) {
    const files = rows.map(({ path }): FileFact => ({ path, is: 'named', lines: null }));
    return { files: files.slice(0, FILES), total: files.length, commits: 0, othersDirty: 0 };
  }
  const inRun = commitsOfRun(work, changes, rows);
  const recorded = rows.flatMap((file) =>
    recordedFile(work, changes, file, inRun).map((fact) => ({ fact, at: file.at })),
  );
  const unrecorded = unrecordedPaths(work, changes).map((path) => {
    const fact: FileFact = { path, is: 'unrecorded', lines: changes.lines.get(path) ?? null };
    return { fact, at: changes.modifiedAt.get(path) ?? '' };
  });
  const own = new Set([...work.earlier, ...rows.map((file) => file.path), ...unrecorded.map(({ fact }) => fact.path)]);
  const all = [...recorded, ...unrecorded].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return {
    files: all.slice(0, FILES).map(({ fact }) => fact),
    total: all.length,
    commits: inRun.filter((commit) => commit.paths.some((path) => own.has(path))).length,
    othersDirty: [...changes.dirty.keys()].filter((path) => !own.has(path) && !isFolderOf(path, own)).length,
  };
}

const isFolderOf = (folder: string, paths: ReadonlySet<string>): boolean =>
  folder.endsWith('/') && [...paths].some((path) => path.startsWith(folder));

type Commits = NonNullable<TreeChanges['commits']>;

/** Commits made while the run was at work; later ones are those of others. */
function commitsOfRun(work: Work, { commits }: TreeChanges, rows: readonly FileRow[]): Commits {
  const until = runWorkedUntil(work);
  return rows.length === 0 ? [] : (commits ?? []).filter(({ at }) => at <= until);
}

export function commitsSince(work: Work): number | null {
  const { changes } = work.observed;
  if (!changes?.commits || !work.isHere) return null;
  const until = runWorkedUntil(work);
  return changes.commits.filter(({ at }) => at > until).length;
}

function recordedFile(work: Work, changes: TreeChanges, { path }: FileRow, commits: Commits): FileFact[] {
  const isDirty =
    changes.dirty.has(path) ||
    (changes.modifiedAt.has(path) &&
      [...changes.dirty.keys()].some((one) => one.endsWith('/') && path.startsWith(one)));
  const modifiedAt = changes.modifiedAt.get(path);
  if (isDirty) {
    const isAgain = hasDrifted(work, path) && modifiedAt !== undefined && modifiedAt > runWorkedUntil(work);
    const fact: FileFact = { path, is: 'changed', lines: changes.lines.get(path) ?? null };
    return isAgain ? [fact, { path, is: 'changed-again', lines: null }] : [fact];
  }
  if (commits.some((commit) => commit.paths.includes(path))) return [{ path, is: 'committed', lines: null }];
  // A planned run has a line on the conflict.
  const isConflict = work.observed.seen?.conflicts.some((conflict) => conflict.path === path && !conflict.accepted);
  if (isConflict && work.state.run?.kind === 'planned') return [];
  // A file that git ignores is neither changed nor committed, and may be as the run left it.
  return hasDrifted(work, path) && changes.commits !== null ? [{ path, is: 'as-before', lines: null }] : [];
}

const hasDrifted = ({ observed }: Work, path: string): boolean =>
  observed.seen?.files.some((file) => file.path === path && file.verdict === 'drifted') ?? false;
