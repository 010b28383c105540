import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';

/**
 * Files of our own below one folder. A clone can bring links there, and an agent may swap a folder while we work. So no link is followed, neither as the
 * file nor as a folder on the way, and every folder on the way belongs to this user.
 *
 * Paths are relative with forward slashes. New folders are 0700 and files 0600, whatever the umask says.
 */
export interface OwnFiles {
  readonly root: string;
  /** The text of a file; null when it is not there, is not a regular file, or is larger than allowed. */
  read(path: string, limitBytes?: number): string | null;
  /** The names in a folder, at most so many; none when it is not there. */
  list(folder: string, limit?: number): string[];
  /** Writes a file whole or not at all. One that can be made again need not survive a crash of the machine. */
  replace(path: string, text: string, durability?: 'durable' | 'derived'): void;
  /** Writes a file unless there is one; of several writers one wins. False when it was there. */
  createOnce(path: string, text: string): boolean;
  /** The size of a regular file; 0 when there is none. */
  size(path: string): number;
  /** When a regular file was last changed; 0 when there is none. */
  modifiedMs(path: string): number;
  /** Gives a regular file another name in its folder. */
  rename(path: string, name: string): void;
  /** Adds to the end of a regular file with one name. */
  append(path: string, text: string): void;
  /** Removes a regular file; false when there is none. */
  remove(path: string): boolean;
  /** Removes the regular files of a folder whose names match, at most a thousand; says how many. */
  removeMatching(folder: string, pattern: RegExp): number;
  /** Makes a folder if it is not there, and gives its path. */
  folder(path: string): string;
  /** The path of a file for a program that opens it by itself, such as SQLite. Refused when it is not a regular file. */
  file(path: string): string;
}

const READ_LIMIT_BYTES = 16 * 1024 * 1024;
const LIST_LIMIT = 100_000;
const REMOVE_LIMIT = 1000;
const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * `above` must exist and is believed; `name` is our folder in it, made when something is written. Only root works for
 * another `owner`, as git does: what it makes is then given to that user.
 */
export function openOwnFiles(above: string, name: string, owner = process.geteuid?.() ?? 0): OwnFiles {
  const root = join(above, name);
  const within = <T>(path: string, mode: 'make' | 'look', work: (folder: OpenFolder, name: string) => T): T | null => {
    const parts = partsOf(path);
    const last = parts.pop() ?? '';
    return inFolder(above, [name, ...parts], mode, owner, (folder) => work(folder, last));
  };
  const inOwn = <T>(path: string, mode: 'make' | 'look', work: (folder: OpenFolder) => T): T | null =>
    inFolder(above, [name, ...partsOf(path)], mode, owner, work);
  return {
    root,
    read: (path, limitBytes = READ_LIMIT_BYTES) =>
      within(path, 'look', (folder, file) => readRegular(folder.at(file), limitBytes)),
    list: (path, limit = LIST_LIMIT) =>
      inOwn(path, 'look', (folder) => readdirSync(folder.path).sort().slice(0, limit)) ?? [],
    replace(path, text, durability = 'durable') {
      within(path, 'make', (folder, file) => replaceIn(folder, file, text, durability === 'durable'));
    },
    size: (path) => within(path, 'look', (folder, file) => regular(folder, file)?.size ?? 0) ?? 0,
    modifiedMs: (path) => within(path, 'look', (folder, file) => regular(folder, file)?.mtimeMs ?? 0) ?? 0,
    rename(path, to) {
      within(path, 'look', (folder, file) => {
        mustBeReplaceable(folder, to);
        if (regular(folder, file)) renameSync(folder.at(file), folder.at(to));
      });
    },
    createOnce: (path, text) => within(path, 'make', (folder, file) => createIn(folder, file, text)) ?? false,
    append(path, text) {
      within(path, 'make', (folder, file) => appendIn(folder, file, text));
    },
    remove: (path) => within(path, 'look', (folder, file) => removeIn(folder, file)) ?? false,
    removeMatching: (path, pattern) =>
      inOwn(path, 'look', (folder) => {
        const names = readdirSync(folder.path).filter((entry) => pattern.test(entry));
        return names.slice(0, REMOVE_LIMIT).filter((entry) => removeIn(folder, entry)).length;
      }) ?? 0,
    folder(path) {
      inOwn(path, 'make', () => undefined);
      return join(root, ...partsOf(path));
    },
    file(path) {
      within(path, 'look', mustBeReplaceable);
      return join(root, ...partsOf(path));
    },
  };
}

/** A folder that is held open. What is done through it stays in it, even if its path is swapped for a link meanwhile. */
interface OpenFolder {
  /** As it was asked for, for messages. */
  shown: string;
  path: string;
  owner: number;
  at(name: string): string;
}

/** Linux reaches a file through the handle of its folder; elsewhere the path is checked again after opening. */
const hasHandles = process.platform === 'linux';

