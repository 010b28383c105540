import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryAt } from './repository.ts';
import { runGit } from './run.ts';

/** What git knows of commits and files. Each answer is null where it cannot tell, as in a shallow clone. */
export interface GitHistory {
  hasCommit(id: string): Promise<boolean | null>;
  /** Whether a path, from the top of the repository, was in any commit. */
  everHad(path: string): Promise<boolean | null>;
  /** The files that differ between two commits, from the top of the repository. */
  changedBetween(from: string, to: string): Promise<readonly string[] | null>;
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** Null without a repository. */
export function historyOf(folder: string): GitHistory | null {
  const git = repositoryAt(folder);
  if (!git || existsSync(join(git.commonDir, 'shallow'))) return null;
  const ask = async (...words: string[]): Promise<string | null> => {
    const answer = await runGit(git, git.root, words);
    return 'failed' in answer ? null : answer.output;
  };
  const isRepository = async (): Promise<boolean> => (await ask('rev-parse', '--git-dir')) !== null;
  return {
    async hasCommit(id) {
      if (!COMMIT.test(id)) return null;
      const found = await ask('rev-list', '--max-count=1', '--ignore-missing', id, '--');
      if (found !== null) return found.trim() !== '';
      return (await isRepository()) ? false : null;
    },
    async everHad(path) {
      const found = await ask('log', '--all', '--max-count=1', '--format=%H', '--', `:(top,literal)${path}`);
      return found === null ? null : found.trim() !== '';
    },
    async changedBetween(from, to) {
      if (!COMMIT.test(from) || !COMMIT.test(to)) return null;
      const found = await ask(
        'diff',
        '--name-only',
        '--no-renames',
        '--no-ext-diff',
        '--no-textconv',
        '-z',
        from,
        to,
        '--',
      );
      return found === null ? null : found.split('\0').filter((path) => path !== '');
    },
  };
}
