import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { linkNew, openNew, temporaryNameFor } from './guarded/folder.ts';

/** Writes a file whole or not at all: beside it first, then renamed over it. */
export function writeAtomically(file: string, text: string, durable = true, mode = 0o666): void {
  const beside = writeBeside(file, text, durable, mode);
  if (!durable) makeRoom(file);
  renameSync(beside, file);
}

/**
 * Makes a file line by line, whole or not at all: it may be larger than memory. Returns null, and leaves everything alone,
 * if something has that name, also a link.
 */
export async function createLines<T>(
  file: string,
  work: (write: (line: string) => void) => Promise<T>,
): Promise<T | null> {
  if (lstatSync(file, { throwIfNoEntry: false })) return null;
  const beside = besideOf(file);
  const handle = openNew(beside, 0o666);
  try {
    const result = await work((line) => writeFileSync(handle, `${line}\n`));
    fsyncSync(handle);
    return linkNew(beside, file) ? result : null;
  } finally {
    closeSync(handle);
    removeFile(beside);
  }
}

/** Under a name that nobody can have prepared as a link to elsewhere. */
const besideOf = (file: string): string => join(dirname(file), temporaryNameFor(basename(file)));

function writeBeside(file: string, text: string, durable = true, mode = 0o666): string {
  const beside = besideOf(file);
  const handle = openNew(beside, mode);
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

export function makeFolders(path: string, mode?: number): void {
  mkdirSync(path, { recursive: true, mode });
}

/** Makes a folder with those above it; false when something else has its name, also a link to a folder. */
export function makeRealFolder(path: string): boolean {
  makeFolders(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(path);
  return found?.isDirectory() ?? true;
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

/** `journal.db.damaged-20260131T120000Z`. */
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
