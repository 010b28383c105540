import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OwnFiles } from '../own-files.ts';

/** In the state folder while nothing is to be recorded anywhere; the launcher looks for it too. */
const OFF = 'off';

/** A folder in which something was recorded, or for which recording was switched off. */
export interface RecordedFolder {
  path: string;
  isOff: boolean;
  /** When its journal was last used; null where nothing was recorded. */
  usedAt: string | null;
}

export const isOffEverywhere = (state: OwnFiles | null): boolean => state?.list('').includes(OFF) === true;

export function setOffEverywhere(state: OwnFiles, isOff: boolean): void {
  if (isOff) state.createOnce(OFF, '');
  else state.remove(OFF);
}

/** The folders of this user that still exist, those used last first. */
export function recordedFolders(state: OwnFiles): RecordedFolder[] {
  const found = new Map<string, RecordedFolder>();
  const outside = placesOutside(state);
  const add = (path: string, change: Partial<RecordedFolder>): void => {
    if (existsSync(path)) found.set(path, { path, isOff: false, usedAt: null, ...found.get(path), ...change });
  };
  for (const { place, usedAt } of records<{ place: string; usedAt: string }>(state, 'stores', /^s-\w+\.json$/)) {
    const folder = folderOf(String(place), outside);
    if (folder !== null && existsSync(place)) add(folder, { usedAt: String(usedAt) });
  }
  for (const { place, capture } of records<Settings>(state, 'settings', /\.json$/)) {
    if (typeof place?.path === 'string') add(withoutGit(place.path), capture?.off === true ? { isOff: true } : {});
  }
  return [...found.values()]
    .filter(({ isOff, usedAt }) => isOff || usedAt !== null)
    .sort((a, b) => (b.usedAt ?? '').localeCompare(a.usedAt ?? ''));
}

interface Settings {
  place?: { path?: unknown };
  capture?: { off?: unknown };
}

/** A journal is in a git folder, or in the state folder under a name that `places` explains. */
function folderOf(journal: string, outside: ReadonlyMap<string, string>): string | null {
  const data = dirname(journal);
  if (/[\\/]holdfast$/.test(data)) return withoutGit(dirname(data));
  const path = outside.get(data);
  return path === undefined ? null : withoutGit(path);
}

const withoutGit = (path: string): string => path.replace(/[\\/]\.git$/, '');

function placesOutside(state: OwnFiles): Map<string, string> {
  const lines = (state.read('places') ?? '').split('\n').map((line) => line.split('\t'));
  return new Map(lines.flatMap(([name, path]) => (name && path ? [[`${state.root}/${name}`, path]] : [])));
}

const MOST = 10_000;

function records<T>(state: OwnFiles, folder: string, form: RegExp): T[] {
  return state
    .list(folder, MOST)
    .filter((name) => form.test(name))
    .flatMap((name) => {
      try {
        const value = JSON.parse(state.read(`${folder}/${name}`) ?? 'null') as T | null;
        return value === null || typeof value !== 'object' ? [] : [value];
      } catch {
        return [];
      }
    });
}
