import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { readRegular } from '../guarded/folder.ts';
import { homeFolder } from '../platform/places.ts';

/** A git repository around a folder, found the way git finds it, but believed only where its parts point at each other. */
export interface Repository {
  /** The top of the working tree. */
  root: string;
  /** The `.git` entry in `root`: a folder, or a file that leads to `gitDir`. */
  entry: string;
  gitDir: string;
  /** Shared by all working trees of a clone. */
  commonDir: string;
  /** The name of a linked working tree, which it keeps when it is moved; null in the main one. */
  linked: string | null;
  /** True for a submodule inside a linked working tree: git deletes its git folder together with that tree. */
  isDisposable: boolean;
  /** True for `git init --separate-git-dir`: nothing in the git folder names the working tree. */
  isSeparate?: true;
}

export type Search =
  | { repository: Repository }
  /** There is an entry named `.git` that must not be believed. */
  | { refused: string; at: string }
  | null;

/**
 * Looks upward from a folder for the first entry named `.git`. `GIT_*` variables are ignored: a shell that git started has
 * some that name another repository. A bare repository is never recognised, since a clone can bring one as ordinary files.
 *
 * A `.git` file is a pointer that anyone can write, so it must be confirmed from the other side: a worktree's git folder
 * names this entry, a submodule's `core.worktree` leads back.
 */
export function findRepository(from: string, home: string | null): Search {
  const start = realPath(from);
  if (start === null) return null;
  const device = lstatSync(start).dev;
  const homeFolder = home === null ? null : realPath(home);
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder === homeFolder && folder !== start) return null;
    if (entryAt(folder)?.dev !== device) return null;
    const entry = join(folder, '.git');
    const found = entryAt(entry);
    if (found?.isSymbolicLink()) return { refused: 'it is a link', at: entry };
    if (found?.isDirectory() && isGitFolder(entry)) return atFolder(folder, entry);
    if (found?.isFile()) return atFile(folder, entry);
    if (!found && ['.hg', '.svn', '.jj'].some((name) => entryAt(join(folder, name)))) return null;
    if (dirname(folder) === folder) return null;
  }
}

/** The repository around a folder, with the home folder as git knows it; null where there is none to believe. */
export function repositoryAt(from: string): Repository | null {
  const search = findRepository(from, homeFolder());
  return search && 'repository' in search ? search.repository : null;
}

/** The main working tree, which linked ones share the journal of; a bare repository has none. */
export function mainTree({ root, commonDir, linked }: Repository): string {
  return linked !== null && basename(commonDir) === '.git' ? dirname(commonDir) : root;
}

function atFolder(root: string, entry: string): Search {
  if (entryAt(join(entry, 'commondir')))
    return { refused: 'it is a folder and names another common folder', at: entry };
  return { repository: { root, entry, gitDir: entry, commonDir: entry, linked: null, isDisposable: false } };
}

function atFile(root: string, entry: string): Search {
  const pointer = /^gitdir: (.+)$/m.exec(readSmall(entry) ?? '')?.[1];
  const gitDir = pointer === undefined ? null : realPath(resolve(root, pointer));
  if (gitDir === null || !isGitFolder(gitDir)) return null;
  const refused: Search = { refused: `it leads to ${gitDir}, which does not lead back`, at: entry };
  const common = readSmall(join(gitDir, 'commondir'));
  if (common !== null) return linkedTree(root, entry, gitDir, resolve(gitDir, common.trim())) ?? refused;
  const above = submoduleParent(root, gitDir);
  if (above !== null) {
    if (worktreeOf(gitDir) !== root) return refused;
    const isDisposable = gitDir.startsWith(join(above, 'worktrees') + sep);
    return { repository: { root, entry, gitDir, commonDir: gitDir, linked: null, isDisposable } };
  }
  // `git init --separate-git-dir` leaves no way back; what belongs to another folder by its name is not believed.
  const parts = gitDir.split(sep);
  if (basename(gitDir) === '.git' || parts.includes('modules') || parts.includes('worktrees')) return refused;
  const own = { gitDir, commonDir: gitDir, linked: null, isDisposable: false, isSeparate: true as const };
  return { repository: { root, entry, ...own } };
}

function linkedTree(root: string, entry: string, gitDir: string, named: string): Search {
  const commonDir = realPath(named);
  if (commonDir === null || !isGitFolder(commonDir) || entryAt(join(commonDir, 'commondir'))) return null;
  if (dirname(gitDir) !== join(commonDir, 'worktrees')) return null;
  const back = readSmall(join(gitDir, 'gitdir'));
  if (back === null || realPath(resolve(gitDir, back.trim())) !== entry) return null;
  return { repository: { root, entry, gitDir, commonDir, linked: basename(gitDir), isDisposable: false } };
}

/** The common folder of the repository above whose `modules/` the git folder lies in. */
function submoduleParent(root: string, gitDir: string): string | null {
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    const entry = join(folder, '.git');
    const above = entryAt(entry)?.isDirectory() ? entry : entryAt(entry)?.isFile() ? gitFolderOf(entry) : null;
    if (above !== null && gitDir.startsWith(join(above, 'modules') + sep)) {
      return basename(dirname(above)) === 'worktrees' ? dirname(dirname(above)) : above;
    }
    if (dirname(folder) === folder) return null;
  }
}

function gitFolderOf(entry: string): string | null {
  const pointer = /^gitdir: (.+)$/m.exec(readSmall(entry) ?? '')?.[1];
  return pointer === undefined ? null : realPath(resolve(dirname(entry), pointer));
}

/** `core.worktree` of a git folder, as a real path. Git writes it as one plain line; anything fancier is not believed. */
function worktreeOf(gitDir: string): string | null {
  const section = /^\[core\]\s*\n((?:[ \t].*\n?)*)/m.exec(readSmall(join(gitDir, 'config')) ?? '')?.[1] ?? '';
  const value = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(section)?.[1];
  return value === undefined ? null : realPath(resolve(gitDir, value.replace(/^"(.*)"$/, '$1')));
}

/** A device or a pipe named HEAD would keep git, and the caller that reads it, busy for ever. */
function isGitFolder(path: string): boolean {
  try {
    return statSync(join(path, 'HEAD'), { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Git's own small files; anything larger is not one of them. */
const LIMIT_BYTES = 64 * 1024;

/** Null unless it is a regular file of at most this size. */
export function readSmall(file: string, limitBytes = LIMIT_BYTES): string | null {
  try {
    return readRegular(file, limitBytes)?.toString('utf8') ?? null;
  } catch {
    return null;
  }
}
