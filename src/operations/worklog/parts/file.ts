import { join } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import type { Decision, Note, Session, Snapshot, State, WorklogArchive } from '../../../core/fold/state.ts';
import { writableBy } from '../../../core/rules/claims.ts';
import { WORKLOG_FILE } from '../../../core/rules/worklog.ts';
import {
  renderArchive,
  renderWorklog,
  WORKLOG_LIMIT_LINES,
  type WorklogEntry,
  worklogEntries,
} from '../../../core/views/worklog.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { makeOwnFolder, writeAtomically } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';

/** The file holds so many at most, the newest; the whole is printed by `holdfast worklog`. */
const FILE_ENTRIES = 250;
const INDEX_DECISIONS = 200;

/** Entries that stand in the worklog, or in one of its archives; all of them, or the newest. */
export async function readEntries(
  context: Context,
  state: State,
  { archive, newest }: { archive?: number; newest?: number } = {},
): Promise<WorklogEntry[]> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const read = async <T>(kind: string, prefix: string, tag?: string): Promise<T[]> => {
    // There are never more than ids were given out.
    const all = (state.counters[prefix] ?? 0) + 1;
    const limit = newest === undefined ? all : Math.min(newest, all);
    const records = await engine.rows(run, { kind, limit, ...(tag === undefined ? {} : { tag }) });
    return records.map((record) => record.doc as T);
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
  const records = await engine.rows(state.run?.id ?? '', { kind: 'decision', status: 'active', limit });
  return renderWorklog(state, { entries, decisions: records.map((record) => record.doc as Decision) });
}

/** `.holdfast/worklog/WORKLOG.md`, for a reader without the tool. It waits while somebody else has a claim on it. */
export async function writeWorklogFile(context: Context, state: State, mustWrite = false): Promise<void> {
  const workspace = context.workspace();
  if (!workspace || !state.run) return;
  const engine = await context.engine();
  const mine =
    [...state.sessions.values()].find((session) => session.agent === context.identity.actor.name)?.id ?? null;
  // Whoever has it writes it anew before letting it go.
  if (!mustWrite && writableBy(state, await engine.liveness(state), mine, WORKLOG_FILE)) return;
  const { id } = state.run;
  await together(`${workspace.folder} ${id}`, async () => {
    const text = await worklogText(context, await engine.load(id), FILE_ENTRIES);
    try {
      // Not synced to disk: it can be made again from the journal at any time.
      writeAtomically(join(worklogFolder(workspace), 'WORKLOG.md'), text, false);
    } catch (thrown) {
      context.warn(`WORKLOG.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
    }
  });
}

/** Those who come while a file is being written, or in the same moment, share the next writing of it: a server has many. */
function together(file: string, write: () => Promise<void>): Promise<void> {
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

/** Writes an archive as it follows from the journal. It takes no claim into account: nobody else writes one. */
export async function writeArchive(context: Context, state: State, archive: WorklogArchive): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  const entries = await readEntries(context, state, { archive: archive.number });
  const file = archiveFile(workspace, archive.number);
  try {
    worklogFolder(workspace);
    writeAtomically(file, renderArchive(state, archive, entries));
  } catch (thrown) {
    throw new Fault('unavailable', `${file} could not be written: ${(thrown as Error).message}.`, {
      hints: ['The journal has every entry. Make the folder writable and run `holdfast compact --approve` again.'],
      cause: thrown,
    });
  }
}

function worklogFolder(workspace: Workspace): string {
  const folder = join(workspace.folder, 'worklog');
  makeOwnFolder(folder);
  return folder;
}

/** What the next one to write into a worklog that has become long is told. */
export function compactionHints({ worklog }: State): string[] {
  if (worklog.lines <= WORKLOG_LIMIT_LINES) return [];
  return [
    `The worklog has ${worklog.lines} lines, more than ${WORKLOG_LIMIT_LINES}: propose to a person to compact it. \`holdfast compact\` shows what would move.`,
  ];
}
