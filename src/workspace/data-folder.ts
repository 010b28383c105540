import { lstatSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Fault } from '../core/fault.ts';
import { readOnly } from '../core/read-only.ts';
import { sha256 } from '../core/sha256.ts';
import { type ClonePlace, DATA_NAME } from './clone.ts';
import { findRepository, mainTree, type Repository } from './git/repository.ts';
import { acceptsRepository } from './git/run.ts';
import { type OwnFiles, openOwnFiles } from './own-files.ts';
import { noStateFolder, openStateFolder, thisUser, type User } from './state/folder.ts';

/** Where the data of a folder is kept, whether there is any yet or not. */
export interface DataPlace {
  /** The main working tree, or the folder without git. */
  root: string;
  /** The working tree in use. */
  tree: string;
  repository: Repository | null;
  /** The data folder. */
  files: OwnFiles;
  /** What the data belongs to: the git common folder, or the folder without git. */
  key: ClonePlace;
  state: OwnFiles | null;
}

export interface FindOptions {
  /** Give a folder without git a place too. */
  make?: boolean;
  /** Keep the data in the state folder, although the git folder could hold it. */
  outside?: boolean;
}

/** Lines of data folder, tab, real path: folders whose data is kept in the state folder. */
const PLACES = 'places';

/** In a git folder: its data is kept in the state folder of its user, so that nobody begins a second journal here. */
const ELSEWHERE = 'elsewhere';

/**
 * The data folder lies in the git common folder, where no clone or checkout can bring one. It is accepted exactly when git
 * accepts the repository. A folder without git, a common folder of another user, and a submodule that git would delete with
 * its worktree have their data in the state folder. Null for a folder without git that nobody made a workspace.
 */
export function findDataPlace(from: string, { make = false, outside = false }: FindOptions = {}): DataPlace | null {
  const user = thisUser();
  const state = openStateFolder(user);
  const start = realPath(from);
  if (start === null) return null;
  const search = findRepository(start, user.home);
  if (search && 'refused' in search) throw refusedEntry(search.at, search.refused);
  const repository = search?.repository ?? null;
  const listed = state && listedPath(state, start, repository);
  if (state && listed !== null) {
    // What git accepted once it may refuse by now: it is asked again, unless every part belongs to this user.
    if (repository && listed === repository.commonDir) ownerOfRepository(repository, user);
    return placeInState(state, listed, repository);
  }
  if (repository === null) return make ? newPlaceInState(state, user, start, null) : null;
  const owner = ownerOfRepository(repository, user);
  const folder = join(repository.commonDir, DATA_NAME);
  const explain = (cause: unknown): Fault => readOnly(folder, folder, cause);
  const own =
    owner === 'other' || repository.isDisposable ? null : openOwnFiles(repository.commonDir, DATA_NAME, owner, explain);
  if (own !== null && !outside) {
    if (own.size(ELSEWHERE) > 0) throw keptElsewhere(own.root);
    return {
      ...{ root: mainTree(repository), tree: repository.root, repository, files: own, state },
      key: placeOf(repository.commonDir),
    };
  }
  if (!make) return null;
  if (outside) own?.replace(ELSEWHERE, 'The data of this clone is kept in the state folder of its user.\n');
  return newPlaceInState(state, user, repository.commonDir, repository);
}

/** The listed folder that a path lies in; one around a repository is not meant in it. */
function listedPath(state: OwnFiles, start: string, repository: Repository | null): string | null {
  const isAround = (path: string): boolean => path === start || start.startsWith(path === sep ? sep : path + sep);
  // Only lines that may be meant are checked: there is one for each folder that ever was a workspace.
  const listed = (state.read(PLACES) ?? '').split('\n').flatMap((line) => {
    const path = line.slice(line.indexOf('\t') + 1);
    if (path === '' || !(path === repository?.commonDir || isAround(path))) return [];
    return line === `${nameOf(path)}\t${path}` ? [path] : [];
  });
  if (listed.length === 0) return null;
  if (repository && listed.includes(repository.commonDir)) return repository.commonDir;
  const around = listed.filter(isAround);
  const nearest = around.reduce((best, path) => (path.length > best.length ? path : best), '');
  return nearest !== '' && (repository === null || nearest.length >= repository.root.length) ? nearest : null;
}

function newPlaceInState(
  state: OwnFiles | null,
  user: User,
  path: string,
  repository: Repository | null,
): DataPlace | null {
  if (state === null) throw noStateFolder(user);
  if (/[\n\t]/.test(path))
    throw new Fault('invalid', 'A folder with a tab or a line break in its path cannot be used.');
  state.append(PLACES, `${nameOf(path)}\t${path}\n`);
  return placeInState(state, path, repository);
}

function placeInState(state: OwnFiles, path: string, repository: Repository | null): DataPlace {
  const [above = '', name = ''] = nameOf(path).split('/');
  const inGit = repository !== null && path === repository.commonDir;
  return {
    root: inGit ? mainTree(repository) : path,
    tree: inGit ? repository.root : path,
    repository,
    files: openOwnFiles(state.folder(above), name),
    key: placeOf(path),
    state,
  };
}

const nameOf = (path: string): string => `data/${sha256(path).slice(0, 16)}`;
const placeOf = (path: string): ClonePlace => ({ path, inode: statSync(path).ino });

/**
 * The user whose files the data folder holds, by git's own rule: the parts of a repository belong to this user, or the
 * user's git settings name it as safe. `other` for a common folder of another user that git accepts.
 */
function ownerOfRepository(repository: Repository, { home }: User): number | 'other' {
  const { root, entry, gitDir, commonDir } = repository;
  const user = process.geteuid?.();
  if (user === undefined) {
    const isOwn = home !== null && root.startsWith(home + sep);
    if (isOwn || acceptsRepository(repository)) return 0;
    throw notAccepted(root, null);
  }
  const owners = [root, entry, gitDir, commonDir].map((path) => lstatSync(path).uid);
  const stranger = owners.find((owner) => owner !== user);
  if (stranger === undefined) return user;
  if (!acceptsRepository(repository)) throw notAccepted(root, stranger);
  const owner = owners.at(-1) as number;
  return owner === user || user === 0 ? owner : 'other';
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function refusedEntry(at: string, why: string): Fault {
  return new Fault('untrusted', `${at} is not believed: ${why}. Holdfast does nothing here.`, {
    hints: [
      '`git rev-parse --git-dir` shows what git finds there. `git worktree repair` repairs a worktree that was moved.',
    ],
    data: { path: at },
  });
}

function notAccepted(root: string, owner: number | null): Fault {
  const whose = owner === null ? '' : ` (a part of it belongs to user ${owner})`;
  return new Fault('untrusted', `git does not accept the repository ${root}${whose}, so Holdfast does nothing here.`, {
    hints: ['`git status` says why.'],
    data: { path: root },
  });
}

function keptElsewhere(path: string): Fault {
  return new Fault('unavailable', 'The data of this clone is kept outside and cannot be reached here.', {
    hints: [`${path} says so: it was made with \`holdfast init --outside\` by a user with another state folder.`],
    data: { path },
  });
}
