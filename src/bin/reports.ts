import type { Context } from '../operations/context.ts';
import { listReports } from '../workspace/inbox.ts';

/** Records what hooks left in the inbox, before a command looks at the journal. If that fails, they wait. */
export async function takeReports(context: Context): Promise<void> {
  let waiting = 0;
  try {
    const workspace = context.workspace();
    waiting = workspace ? listReports(workspace.files).length : 0;
    if (!workspace || waiting === 0) return;
    const { drainInbox } = await import('../hooks/drain.ts');
    await drainInbox(context, workspace);
  } catch (thrown) {
    // Without a workspace that can be opened, the command says why.
    if (waiting > 0) context.warn(`${waiting} reports of hooks wait to be recorded: ${(thrown as Error).message}`);
  }
}
