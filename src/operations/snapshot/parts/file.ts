import { join, relative, sep } from 'node:path';
import * as v from 'valibot';
import { reasonOf } from '../../../core/fault.ts';
import type { Event, EventBody } from '../../../core/journal/event.ts';
import { isDeviceName, portableName } from '../../../core/portable-name.ts';
import { ERASED } from '../../../core/text.ts';
import { readDamaged } from '../../../workspace/read.ts';
import { shownPath, type Workspace } from '../../../workspace/workspace.ts';
import { removeFile } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';

/** The output about a snapshot of every command that takes one. */
export const SnapshotTaken = v.object({
  id: v.string(),
  agent: v.string(),
  session: v.string(),
  sequence: v.number(),
  /** Null if the text could not be rendered. */
  token: v.nullable(v.string()),
  /** Relative to the workspace where it lies inside that; null if no file is written. */
  path: v.nullable(v.string()),
});
export type SnapshotTaken = v.InferOutput<typeof SnapshotTaken>;

/** The last snapshot among events. */
export function snapshotIn(context: Context, events: readonly Event[]): SnapshotTaken | null {
  const event = events.findLast((one) => one.type === 'snapshot.taken');
  if (event?.type !== 'snapshot.taken') return null;
  const { id, agent, session, sequence, token, text } = event.body;
  const workspace = context.workspace();
  const file = workspace && text !== undefined ? snapshotPath(workspace.folder, event.run, event.body) : null;
  return {
    id,
    agent,
    session,
    sequence,
    token: token ?? null,
    path: file && workspace ? shownPath(workspace, file) : null,
  };
}

type Taken = Pick<EventBody<'snapshot.taken'>, 'agent' | 'sequence' | 'text'>;

/** Each run numbers its own snapshots, so those of a second run go into a folder of their own. */
export function snapshotPath(folder: string, run: string, { agent, sequence }: Taken): string {
  const file = `${agent}-${sequence}.md`;
  const name = isDeviceName(file) ? portableName(file) : file;
  const flat = join(folder, 'snapshots', name);
  const owner = runOf(flat);
  return owner === null || owner === run ? flat : join(folder, 'snapshots', portableName(run), name);
}

/** Removes the files of the snapshots of a run that is gone. */
export function removeSnapshots({ folder, files }: Workspace, run: string): void {
  for (const name of files.list('snapshots')) {
    if (name.endsWith('.md') && runOf(join(folder, 'snapshots', name)) === run) files.remove(`snapshots/${name}`);
  }
  files.removeMatching(`snapshots/${encodeURIComponent(run)}`, /\.md$/);
}

/** The run that a snapshot file names; null without a file. */
function runOf(file: string): string | null {
  try {
    const written = /^run: (.+)$/m.exec(readDamaged(file)?.slice(0, 2000) ?? '')?.[1];
    return written?.startsWith('"') ? String(JSON.parse(written)) : (written ?? null);
  } catch {
    return null;
  }
}

/** Writes the files of the snapshots among events. A snapshot that cannot be written is still in the journal. */
export function saveSnapshots(context: Context, events: readonly Event[]): void {
  for (const event of events) {
    if (event.type === 'snapshot.taken') saveSnapshot(context, event.run, event.body);
  }
}

/** Returns the path relative to the workspace, or null if nothing was written. */
export function saveSnapshot(context: Context, run: string, taken: EventBody<'snapshot.taken'>): string | null {
  const workspace = context.workspace();
  if (!workspace || taken.text === undefined) return null;
  const file = snapshotPath(workspace.folder, run, taken);
  try {
    if (taken.text === ERASED) {
      removeFile(file);
      return null;
    }
    workspace.files.replace(relative(workspace.folder, file).split(sep).join('/'), taken.text);
    return shownPath(workspace, file);
  } catch (thrown) {
    context.warn(
      `The snapshot file ${file} could not be written: ${reasonOf(thrown)}. The journal has it: \`holdfast snapshot --again ${taken.id}\` writes it.`,
    );
    return null;
  }
}