function inFolder<T>(
  above: string,
  parts: readonly string[],
  mode: 'make' | 'look',
  owner: number,
  work: (folder: OpenFolder) => T,
): T | null {
  let shown = above;
  const top = mode === 'look' ? open(above, O_RDONLY | O_DIRECTORY) : openSync(above, O_RDONLY | O_DIRECTORY);
  if (top === null) return null;
  let handle = top;
  try {
    for (const part of parts) {
      const path = hasHandles ? `/proc/self/fd/${handle}/${part}` : join(shown, part);
      shown = join(shown, part);
      const next = openPart(path, shown, mode, owner);
      if (next === null) return null;
      closeSync(handle);
      handle = next;
    }
    const path = hasHandles ? `/proc/self/fd/${handle}` : shown;
    return work({ shown, path, owner, at: (name) => `${path}/${name}` });
  } finally {
    closeSync(handle);
  }
}

function openPart(path: string, shown: string, mode: 'make' | 'look', owner: number): number | null {
  for (let attempt = 0; ; attempt++) {
    let handle: number;
    try {
      handle = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'ELOOP' || code === 'ENOTDIR') throw unsafe(shown, 'is not a real folder');
      if (code !== 'ENOENT') throw thrown;
      if (mode === 'look' || attempt > 0) return null;
      makeFolder(path);
      continue;
    }
    if (attempt > 0) give(handle, owner);
    const found = fstatSync(handle);
    const isOurs = process.geteuid === undefined || found.uid === owner;
    if (isOurs && (hasHandles || lstatSync(path).ino === found.ino)) {
      if (attempt > 0) fchmodSync(handle, 0o700);
      return handle;
    }
    closeSync(handle);
    throw unsafe(shown, isOurs ? 'changed while it was opened' : 'belongs to another user');
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

function readRegular(file: string, limitBytes: number): string | null {
  const handle = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (handle === null) return null;
  try {
    const found = fstatSync(handle);
    return found.isFile() && found.size <= limitBytes ? readFileSync(handle, 'utf8') : null;
  } finally {
    closeSync(handle);
  }
}

/** Null for what is not there, and for a link. */
function open(file: string, flags: number): number | null {
  try {
    return openSync(file, flags);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENXIO') return null;
    throw thrown;
  }
}

function replaceIn(folder: OpenFolder, name: string, text: string, isDurable: boolean): void {
  mustBeReplaceable(folder, name);
  const beside = writeBeside(folder, name, text, isDurable);
  // Renaming over a file makes some file systems write out the new one first, which takes a tenth of a command.
  if (!isDurable) removeIn(folder, name);
  renameSync(beside, folder.at(name));
}

function createIn(folder: OpenFolder, name: string, text: string): boolean {
  const beside = writeBeside(folder, name, text, true);
  try {
    linkSync(beside, folder.at(name));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  } finally {
    unlinkSync(beside);
  }
}

/** A new file under a name that nobody can have prepared. */
function writeBeside(folder: OpenFolder, name: string, text: string, isDurable: boolean): string {
  const beside = folder.at(`.${name}.${randomDigits()}.tmp`);
  const handle = openSync(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    give(handle, folder.owner);
    // Not `writeSync`: where the disk is nearly full that may write a part and call it done.
    writeFileSync(handle, text);
    if (isDurable) fsyncSync(handle);
  } catch (thrown) {
    unlinkSync(beside);
    throw thrown;
  } finally {
    closeSync(handle);
  }
  return beside;
}

/** The name of a temporary file, for those who clean up after a process that died. */
export const temporaryName = /^\..+\.[0-9a-f]{16}\.tmp$/;

/** Exclusive creation is what makes the name safe; the digits only keep two writers apart. */
function randomDigits(): string {
  return Array.from({ length: 16 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

function appendIn(folder: OpenFolder, name: string, text: string): void {
  mustBeReplaceable(folder, name);
  const handle = openSync(folder.at(name), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const { nlink } = fstatSync(handle);
    if (nlink !== 1) throw unsafe(join(folder.shown, name), 'has a second name elsewhere');
    give(handle, folder.owner);
    writeFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}

/** Only root can, and only root has to. */
function give(handle: number, owner: number): void {
  if (process.geteuid?.() === 0 && owner !== 0) fchownSync(handle, owner, fstatSync(handle).gid);
}

function mustBeReplaceable(folder: OpenFolder, name: string): void {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
  if (found && !found.isFile()) throw unsafe(join(folder.shown, name), 'is not a regular file');
}

function regular(folder: OpenFolder, name: string): Stats | undefined {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
  return found?.isFile() ? found : undefined;
}

function removeIn(folder: OpenFolder, name: string): boolean {
  if (!regular(folder, name)) return false;
  unlinkSync(folder.at(name));
  return true;
}

function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..' || /[\\\0]/.test(part)))
    throw new Fault('internal', `${JSON.stringify(path)} is not a path inside our own folder.`);
  return parts;
}

function unsafe(path: string, what: string): Fault {
  return new Fault('unavailable', `${path} ${what}, so nothing is read or written there.`, {
    hints: [`Look at it with \`ls -ld ${path}\`, move it away, and try again.`],
    data: { path },
  });
}
