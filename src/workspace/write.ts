import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { recordedPath } from './files.ts';

/** Writes a file whole or not at all: beside it first, then renamed over it. */
export function writeAtomically(file: string, text: string, durable = true, mode = 0o666): void {
  const beside = writeBeside(file, text, durable, mode);
  if (!durable) makeRoom(file);
  renameSync(beside, file);
}

/** The same for a path in a tree, with the folders on the way. A path that leads out of the tree is refused. */
export function writeInside(root: string, path: string, text: string): void {
  const file = join(root, recordedPath(root, root, path));
  makeFolders(dirname(file));
  writeAtomically(file, text);
}

/**
 * Replaces the text `before` of a file, null for a file that is not there yet. Returns false, and leaves the file alone,
 * if it was edited since it was read.
 */
export function replaceText(file: string, before: string | null, text: string, backup: boolean): boolean {
  if (currentText(file) !== before) return false;
  makeFolders(dirname(file));
  removeLitter(file);
  if (before !== null && backup) copyFileSync(file, `${file}.bak`);
  const beside = writeBeside(file, text);
  if (before === null) return linkNew(beside, file);
  // Flushing the new text to disk takes long enough for an edit.
  if (currentText(file) !== before) {
    unlinkSync(beside);
    return false;
  }
  renameSync(beside, file);
  return true;
}

/** Writes a file whole line by line: it may be larger than memory. */
export async function writeLines<T>(file: string, work: (write: (line: string) => void) => Promise<T>): Promise<T> {
  const beside = besideOf(file);
  const handle = openSync(beside, 'w');
  try {
    const result = await work((line) => writeFileSync(handle, `${line}\n`));
    fsyncSync(handle);
    renameSync(beside, file);
    return result;
  } finally {
    closeSync(handle);
    removeFile(beside);
  }
}

const besideOf = (file: string): string => `${file}.${process.pid}.tmp`;

function writeBeside(file: string, text: string, durable = true, mode = 0o666): string {
  const beside = besideOf(file);
  const handle = openSync(beside, 'w', mode);
  try {
    // Not `writeSync`: on a disk that is nearly full it may write a part and report no error.
    writeFileSync(handle, text);
    if (durable) fsyncSync(handle);
  } catch (thrown) {
    closeSync(handle);
    unlinkSync(beside);
    throw thrown;
  }
  closeSync(handle);
  return beside;
}

function linkNew(beside: string, file: string): boolean {
  try {
    linkSync(beside, file);
    unlinkSync(beside);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') {
      unlinkSync(beside);
      return false;
    }
    // On file systems without hard links the last writer wins.
    renameSync(beside, file);
    return true;
  }
}

function currentText(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/**
 * Renaming over a file makes some file systems flush the new one first, which takes a tenth of a command. A file that can
 * be rebuilt may be missing for a moment.
 */
function makeRoom(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is not there yet; if it cannot be replaced, the rename fails.
  }
}

/** Removes what processes that died while writing this file left beside it. */
export function removeLitter(file: string): void {
  const name = basename(file);
  for (const entry of readdirSync(dirname(file))) {
    const pid = entry.startsWith(`${name}.`) ? /^\d+(?=\.tmp$)/.exec(entry.slice(name.length + 1)) : null;
    if (pid && isGone(Number(pid[0]))) unlinkSync(join(dirname(file), entry));
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

export function makeFolders(path: string, mode?: number): void {
  mkdirSync(path, { recursive: true, mode });
}

/**
 * Makes a folder of our own. A link of that name may lead anywhere, so it is not followed.
 */
export function makeOwnFolder(path: string): void {
  makeFolders(path);
  if (!lstatSync(path).isSymbolicLink()) return;
  throw new Fault('unavailable', `${path} is a link, and nothing is written through it.`, {
    hints: ['Put a folder in its place and try again.'],
    data: { path },
  });
}

/** Removes a file if it is there. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** Returns whether the folder is gone. */
export function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Moves a file once: a missing source was moved before, and an existing target is never overwritten. */
export function moveFile(from: string, to: string): void {
  if (!existsSync(from) || existsSync(to)) return;
  makeFolders(dirname(to));
  try {
    renameSync(from, to);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown;
    copyFileSync(from, to);
    unlinkSync(from);
  }
}

/** Copies a file of a tree beside itself under a name with the time in it, and returns the copy's path. */
export function keepCopy(root: string, path: string, word: string, now: string): string {
  for (let number = 1; ; number++) {
    const copy = `${stampedName(path, word, now)}${number === 1 ? '' : `-${number}`}`;
    try {
      copyFileSync(join(root, path), join(root, copy), constants.COPYFILE_EXCL);
      return copy;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    }
  }
}

/** `STATE.md.rejected-20260131T120000Z`. */
export const stampedName = (path: string, word: string, now: string): string =>
  `${path}.${word}-${now.replace(/[-:]/g, '').slice(0, 15)}Z`;

/** Copies those of the files that exist into a temporary folder. */
export function copyToTemporary(files: readonly string[]): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(process.getBuiltinModule('node:os').tmpdir(), 'holdfast-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const file of files) if (existsSync(file)) copyFileSync(file, join(folder, basename(file)));
    return { folder, remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
