import { closeSync, constants, fstatSync, openSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../core/fault.ts';
import {
  createIn,
  give,
  type HeldFolder,
  inFolder,
  mustBeReplaceable,
  partsOf,
  readRegular,
  regular,
  removeIn,
  unsafe,
  writeBeside,
} from './guarded/folder.ts';

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
  createOnce(path: string, text: string | Buffer): boolean;
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
  /**
   * The path of a file for a program that opens it by itself, such as SQLite, with those beside it whose names have one more
   * ending. Refused when one of them is not a regular file with one name.
   */
  file(path: string, ...endings: string[]): string;
}

const READ_LIMIT_BYTES = 16 * 1024 * 1024;
const LIST_LIMIT = 100_000;
const REMOVE_LIMIT = 1000;
const REFUSALS = new Set(['EROFS', 'EACCES', 'EPERM']);
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/**
 * `above` must exist and is believed; `name` is our folder in it, made when something is written. Only root works for
 * another `owner`, as git does: what it makes is then given to that user. `explain` says what helps where nothing may be written.
 */
export function openOwnFiles(
  above: string,
  name: string,
  owner = process.geteuid?.() ?? 0,
  explain?: (cause: unknown) => Fault,
): OwnFiles {
  const root = join(above, name);
  const open = <T>(path: readonly string[], mode: 'make' | 'look', work: (folder: HeldFolder) => T): T | null => {
    try {
      return inFolder(above, path, mode, owner, work);
    } catch (thrown) {
      const isRefused = mode === 'make' && REFUSALS.has((thrown as NodeJS.ErrnoException).code ?? '');
      throw isRefused && explain ? explain(thrown) : thrown;
    }
  };
  const within = <T>(path: string, mode: 'make' | 'look', work: (folder: HeldFolder, name: string) => T): T | null => {
    const parts = partsOf(path);
    const last = parts.pop() ?? '';
    return open([name, ...parts], mode, (folder) => work(folder, last));
  };
  const inOwn = <T>(path: string, mode: 'make' | 'look', work: (folder: HeldFolder) => T): T | null =>
    open([name, ...partsOf(path)], mode, work);
  return {
    root,
    read: (path, limitBytes = READ_LIMIT_BYTES) =>
      within(path, 'look', (folder, file) => readRegular(folder.at(file), limitBytes)?.toString('utf8') ?? null),
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
    file(path, ...endings) {
      within(path, 'look', (folder, file) => {
        for (const name of [file, ...endings.map((ending) => `${file}${ending}`)]) {
          mustBeReplaceable(folder, name);
          if ((regular(folder, name)?.nlink ?? 1) !== 1) throw secondName(folder, name);
        }
      });
      return join(root, ...partsOf(path));
    },
  };
}

function replaceIn(folder: HeldFolder, name: string, text: string, isDurable: boolean): void {
  mustBeReplaceable(folder, name);
  const beside = writeBeside(folder, name, text, isDurable);
  // Renaming over a file makes some file systems write out the new one first, which takes a tenth of a command.
  if (!isDurable) removeIn(folder, name);
  renameSync(beside, folder.at(name));
}

function appendIn(folder: HeldFolder, name: string, text: string): void {
  mustBeReplaceable(folder, name);
  const handle = openSync(folder.at(name), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const { nlink } = fstatSync(handle);
    if (nlink !== 1) throw secondName(folder, name);
    give(handle, folder.owner);
    writeFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}

const secondName = (folder: HeldFolder, name: string): Fault =>
  unsafe(join(folder.shown, name), 'has a second name elsewhere');
