import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Ancestry } from '../../core/views/conflict.ts';
import { repositoryAt } from './repository.ts';
import { runGit } from './run.ts';

/** The files of a working tree that differ from its last commit, by their path in the workspace. */
export interface GitStatus {
  /** With git's word for the change; a new folder is one entry that ends in a slash. */
  dirty: Map<string, string>;
  /** Those that the last commit does not have: a lost file may be among them. */
  added: string[];
}

/** Runs git once, without locks or writes; null without a repository, without git, or after the time limit. */
export async function readGitStatus(tree: string): Promise<GitStatus | null> {
  const git = repositoryAt(tree);
  if (!git) return null;
  const words = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=all'];
  const answer = await runGit(git, tree, [...words, '--', '.']);
  return 'failed' in answer ? null : parseStatus(answer.output, relative(git.root, tree).split(sep).join('/'));
}

/** How a recorded commit relates to the one that is checked out; undefined if that is unknown. */
export async function readAncestry(tree: string, head: string): Promise<Ancestry | undefined> {
  const git = repositoryAt(tree);
  if (!git || !/^[0-9a-f]{40,64}$/.test(head)) return undefined;
  const counted = await runGit(git, tree, ['rev-list', '--left-right', '--count', `${head}...HEAD`, '--']);
  const counts = 'failed' in counted ? null : /^(\d+)\s+(\d+)\s*$/.exec(counted.output);
  if (counts) return { lost: Number(counts[1]), since: Number(counts[2]) };
  // Git fails the same way for a missing commit and an unreadable repository, and a shallow clone may lack any commit.
  if (existsSync(join(git.commonDir, 'shallow'))) return undefined;
  const commits = await runGit(git, tree, ['rev-list', '--ignore-missing', '--max-count=1', head, '--']);
  return 'output' in commits && commits.output === '' ? 'missing' : undefined;
}

/** Files that were added between an earlier commit and the one that is checked out. */
export async function readAdded(tree: string, earlier: string): Promise<string[]> {
  const git = repositoryAt(tree);
  if (!git || !/^[0-9a-f]{40,64}$/.test(earlier)) return [];
  const words = [
    'diff',
    '--name-only',
    '--diff-filter=A',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--relative',
    '-z',
  ];
  const answer = await runGit(git, tree, [...words, earlier, 'HEAD', '--', '.']);
  return 'failed' in answer ? [] : answer.output.split('\0').filter((path) => path !== '');
}

/** Reads porcelain v2, whose paths start at the top of the repository. */
function parseStatus(output: string, prefix: string): GitStatus {
  const status: GitStatus = { dirty: new Map(), added: [] };
  const put = (path: string, word: string): void => {
    const inside = pathBelow(prefix, path);
    if (!inside || inside.startsWith('.holdfast/')) return;
    status.dirty.set(inside, word);
    if (word === 'untracked' || word === 'added' || word === 'renamed') status.added.push(inside);
  };
  const fields = output.split('\0');
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] ?? '';
    const [kind, states = ''] = field.split(' ', 2);
    if (kind === '?') put(field.slice(2), 'untracked');
    else if (kind === '1') put(pathAfter(field, 8), wordFor(states));
    else if (kind === 'u') put(pathAfter(field, 10), 'unmerged');
    else if (kind === '2') {
      put(pathAfter(field, 9), 'renamed');
      put(fields[++index] ?? '', 'deleted');
    }
  }
  return status;
}

/** An untracked folder above the workspace means that git tracks nothing in it. */
function pathBelow(prefix: string, path: string): string | null {
  if (prefix === '') return path;
  if (path.endsWith('/') && `${prefix}/`.startsWith(path)) return './';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : null;
}

/** The path follows a fixed number of fields and may have spaces in it. */
function pathAfter(field: string, count: number): string {
  let at = 0;
  for (let seen = 0; seen < count; seen++) at = field.indexOf(' ', at) + 1;
  return field.slice(at);
}

function wordFor(states: string): string {
  if (states.includes('D')) return 'deleted';
  return states.startsWith('A') ? 'added' : 'modified';
}

const COMMITS_LOOKED_AT = 200;

/** The contents that a file had in the last commits that changed it, with the time of each commit. */
export async function readBlobs(tree: string, path: string): Promise<{ blob: string; at: string }[]> {
  const git = repositoryAt(tree);
  if (!git) return [];
  const words = [
    'log',
    `-${COMMITS_LOOKED_AT}`,
    '--format=%ct',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
  ];
  const answer = await runGit(git, tree, [...words, '--', path]);
  if ('failed' in answer) return [];
  const found: { blob: string; at: string }[] = [];
  let at = '';
  for (const line of answer.output.split('\n')) {
    if (/^\d+$/.test(line)) at = new Date(Number(line) * 1000).toISOString();
    const blob = /^:\d+ \d+ [0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1];
    if (blob && at !== '') found.push({ blob, at });
  }
  return found;
}
