import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import type { State, WorklogArchive } from '../../core/fold/state.ts';
import type { Command } from '../../core/journal/command.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import {
  type PlannedEntry,
  planCompaction,
  proofOf,
  renderArchive,
  type WorklogEntry,
} from '../../core/views/worklog.ts';
import type { Done } from '../../engine/execute.ts';
import { isFile, readText } from '../../workspace/read.ts';
import { actPart, currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';
import { archiveFile, readEntries, writeArchive, writeWorklogFile } from './parts/file.ts';

export const compact = defineOperation({
  name: 'compact',
  summary: 'Show which worklog entries could be archived; with --approve move them (people only).',
  scope: 'write',
  by: 'person',
  flags: { entries: 'entry' },
  examples: ['holdfast compact', 'holdfast compact --approve', 'holdfast compact --entry N-3 --approve'],
  input: v.object({
    approve: v.optional(described(v.boolean(), 'Move them.')),
    entries: v.optional(described(v.array(label), 'Only this entry.')),
  }),
  output: v.object({
    entries: v.array(shaped<PlannedEntry>({ id: v.string(), moves: v.boolean(), why: v.string() })),
    lines: v.number(),
    linesAfter: v.number(),
    /** The new archive; null if nothing was moved. */
    archive: v.nullable(
      shaped<WorklogArchive & { file: string }>({ number: v.number(), file: v.string(), proof: v.string() }),
    ),
    /** Archives that were recorded and not written yet, after a crash or an error. */
    unfinished: v.array(v.number()),
    run: v.string(),
    version: v.number(),
  }),
  async run(context, { approve, entries }) {
    const state = await currentState(context);
    const only = entries && entries.length > 0 ? new Set(entries) : null;
    const planned = planCompaction(state, mustKnow(await readEntries(context, state), only), only);
    const { run, version } = state;
    const unfinished = unfinishedArchives(context, state);
    if (approve) mustBeMaintainer(context);
    const isIdle = unfinished.length === 0 && !planned.some((entry) => entry.moves);
    if (approve && !isIdle) return approved(context, state, only);
    const data = { ...summary(state, planned), archive: null, unfinished, run: run?.id ?? '', version };
    return approve ? { data, changed: [] } : { data };
  },
  say: ({ entries, lines, linesAfter, archive, unfinished }, pen) => {
    const moving = entries.filter((entry) => entry.moves);
    const shown = entries.map(
      ({ id, moves, lines: count, why }) =>
        `  ${moves ? pen.good('moves') : pen.dim('stays')} ${pen.bold(id)}, ${count} lines: ${why}`,
    );
    if (archive)
      return `Moved ${moving.length} entries to ${archive.file}: ${lines} lines became ${linesAfter}. Kept and archived entries together are complete (${archive.proof.slice(0, 16)}).`;
    const waits = unfinished.length > 0 ? [`Archive ${unfinished.join(', ')} is not written yet.`] : [];
    const todo =
      moving.length > 0 || unfinished.length > 0
        ? 'A person moves them with `holdfast compact --approve`.'
        : 'There is nothing to move.';
    return [`${lines} lines, ${linesAfter} after ${moving.length} entries have moved.`, ...shown, ...waits, todo].join(
      '\n',
    );
  },
});

function summary(state: State, entries: PlannedEntry[]) {
  const { lines } = state.worklog;
  const moved = entries.reduce((sum, entry) => sum + (entry.moves ? entry.lines : 0), 0);
  return { entries, lines, linesAfter: Math.max(0, lines - moved) };
}

function mustKnow(entries: WorklogEntry[], only: ReadonlySet<string> | null): WorklogEntry[] {
  const unknown = [...(only ?? [])].filter((id) => !entries.some((entry) => entry.id === id));
  if (unknown.length === 0) return entries;
  throw new Fault('not_found', `There is no entry ${unknown.join(', ')} in the worklog.`, {
    hints: ['See them with `holdfast compact`.'],
    data: { unknown },
  });
}

function mustBeMaintainer(context: Context): void {
  if (!context.workspace()) {
    throw new Fault('usage', 'There is no workspace here to keep an archive in.', {
      hints: ['Run it in the workspace, or name one with `--dir`.'],
    });
  }
  mustBePerson(context.identity, 'compact the worklog', 'holdfast compact --approve');
}

/** The move is recorded first, so after a crash another call writes the files. */
async function approved(context: Context, before: State, only: ReadonlySet<string> | null) {
  const { planned, done } = await recordMove(context, only);
  const state = done?.state ?? before;
  for (const archive of state.worklog.archives) {
    if (unfinishedArchives(context, state).includes(archive.number)) await writeArchive(context, state, archive);
  }
  await writeWorklogFile(context, state);
  const made = done?.events.find((event) => event.type === 'worklog.compacted');
  const archive = made ? state.worklog.archives.find((one) => one.number === made.body.archive) : undefined;
  if (archive) await mustBeWhole(context, state, archive, planned);
  const workspace = context.workspace();
  return {
    data: {
      ...summary(before, planned),
      archive: archive && workspace ? { ...archive, file: archiveFile(workspace, archive.number) } : null,
      unfinished: unfinishedArchives(context, state),
      run: state.run?.id ?? '',
      version: state.version,
    },
    changed: done?.changed ?? [],
  };
}

const ATTEMPTS = 5;

/** Plans and records; plans again if others recorded something in between. */
async function recordMove(
  context: Context,
  only: ReadonlySet<string> | null,
): Promise<{ planned: PlannedEntry[]; done: Done | null }> {
  for (let attempt = 1; ; attempt++) {
    const state = await currentState(context);
    const entries = mustKnow(await readEntries(context, state), only);
    const planned = planCompaction(state, entries, only);
    const moving = planned.filter((entry) => entry.moves).map((entry) => entry.id);
    if (moving.length === 0) return { planned, done: null };
    const command: Command = {
      type: 'worklog.compact',
      entries: moving,
      proof: proofOf(entries),
      version: state.version,
    };
    try {
      return { planned, done: await actPart(context, 'compact', command) };
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'conflict' || attempt === ATTEMPTS) throw thrown;
    }
  }
}

/** Kept and archived entries together, in order, must have the proof of the whole, and the file what was recorded. */
async function mustBeWhole(
  context: Context,
  state: State,
  archive: WorklogArchive,
  planned: readonly PlannedEntry[],
): Promise<void> {
  const archived = await readEntries(context, state, { archive: archive.number });
  const all = new Map([...(await readEntries(context, state)), ...archived].map((entry) => [entry.id, entry]));
  const original = planned.flatMap(({ id }) => all.get(id) ?? []);
  const workspace = context.workspace();
  const text = workspace ? readText(archiveFile(workspace, archive.number)) : '';
  if (proofOf(original) === archive.proof && text === renderArchive(state, archive, archived)) return;
  throw new Fault('corrupt', `Archive ${archive.number} of the worklog does not match what was moved.`, {
    hints: ['The journal has every entry: run `holdfast doctor`, then `holdfast compact` again.'],
    data: { archive: archive.number, proof: archive.proof },
  });
}

function unfinishedArchives(context: Context, state: State): number[] {
  const workspace = context.workspace();
  if (!workspace) return [];
  return state.worklog.archives.map((archive) => archive.number).filter((one) => !isFile(archiveFile(workspace, one)));
}
