import { Fault } from '../../core/fault.ts';
import type { ClonePlace } from '../clone.ts';
import type { OwnFiles } from '../own-files.ts';

/** What the user set for a workspace, kept in the state folder: nothing in a working tree can change it. */
export interface WorkspaceConfig {
  /** A PostgreSQL address, or the path of a SQLite file. */
  store?: string;
  /** Where `holdfast serve` reports that something needs a person: an http address, or a program with its arguments. */
  notify?: string | string[];
  capture?: CaptureConfig;
}

/** What hooks may record. */
export interface CaptureConfig {
  off?: boolean;
  /** Paths and globs that are not recorded. */
  ignorePaths?: string[];
  /** Beginnings of commands that are not recorded; `*` matches anything. */
  ignoreCommands?: string[];
}

interface Saved extends WorkspaceConfig {
  /** The clone these are for. Its id stands in a file that an agent may write, so its place must match too. */
  place: ClonePlace;
}

const fileOf = (clone: string): string => `settings/${clone}.json`;

export function readSettings(state: OwnFiles, clone: string, here: ClonePlace): WorkspaceConfig {
  const text = state.read(fileOf(clone));
  if (text === null) return {};
  let saved: Partial<Saved> | null;
  try {
    saved = JSON.parse(text) as Partial<Saved> | null;
  } catch (thrown) {
    throw damaged(state, clone, (thrown as Error).message, thrown);
  }
  if (saved?.place?.path !== here.path && saved?.place?.inode !== here.inode) return {};
  const { store, notify, capture } = saved;
  if (store !== undefined && typeof store !== 'string') throw damaged(state, clone, 'its store is not an address');
  if (notify !== undefined && !isNotify(notify))
    throw damaged(state, clone, 'its notify is neither an address nor a list of words');
  return {
    ...(store === undefined ? {} : { store }),
    ...(notify === undefined ? {} : { notify }),
    ...(capture === undefined ? {} : { capture }),
  };
}

export function saveSettings(state: OwnFiles, clone: string, place: ClonePlace, config: WorkspaceConfig): void {
  state.replace(fileOf(clone), `${JSON.stringify({ place, ...config }, null, 2)}\n`);
}

/** A program is a list of words: a shell string could be anything. */
const isNotify = (value: unknown): boolean =>
  typeof value === 'string'
    ? /^https?:\/\//.test(value)
    : Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');

function damaged(state: OwnFiles, clone: string, why: string, cause?: unknown): Fault {
  const file = `${state.root}/${fileOf(clone)}`;
  return new Fault('corrupt', `The settings ${file} cannot be read: ${why}.`, {
    hints: ['Move the file away: without it the defaults are in force. The journal is untouched.'],
    data: { file },
    cause,
  });
}
