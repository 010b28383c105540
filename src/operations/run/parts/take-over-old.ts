import { Fault } from '../../../core/fault.ts';
import { chainVerifier } from '../../../core/journal/verify.ts';
import { mustBePerson } from '../../../core/rules/rule-context.ts';
import type { Store } from '../../../store/store.ts';
import { saveClone } from '../../../workspace/clone.ts';
import { findOldJournal, isOldJournalTracked, keepOldFolder } from '../../../workspace/old-folder.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { copyToTemporary } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';

export interface TakenOver {
  runs: { id: string; title: string; events: number }[];
  /** Where the old folder is now; null when it is still in the working tree. */
  kept: string | null;
}

const PAGE = 500;

/**
 * Takes over the runs that version 0.1 kept in `.holdfast/`. Unlike an import they are this clone's own. Tokens, install
 * records and bases of mirrors are left behind.
 */
export async function takeOverOld(context: Context, workspace: Workspace): Promise<TakenOver> {
  mustBePerson(context.identity, 'take over the runs of version 0.1', 'holdfast init --move-old');
  const file = findOldJournal(workspace.root);
  if (file === null) {
    throw new Fault('not_found', 'There is no journal of version 0.1 here that is yours.', {
      hints: ['It would be `.holdfast/journal.db` in the main working tree.'],
    });
  }
  if (await isOldJournalTracked(workspace.root)) {
    throw new Fault('not_allowed', 'The journal in `.holdfast/` came with the repository, so it is not taken over.', {
      hints: [
        'To read a run of it anyway: `holdfast journal export --store .holdfast/journal.db`, then `journal import`.',
      ],
    });
  }
  // A copy, so that a refusal leaves the old one as it is.
  const copy = copyToTemporary([file, `${file}-wal`, `${file}-shm`]);
  const { openSqliteStore } = await import('../../../store/sqlite/store.ts');
  try {
    const old = await openSqliteStore({ file: `${copy.folder}/journal.db` });
    try {
      const runs = await importAll(context, old, workspace);
      return { runs, kept: keepOldFolder(workspace) };
    } finally {
      await old.close();
    }
  } finally {
    copy.remove();
  }
}

async function importAll(context: Context, { journal }: Store, workspace: Workspace): Promise<TakenOver['runs']> {
  const engine = await context.engine();
  const { openImport } = await engine.maintenance();
  const heads = await journal.heads({});
  for (const { run } of heads) await mustVerify(journal, run);
  const runs: TakenOver['runs'] = [];
  for (const { run, title, version } of heads) {
    const importing = await openImport(run);
    await eachEvent(journal, run, (event) => importing.compare(event));
    await eachEvent(journal, run, (event) => importing.add(event));
    await importing.finish();
    runs.push({ id: run, title, events: version });
  }
  nameOldWorkspaces(
    workspace,
    heads.map((head) => head.workspace),
  );
  return runs;
}

/** Its runs are found by the id that the workspace had. */
function nameOldWorkspaces({ clone, files, ids }: Workspace, old: readonly string[]): void {
  const aliases = [...new Set([...clone.aliases, ...old])].filter((id) => id !== clone.workspace);
  if (old.every((id) => ids.includes(id))) return;
  saveClone(files, { ...clone, aliases });
}

async function mustVerify(journal: Store['journal'], run: string): Promise<void> {
  const verifier = chainVerifier();
  await eachEvent(journal, run, async (event) => verifier.push(event));
  const [problem] = verifier.finish();
  if (problem === undefined) return;
  throw new Fault('corrupt', `The old journal is damaged: ${problem.message}`, {
    hints: ['Nothing was taken over. `holdfast doctor --repair --store .holdfast/journal.db` saves what verifies.'],
    data: { run },
  });
}

async function eachEvent(
  journal: Store['journal'],
  run: string,
  visit: (event: Awaited<ReturnType<Store['journal']['read']>>[number]) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const page = await journal.read(run, after, PAGE);
    for (const event of page) await visit(event);
    const last = page.at(-1);
    if (!last) return;
    after = last.version;
  }
}
