import { existsSync, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryAt } from './git/repository.ts';
import { runGit } from './git/run.ts';
import type { Workspace } from './workspace.ts';

const NAME = '.holdfast';
const JOURNAL = `${NAME}/journal.db`;
const KEPT_AS = 'from-0.1';

/** The journal that version 0.1 kept in the working tree; null when there is none that is this user's own. */
export function findOldJournal(root: string): string | null {
  try {
    const [folder, file] = [lstatSync(join(root, NAME)), lstatSync(join(root, JOURNAL))];
    const user = process.geteuid?.() ?? folder.uid;
    const isOwn = [folder, file].every(({ uid }) => uid === user || user === 0);
    return folder.isDirectory() && file.isFile() && isOwn ? join(root, JOURNAL) : null;
  } catch {
    return null;
  }
}

/** Whether some commit has that journal: then it came with the repository, and others wrote it. */
export async function isOldJournalTracked(root: string): Promise<boolean> {
  const repository = repositoryAt(root);
  if (repository === null) return false;
  const answer = await runGit(repository, root, ['log', '--all', '-1', '--format=%H', '--', JOURNAL]);
  // Where git cannot say, it is not believed. A repository without a commit has an answer too: none.
  return 'failed' in answer || answer.output.trim() !== '';
}

/** Puts the old folder into the data folder, so that nothing of it is lost and the working tree is clean. Null when that is impossible. */
export function keepOldFolder({ root, folder }: Workspace): string | null {
  const to = join(folder, KEPT_AS);
  try {
    if (existsSync(to)) return null;
    renameSync(join(root, NAME), to);
    return to;
  } catch {
    return null;
  }
}
