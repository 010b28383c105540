import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { findRepository } from '../git/repository.ts';
import { type OwnFiles, openOwnFiles } from '../own-files.ts';
import { homeFolder, stateFolderFor } from '../platform/places.ts';

/** The user of this process, as far as places depend on them. */
export interface User {
  home: string | null;
  /** Where the state folder is, by `HOLDFAST_STATE_HOME` and `XDG_STATE_HOME` or the platform's custom. */
  stateFolder: string | null;
}

/** From the environment: the one exception, since a place that the caller could name would be no authority. */
export function thisUser(): User {
  const { env } = process;
  const home = homeFolder(env) || null;
  return { home, stateFolder: stateFolderFor(env, home) };
}

/**
 * What gives authority on this machine: consent, addresses, install records, the machine's id. It lies outside every
 * repository, because an agent in a sandbox can write anything inside one. Null when there is no such folder, or one that
 * others could have written.
 */
export function openStateFolder({ home, stateFolder }: User): OwnFiles | null {
  if (stateFolder === null || !isAbsolute(stateFolder)) return null;
  const above = dirname(stateFolder);
  try {
    const real = realFolder(above);
    const around = findRepository(real, null);
    if (around && !('repository' in around && home !== null && around.repository.root === realpathSync(home)))
      return null;
    const found = lstatSync(stateFolder, { throwIfNoEntry: false });
    if (found && (!found.isDirectory() || !isPrivate(found.uid, found.mode))) return null;
    return openOwnFiles(real, basename(stateFolder));
  } catch {
    return null;
  }
}

/** Nearly always it is there. */
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return realpathSync(path);
  }
}

function isPrivate(uid: number, mode: number): boolean {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & 0o022) === 0);
}

/** The refusal of what cannot be kept anywhere else. */
export function noStateFolder({ stateFolder }: User): Fault {
  return new Fault(
    'unavailable',
    `There is no state folder that can be used: ${stateFolder ?? 'no home folder is known'}.`,
    {
      hints: ['It must be yours alone and outside every repository. `HOLDFAST_STATE_HOME` names another one.'],
      data: { path: stateFolder },
    },
  );
}
