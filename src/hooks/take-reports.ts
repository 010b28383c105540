import { ids, type Line, line } from '../core/line.ts';
import type { Context } from '../operations/context.ts';
import { listReports, takeUnrecorded } from '../workspace/inbox.ts';
import type { OwnFiles } from '../workspace/own-files.ts';

/** The drains of this process, by data folder: a server has many requests at once. */
const running = new Map<string, Promise<void>>();

/** Records what hooks left in the inbox, before a command looks at the journal. If that fails, they wait. */
export async function takeReports(context: Context): Promise<void> {
  let waiting = 0;
  try {
    const workspace = context.workspace();
    if (!workspace) return;
    const { files, folder } = workspace;
    waiting = listReports(files).length;
    if (waiting > 0) {
      const { drainInbox } = await import('./drain.ts');
      const mine = running.get(folder) ?? drainInbox(context, workspace).then(() => undefined);
      running.set(folder, mine);
      await mine.finally(() => running.delete(folder));
    }
    const missing = unrecorded(files);
    if (missing !== null) context.warn(missing);
  } catch (thrown) {
    // Without a workspace that can be opened, the command says why.
    const wait = waiting === 1 ? '1 report of a hook waits' : `${waiting} reports of hooks wait`;
    if (waiting > 0) context.warn(`${wait} to be recorded: ${(thrown as Error).message}`);
  }
}

const NAMED = 3;

/** What is missing in the record; said once. */
export function unrecorded(files: OwnFiles): Line | null {
  const found = takeUnrecorded(files);
  if (found === null) return null;
  const { refused, wasFull } = found;
  const dropped = wasFull ? line`Reports of hooks were dropped, because 5,000 of them waited. ` : line``;
  if (refused.length === 0) return wasFull ? line`${dropped}What was done then is not in the record.` : null;
  const more = refused.length > NAMED ? line` and ${refused.length - NAMED} more` : line``;
  return line`${dropped}Refused reports of hooks, which are not in the record: ${ids(refused.slice(0, NAMED))}${more}. \`log/hook.log\` of the state folder says why.`;
}
