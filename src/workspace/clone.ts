import { type OwnFiles, openOwnFiles } from './own-files.ts';
import { newId } from './state/machine.ts';

/** Which clone a data folder belongs to. The ids are names, not rights: anyone who can write the folder can write them. */
export interface Clone {
  /** `c-…`, of this copy of the data folder. */
  clone: string;
  /** `w-…` from the root commit, which all clones share; `wp-…` until that is known. */
  workspace: string;
  /** Ids that the workspace had before. */
  aliases: string[];
  /** The machine it was last used on. */
  machine: string | null;
  /** Where its data folder was found, the newest last. */
  places: ClonePlace[];
  /** The working tree of a separate git folder, which does not lead back to it. */
  tree?: string;
  /** What it was copied from, when that was noticed, and whether the journal that came along is its own by now. */
  origin?: { clone: string; at: string; isSettled: boolean };
}

/** The folder above the data folder, as real path and inode. */
export interface ClonePlace {
  path: string;
  inode: number;
}

/** The data folder inside a git folder. */
export const DATA_NAME = 'holdfast';

const FILE = 'clone.json';
const KNOWN_PLACES = 16;

/** Null when there is none; `damaged` when there is one that is not ours or cannot be read. */
export function readClone(files: OwnFiles): Clone | 'damaged' | null {
  const text = files.read(FILE, 64 * 1024);
  if (text === null) return files.list('', 2).includes(FILE) ? 'damaged' : null;
  try {
    const found = JSON.parse(text) as Partial<Clone> | null;
    const isId = (id: unknown, form: RegExp): boolean => typeof id === 'string' && form.test(id);
    if (!isId(found?.clone, /^c-[0-9a-f]{12}$/)) return 'damaged';
    if (!isId(found?.workspace, /^wp?-[0-9a-f]{12}$/)) return 'damaged';
    const isName = (one: unknown): one is string => isId(one, /^[\w-]{1,64}$/);
    return {
      ...(found as Clone),
      aliases: Array.isArray(found?.aliases) ? found.aliases.filter(isName) : [],
      machine: isId(found?.machine, /^m-[0-9a-f]{12}$/) ? (found?.machine as string) : null,
      places: Array.isArray(found?.places) ? found.places.filter(isPlace).slice(-KNOWN_PLACES) : [],
    };
  } catch {
    return 'damaged';
  }
}

function isPlace(one: unknown): one is ClonePlace {
  const place = one as Partial<ClonePlace> | null;
  return typeof place?.path === 'string' && typeof place.inode === 'number';
}

/** Writes the ids of a new data folder; of several processes that start at once, one wins. */
export function makeClone(files: OwnFiles, workspace: string, machine: string | null, place: ClonePlace): void {
  const clone: Clone = { clone: newId('c'), workspace, aliases: [], machine, places: [place] };
  files.createOnce(FILE, textOf(clone));
}

export function saveClone(files: OwnFiles, clone: Clone): void {
  files.replace(FILE, textOf({ ...clone, places: clone.places.slice(-KNOWN_PLACES) }));
}

const textOf = (clone: Clone): string => `${JSON.stringify(clone, null, 2)}\n`;

/**
 * Whether the folder is where this clone is known to be, was moved, or is a copy. A copy must not go on under the ids of
 * the original: both would record as the same clone.
 */
export function cloneState(known: Clone, here: ClonePlace, machine: string | null): 'same' | 'moved' | 'copied' {
  if (known.places.some((place) => place.path !== here.path && isStillThere(place, known.clone))) return 'copied';
  const isOurs = machine !== null && known.machine === machine;
  const path = known.places.find((place) => place.path === here.path);
  if (path?.inode === here.inode) return 'same';
  if (known.places.some((place) => place.inode === here.inode)) return 'moved';
  return isOurs ? 'moved' : 'copied';
}

/** Whether another folder than `here` has the data of this clone: the original of a copy. */
function isStillThere({ path }: ClonePlace, clone: string): boolean {
  try {
    const there = readClone(openOwnFiles(path, DATA_NAME));
    return there !== null && there !== 'damaged' && there.clone === clone;
  } catch {
    return false;
  }
}
