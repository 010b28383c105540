import {
  closeSync,
  constants,
  copyFileSync,
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
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { handlePath, hasProc } from '../platform/system.ts';

/** A folder that is held open. What is done through it stays in it, even if its path is swapped for a link meanwhile. */
export interface HeldFolder {
  /** As it was asked for, for messages. */
  shown: string;
  path: string;
  owner: Owner;
  at(name: string): string;
}

/**
 * The user whose folders are believed. Folders of our own belong to one user and are closed to others; those of a working
 * tree may belong to anyone, and what is made there has the modes of the user's umask.
 */
export type Owner = number | 'anyone';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A file is reached through the handle of its folder; where that is not possible, the path is checked again after opening. */
const hasHandles = hasProc;

/** Opens the folders from `above`, which is believed, one after the other. No link is followed; null when one is missing. */
export function inFolder<T>(
  above: string,
  parts: readonly string[],
  mode: 'make' | 'look',
  owner: Owner,
  work: (folder: HeldFolder) => T,
): T | null {
  let shown = above;
  const top = mode === 'look' ? open(above, O_RDONLY | O_DIRECTORY) : openSync(above, O_RDONLY | O_DIRECTORY);
  if (top === null) return null;
  let handle = top;
  try {
    for (const part of parts) {
      const path = hasHandles ? `${handlePath(handle)}/${part}` : join(shown, part);
      shown = join(shown, part);
      const next = openPart(path, shown, mode, owner);
      if (next === null) return null;
      closeSync(handle);
      handle = next;
    }
    const path = hasHandles ? handlePath(handle) : shown;
    return work({ shown, path, owner, at: (name) => `${path}/${name}` });
  } finally {
    closeSync(handle);
  }
}

function openPart(path: string, shown: string, mode: 'make' | 'look', owner: Owner): number | null {
  for (let attempt = 0; ; attempt++) {
    let handle: number;
    try {
      handle = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'ELOOP' || code === 'ENOTDIR') throw unsafe(shown, 'is not a real folder');
      if (code !== 'ENOENT') throw thrown;
      if (mode === 'look' || attempt > 0) return null;
      makeFolder(path, owner === 'anyone' ? 0o777 : 0o700);
      continue;
    }
    if (attempt > 0) give(handle, owner);
    const found = fstatSync(handle);
    const isOurs = process.geteuid === undefined || owner === 'anyone' || found.uid === owner;
    if (isOurs && (hasHandles || lstatSync(path).ino === found.ino)) {
      if (attempt > 0 && owner !== 'anyone') fchmodSync(handle, 0o700);
      return handle;
    }
    closeSync(handle);
    throw unsafe(shown, isOurs ? 'changed while it was opened' : 'belongs to another user');
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

/** The bytes of a regular file; null when it is not there, is something else, or is larger than allowed. */
export function readRegular(file: string, limitBytes: number): Buffer | null {
  const handle = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (handle === null) return null;
  try {
    const found = fstatSync(handle);
    return found.isFile() && found.size <= limitBytes ? readFileSync(handle) : null;
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

/** Writes a file unless something has its name, whole or not at all. False when something has. */
export function createIn(folder: HeldFolder, name: string, text: string | Buffer): boolean {
  const beside = writeBeside(folder, name, text, true);
  try {
    return linkNew(beside, folder.at(name));
  } finally {
    unlinkSync(beside);
  }
}

/** Gives a file a second name; false when something has that name, also a link that leads nowhere. */
export function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? false : copyNew(from, to);
  }
}

/** For another device, and file systems without hard links. */
function copyNew(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

/** A new file under a name that nobody can have prepared. */
export function writeBeside(folder: HeldFolder, name: string, text: string | Buffer, isDurable: boolean): string {
  const beside = folder.at(temporaryNameFor(name));
  const handle = openNew(beside, folder.owner === 'anyone' ? 0o666 : 0o600);
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

export const openNew = (file: string, mode: number): number =>
  openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

/** The name of a temporary file, for those who clean up after a process that died. */
export const temporaryName = /^\..+\.[0-9a-f]{16}\.tmp$/;

/** Exclusive creation is what makes the name safe; the digits only keep two writers apart. */
export function temporaryNameFor(name: string): string {
  const digits = Array.from({ length: 16 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  return `.${name}.${digits}.tmp`;
}

const LITTER_AGE_MS = 60 * 60 * 1000;

/** Removes what processes that died while writing this file left beside it. */
export function removeLitter(folder: HeldFolder, name: string): void {
  const isOld = (entry: string): boolean =>
    Date.now() - (regular(folder, entry)?.mtimeMs ?? Date.now()) > LITTER_AGE_MS;
  for (const entry of readdirSync(folder.path))
    if (entry.startsWith(`.${name}.`) && temporaryName.test(entry) && isOld(entry)) removeIn(folder, entry);
}

/** Only root can, and only root has to. */
export function give(handle: number, owner: Owner): void {
  if (process.geteuid?.() === 0 && owner !== 0 && owner !== 'anyone') fchownSync(handle, owner, fstatSync(handle).gid);
}

export function mustBeReplaceable(folder: HeldFolder, name: string): void {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
  if (found && !found.isFile()) throw unsafe(join(folder.shown, name), 'is not a regular file');
}

export function regular(folder: HeldFolder, name: string): Stats | undefined {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
  return found?.isFile() ? found : undefined;
}

export function removeIn(folder: HeldFolder, name: string): boolean {
  if (!regular(folder, name)) return false;
  try {
    unlinkSync(folder.at(name));
    return true;
  } catch (thrown) {
    // Another process was faster.
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw thrown;
  }
}

export function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..' || /[\\\0]/.test(part)))
    throw new Fault('internal', `${JSON.stringify(path)} is not a path inside our own folder.`);
  return parts;
}

export function unsafe(path: string, what: string): Fault {
  return new Fault('unavailable', `${path} ${what}, so nothing is read or written there.`, {
    hints: [`Look at it with \`ls -ld ${path}\`, move it away, and try again.`],
    data: { path },
  });
}
