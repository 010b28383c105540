import { readOnly } from '../../../core/read-only.ts';
import { settleCopied } from '../../../engine/copied.ts';
import type { Store } from '../../../store/store.ts';
import { saveClone } from '../../../workspace/clone.ts';
import { listReports, putAside } from '../../../workspace/inbox.ts';
import { forgetRunPresence } from '../../../workspace/run-presence.ts';
import { readKnownStore } from '../../../workspace/state/known-stores.ts';
import { newId } from '../../../workspace/state/machine.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { RESUME_FILE } from '../../brief/parts/save-resume.ts';

/**
 * Makes the journal of a copied folder one of its own, once, before anything in it is used. Someone who made the copy may
 * have written anything into it: of what lies beside the events nothing is taken over, and a run whose head this machine
 * does not know is marked. Interrupted, it is done again; a mark that is made twice says nothing else.
 */
export async function settleCopy(workspace: Workspace, store: Store, at: string): Promise<void> {
  const { clone, files, state } = workspace;
  if (!clone.origin || clone.origin.isSettled) return;
  if (!workspace.canWrite) throw readOnly(files.root, files.root);
  const { id } = await store.identity();
  const own = state && readKnownStore(state, id);
  const by = { at, actor: { kind: 'agent', name: 'holdfast' }, evidence: 'none', clone: clone.origin.clone } as const;
  for (const { run, version, hash } of await store.journal.heads({})) {
    const known = own?.runs.get(run);
    await settleCopied(store, run, { ...by, isOwn: known?.version === version && known.hash === hash });
  }
  for (const report of listReports(files)) putAside(files, report, 'copied');
  forgetRunPresence(files);
  files.remove(RESUME_FILE);
  await store.identify({ id: newId('s'), epoch: newId('e') });
  clone.origin.isSettled = true;
  saveClone(files, clone);
}
