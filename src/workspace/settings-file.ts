import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Fault } from '../core/fault.ts';
import { isInside, realPathOf } from './files.ts';
import { inFolder, removeLitter } from './guarded/folder.ts';
import { removeFile, writeAtomically } from './write.ts';

/** A settings file of a client, as it was read. */
export interface SettingsFile {
  path: string;
  /** The path with links followed. */
  real: string;
  text: string | null;
  mode: number | null;
  /** A byte order mark before the text, which some editors on Windows need. */
  bom: string;
}

/** A link is followed only inside the given folders: elsewhere others may rely on the file. */
export function readSettings(path: string, within: readonly string[]): SettingsFile {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link?.isSymbolicLink() && !existsSync(path)) throw refused(path, 'is a link that leads nowhere', REPLACE_LINK);
  const real = realPathOf(path);
  if (!within.some((folder) => isInside(realPathOf(folder), real)))
    throw refused(path, `leads to ${real}, outside the project and the home folder`, REPLACE_LINK);
  const found = statSync(real, { throwIfNoEntry: false });
  if (!found) return { path, real, text: null, mode: null, bom: '' };
  if (!found.isFile()) throw refused(path, 'is not a file', 'Move it away and try again.');
  const bytes = readFileSync(real);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes))
    throw refused(path, 'is not UTF-8 text', 'Save it as UTF-8 and try again.');
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  return { path, real, text: text.slice(bom.length), mode: found.mode & 0o777, bom };
}

const REPLACE_LINK =
  'Replace the link with the file itself, or choose the settings of the other scope (`--user`, `--project`).';

/** Checked for all files before the first is written. A read-only file is meant to stay as it is. */
export function mustBeWritable({ path, mode }: SettingsFile): void {
  if (mode !== null && (mode & 0o200) === 0)
    throw refused(
      path,
      'is read-only',
      'Make it writable, if it may be changed, and try again; or add the entries by hand: `--dry-run` lists the files.',
    );
}

/** The folders that must be made for the file, the outermost first. */
export function missingFolders({ real }: SettingsFile): string[] {
  const missing: string[] = [];
  for (let folder = dirname(real); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Replaces the text and keeps the file's mode. */
export function writeSettings(file: SettingsFile, text: string): void {
  const { path, real, mode, bom } = file;
  try {
    for (const folder of missingFolders(file)) mkdirSync(folder);
    inFolder(dirname(real), [], 'look', 'anyone', (folder) => removeLitter(folder, basename(real)));
    writeAtomically(real, bom + text);
    if (mode !== null) chmodSync(real, mode);
  } catch (thrown) {
    throw refused(path, `cannot be written: ${(thrown as Error).message}`, CHECK_FOLDER);
  }
}

const CHECK_FOLDER = 'Check the permissions of its folder and try again.';

export function removeSettings({ path, real }: SettingsFile): void {
  try {
    removeFile(real);
  } catch (thrown) {
    throw refused(path, `cannot be removed: ${(thrown as Error).message}`, CHECK_FOLDER);
  }
}

function refused(path: string, what: string, hint: string): Fault {
  return new Fault('unavailable', `${path} ${what}.`, {
    hints: [hint, 'Changes made so far were undone.'],
    data: { path },
  });
}
