import { join } from 'node:path';
import { Fault, reasonOf } from '../../../core/fault.ts';
import type { Decision, Note, Session, Snapshot, State, WorklogArchive } from '../../../core/fold/state.ts';
import { type Line, line } from '../../../core/line.ts';
import { writableBy } from '../../../core/rules/claim.ts';
import { WORKLOG_FILE } from '../../../core/rules/worklog.ts';
import {
  renderArchive,
  renderWorklog,
  WORKLOG_LIMIT_LINES,
  type WorklogEntry,
  worklogEntries,
} from '../../../core/views/worklog.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';

/** The file has only the newest entries; `holdfast worklog` prints all. */
const FILE_ENTRIES = 250;
const INDEX_DECISIONS = 200;

/** Entries of the worklog or of one of its archives; all of them, or the newest. */
export async function readEntries(
  context: Context,
  state: State,
  { archive, newest }: { archive?: number; newest?: number } = {},
): Promise<WorklogEntry[]> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const read = async <T>(kind: string, prefix: string, tag?: string): Promise<T[]> => {
    // There are never more rows than ids.
    const all = (state.counters[prefix] ?? 0) + 1;
    const limit = newest === undefined ? all : Math.min(newest, all);
    const rows = await engine.rows(run, { kind, limit, ...(tag === undefined ? {} : { tag }) });
    return rows.map((row) => row.doc as T);
  };
  const tag = archive === undefined ? 'worklog' : `archive:${archive}`;
  const entries = worklogEntries(
    await read<Note>('note', 'N', tag),
    await read<Session>('session', 'S', tag),
    await read<Snapshot>('snapshot', 'P'),
  );
  return newest === undefined ? entries : entries.slice(-newest);
}

export async function worklogText(context: Context, state: State, newest?: number): Promise<string> {
  const engine = await context.engine();
  const entries = await readEntries(context, state, newest === undefined ? {} : { newest });
  const limit = newest === undefined ? state.totals.decisions + 1 : INDEX_DECISIONS;
  const rows = await engine.rows(state.run?.id ?? '', { kind: 'decision', status: 'active', limit });
  return renderWorklog(state, { entries, decisions: rows.map((row) => row.doc as Decision) });
}

/** `worklog/WORKLOG.md` in the data folder, for a reader without the tool. Not written while another session has a claim on it. */
export async function writeWorklogFile(context: Context, state: State, mustWrite = false): Promise<void> {
  const workspace = context.workspace();
  if (!workspace || !state.run) return;
  const engine = await context.engine();
  const mine =
    [...state.sessions.values()].find((session) => session.agent === context.identity.actor.name)?.id ?? null;
  // The holder writes it before releasing the claim.
  if (!mustWrite && writableBy(state, await engine.liveness(state), mine, WORKLOG_FILE)) return;
  const { id } = state.run;
  await shareWrite(`${workspace.folder} ${id}`, async () => {
    const text = await worklogText(context, await engine.load(id), FILE_ENTRIES);
    try {
      workspace.files.replace('worklog/WORKLOG.md', text, 'derived');
    } catch (thrown) {
      context.warn(`WORKLOG.md could not be written: ${reasonOf(thrown)}. The journal has everything.`);
    }
  });
}

/** Removes the files of a run that is gone; that of another run stays. */
export function removeWorklog({ files }: Workspace, state: State): void {
  const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
  const pages = [
    { path: 'worklog/WORKLOG.md', text: renderWorklog(state, { entries: [], decisions: [] }) },
    ...state.worklog.archives.map((archive) => ({
      path: `worklog/archive-${archive.number}.md`,
      text: renderArchive(state, archive, []),
    })),
  ];
  for (const { path, text } of pages) {
    if (firstLine(files.read(path) ?? '') === firstLine(text)) files.remove(path);
  }
}

/** Calls made while a file is being written share the next write: a server has many at once. */
function shareWrite(file: string, write: () => Promise<void>): Promise<void> {
  const queued = queuedWrites.get(file);
  if (queued) return queued;
  const begin = (): Promise<void> => {
    queuedWrites.delete(file);
    const written = write();
    runningWrites.set(file, written);
    const leave = (): void => {
      if (runningWrites.get(file) === written) runningWrites.delete(file);
    };
    written.then(leave, leave);
    return written;
  };
  const before = runningWrites.get(file) ?? new Promise((resolve) => setImmediate(resolve));
  const next = before.then(begin, begin);
  queuedWrites.set(file, next);
  return next;
}

const runningWrites = new Map<string, Promise<void>>();
const queuedWrites = new Map<string, Promise<void>>();

export const archiveFile = (workspace: Workspace, number: number): string =>
  join(workspace.folder, 'worklog', `archive-${number}.md`);

/** Writes an archive from the journal. Ignores claims: nothing else writes archives. */
export async function writeArchive(context: Context, state: State, archive: WorklogArchive): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  const entries = await readEntries(context, state, { archive: archive.number });
  const file = archiveFile(workspace, archive.number);
  try {
    workspace.files.replace(`worklog/archive-${archive.number}.md`, renderArchive(state, archive, entries));
  } catch (thrown) {
    throw new Fault('unavailable', `${file} could not be written: ${reasonOf(thrown)}.`, {
      hints: ['The journal has every entry. Make the folder writable and run `holdfast compact --approve` again.'],
      cause: thrown,
    });
  }
}

/** Shown when something is added to a worklog that has become too long. */
export function compactionHints({ worklog }: State): Line[] {
  if (worklog.lines <= WORKLOG_LIMIT_LINES) return [];
  return [
    line`The worklog has ${worklog.lines} lines, more than ${WORKLOG_LIMIT_LINES}: propose to a person to compact it. \`holdfast compact\` shows what would move.`,
  ];
}
