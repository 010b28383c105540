import { repositoryAt } from './repository.ts';
import { runGit } from './run.ts';

/** Lines added and removed; null for a binary file. */
export type LineCounts = { added: number; deleted: number } | null;

const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--relative', '-z'];

/**
 * The tracked files that differ from a commit, by default the last one, by their path in the tree; null without git or
 * without the commit.
 */
export async function readLineCounts(tree: string, since = 'HEAD'): Promise<Map<string, LineCounts> | null> {
  const git = repositoryAt(tree);
  if (!git || !/^(?:HEAD|[0-9a-f]{40,64})$/.test(since)) return null;
  const answer = await runGit(git, tree, ['diff', '--numstat', ...PLAIN, '--ignore-submodules=all', since, '--', '.']);
  if ('failed' in answer) return null;
  const counts = new Map<string, LineCounts>();
  for (const field of answer.output.split('\0')) {
    const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t(.+)$/s.exec(field) ?? [];
    if (path === undefined) continue;
    counts.set(path, added === '-' ? null : { added: Number(added), deleted: Number(deleted) });
  }
  return counts;
}

/** What happened to each file between a commit and the working tree; null if that cannot be read. */
export async function readChangesSince(
  tree: string,
  earlier: string,
): Promise<Map<string, 'created' | 'modified' | 'deleted'> | null> {
  const git = repositoryAt(tree);
  if (!git || !/^[0-9a-f]{40,64}$/.test(earlier)) return null;
  const [diff, others] = await Promise.all([
    runGit(git, tree, ['diff', '--name-status', ...PLAIN, '--ignore-submodules=all', earlier, '--', '.']),
    runGit(git, tree, ['ls-files', '--others', '--exclude-standard', '-z', '--', '.']),
  ]);
  if ('failed' in diff || 'failed' in others) return null;
  const fields = diff.output.split('\0');
  const changes = new Map<string, 'created' | 'modified' | 'deleted'>();
  for (let at = 0; at + 1 < fields.length; at += 2)
    changes.set(fields[at + 1] as string, words[fields[at]?.[0] ?? ''] ?? 'modified');
  for (const path of others.output.split('\0')) if (path !== '') changes.set(path, 'created');
  return changes;
}

const words: Readonly<Record<string, 'created' | 'deleted'>> = { A: 'created', D: 'deleted' };

export interface Commit {
  /** When it was committed, in UTC. */
  at: string;
  /** Files in the tree. */
  paths: readonly string[];
}

const COMMITS = 300;

/** The commits since an earlier one, the newest first; null if they cannot be read, or if there are very many. */
export async function readCommitsSince(tree: string, earlier: string): Promise<Commit[] | null> {
  const git = repositoryAt(tree);
  if (!git || !/^[0-9a-f]{40,64}$/.test(earlier)) return null;
  const words = ['log', '--format=%x01%ct', '--name-only', ...PLAIN, `--max-count=${COMMITS + 1}`];
  const answer = await runGit(git, tree, [...words, `${earlier}..HEAD`, '--']);
  if ('failed' in answer) return null;
  const commits = answer.output
    .split('\u0001')
    .slice(1)
    .map((block): Commit => {
      const [seconds = '', ...paths] = block.split('\0');
      return {
        at: new Date(Number.parseInt(seconds, 10) * 1000).toISOString(),
        paths: paths.map((path) => path.replace(/^\n/, '')).filter((path) => path !== ''),
      };
    });
  return commits.length > COMMITS ? null : commits;
}
