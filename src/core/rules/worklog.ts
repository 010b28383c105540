import { Fault } from '../fault.ts';
import type { State } from '../fold/state.ts';
import { noteLines, SESSION_LINES } from '../fold/worklog.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { claimedBy, claimOn } from './claim.ts';
import { draft, mustBeActive, mustBePerson, type RuleContext } from './rule-context.ts';

/** Where the worklog usually is; claimed under this name, wherever the data folder lies. */
export const WORKLOG_FILE = '.git/holdfast/worklog/WORKLOG.md';

/**
 * Moves worklog entries to an archive, unless another session has a claim on a file that changes by it. The entries were chosen at a version of the journal; if the journal has moved since,
 * they must be chosen again.
 */
export function compactWorklog(
  context: RuleContext,
  { entries, proof, version }: CommandOf<'worklog.compact'>,
): Draft[] {
  mustBeActive(context);
  mustBePerson(context, 'compact the worklog', 'holdfast compact --approve');
  const { state, session } = context;
  const other = claimOn(context, worklogFiles(state), session?.id ?? null);
  if (other) throw claimedBy(other);
  if (entries.length === 0) return [];
  if (state.version !== version) {
    throw new Fault('conflict', `The journal moved from ${version} to ${state.version} while this was planned.`, {
      hints: ['Try again.'],
      data: { version: state.version },
    });
  }
  const lines = entries.reduce((sum, id) => sum + linesOf(context, id), 0);
  const archive = state.worklog.archives.length + 1;
  return [draft('worklog.compacted', { archive, entries, lines, proof }, 'verified')];
}

/** Our worklog, and those of mirrored folders with their archives. */
function worklogFiles({ mirrors }: State): string[] {
  const folders = [...mirrors.values()].flatMap(({ format, path }) =>
    format === 'snap' ? [path.slice(0, path.lastIndexOf('/') + 1)] : [],
  );
  return [WORKLOG_FILE, ...folders.flatMap((folder) => [`${folder}WORKLOG.md`, `${folder}WORKLOG_ARCHIVE.md`])];
}

function linesOf(context: RuleContext, id: string): number {
  const note = context.recall('note', id);
  const row = note ?? context.recall('session', id);
  if (row && row.archive === undefined && (note || !context.state.sessions.has(id)))
    return note ? noteLines(note.text) : SESSION_LINES;
  throw new Fault('illegal', `${id} is not an entry of the worklog.`, {
    hints: ['See them with `holdfast compact`.'],
    data: { id, archive: row?.archive ?? null },
  });
}
