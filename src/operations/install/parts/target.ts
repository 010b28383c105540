import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import { isInside, realPathOf, removeLitter, writeAtomically } from '../../../workspace/files.ts';

/** A settings file as it stands. */
export interface Target {
  path: string;
  /** Where a link leads. */
  real: string;
  text: string | null;
  mode: number | null;
  /** A byte order mark before the text, which some editors of Windows want. */
  mark: string;
}

/** A link is followed as long as it stays in the project or the home folder: elsewhere others may rely on the file. */
export function readTarget(path: string, within: readonly string[]): Target {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link?.isSymbolicLink() && !existsSync(path)) throw refused(path, 'is a link that leads nowhere', MEND_LINK);
  const real = realPathOf(path);
  if (!within.some((folder) => isInside(realPathOf(folder), real)))
    throw refused(path, `leads to ${real}, outside the project and the home folder`, MEND_LINK);
  const found = statSync(real, { throwIfNoEntry: false });
  if (!found) return { path, real, text: null, mode: null, mark: '' };
  if (!found.isFile()) throw refused(path, 'is not a file', 'Move it away and try again.');
  const bytes = readFileSync(real);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes))
    throw refused(path, 'is not UTF-8 text', 'Save it as UTF-8 and try again.');
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  return { path, real, text: text.slice(mark.length), mode: found.mode & 0o777, mark };
}

const MEND_LINK = 'Put the file itself in its place, or give the settings of the other scope (`--user`, `--project`).';

/** Asked before anything is written anywhere. A file that nobody may write is meant to stay as it is. */
export function mustBeWritable({ path, mode }: Target): void {
  if (mode !== null && (mode & 0o200) === 0)
    throw refused(
      path,
      'is read-only',
      'Make it writable, if it may be changed, and try again; or add the entries by hand: `--dry-run` lists the files.',
    );
}

/** The folders that are to be made for it, the outermost first. */
export function missingFolders({ real }: Target): string[] {
  const missing: string[] = [];
  for (let folder = dirname(real); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  return missing;
}

/** Writes a text whole, with the rights the file had. */
export function writeTarget(target: Target, text: string): void {
  const { path, real, mode, mark } = target;
  try {
    for (const folder of missingFolders(target)) mkdirSync(folder);
    removeLitter(real);
    writeAtomically(real, mark + text);
    if (mode !== null) chmodSync(real, mode);
  } catch (thrown) {
    throw refused(
      path,
      `cannot be written: ${(thrown as Error).message}`,
      'See to the rights of its folder and try again.',
    );
  }
}

export function removeTarget({ path, real }: Target): void {
  try {
    rmSync(real, { force: true });
  } catch (thrown) {
    throw refused(
      path,
      `cannot be removed: ${(thrown as Error).message}`,
      'See to the rights of its folder and try again.',
    );
  }
}

function refused(path: string, what: string, hint: string): Fault {
  return new Fault('unavailable', `${path} ${what}.`, {
    hints: [hint, 'What was changed before was put back: everything is as it was.'],
    data: { path },
  });
}
