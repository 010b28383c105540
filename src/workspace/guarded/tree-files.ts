import { lstatSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  createIn,
  type HeldFolder,
  inFolder,
  linkNew,
  mustBeReplaceable,
  partsOf,
  readRegular,
  regular,
  removeIn,
  removeLitter,
  unsafe,
  writeBeside,
} from './folder.ts';

/**
 * Files of other tools in a folder of the user, such as a working tree. Anyone may have put links there, so none is
 * followed, neither as the file nor as a folder on the way. Paths are relative with forward slashes.
 */
export interface GuardedTree {
  /** The text of a file; null when it is not there, too large, or not UTF-8. A link, or a file behind one, counts as not there. */
  read(path: string): string | null;
  /** The same for files whose damage is kept. */
  bytes(path: string): Buffer | null;
  /** Refuses a link, a file behind one, and anything that is not a file. */
  mustBePlain(path: string): void;
  /** Whether anything has this name. */
  exists(path: string): boolean;
  /** Writes a file unless something has its name; false when something has. */
  create(path: string, text: string): boolean;
  /**
   * Replaces the text `before` of a file, null for a file that is not there yet. Returns false, and leaves the file alone,
   * if it was edited since it was read.
   */
  replace(path: string, before: string | null, text: string): boolean;
  /** Writes a file, whatever it says. */
  overwrite(path: string, text: string): void;
  /** Moves a file once: a missing source was moved before, and an existing target is never overwritten. */
  move(from: string, to: string): void;
  /** Removes a regular file. */
  remove(path: string): boolean;
}

/** Larger files are not read whole. */
const LIMIT_BYTES = 64 * 1024 * 1024;

/** `root` must exist and is believed. */
export function openGuarded(root: string): GuardedTree {
  const within = <T>(path: string, mode: 'make' | 'look', work: (folder: HeldFolder, name: string) => T): T | null => {
    const parts = partsOf(path);
    const name = parts.pop() ?? '';
    return inFolder(root, parts, mode, 'anyone', (folder) => work(folder, name));
  };
  const exists = (path: string): boolean =>
    within(path, 'look', (folder, name) => lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) ??
    false;
  const bytes = (path: string): Buffer | null => {
    try {
      return within(path, 'look', (folder, name) => readRegular(folder.at(name), LIMIT_BYTES));
    } catch {
      return null;
    }
  };
  return {
    exists,
    bytes,
    read: (path) => decode(bytes(path)),
    mustBePlain(path) {
      within(path, 'look', (folder, name) => {
        const found = lstatSync(folder.at(name), { throwIfNoEntry: false });
        if (found?.isSymbolicLink()) throw unsafe(join(folder.shown, name), 'is a link');
        if (found && !found.isFile()) throw unsafe(join(folder.shown, name), 'is not a regular file');
      });
    },
    create: (path, text) => within(path, 'make', (folder, name) => createIn(folder, name, text)) ?? false,
    replace: (path, before, text) =>
      within(path, 'make', (folder, name) => replaceText(folder, name, before, text)) ?? false,
    overwrite(path, text) {
      within(path, 'make', (folder, name) => {
        mustBeReplaceable(folder, name);
        renameSync(writeBeside(folder, name, text, true), folder.at(name));
      });
    },
    move(from, to) {
      if (exists(to)) return;
      within(from, 'look', (source, name) => {
        if (!regular(source, name)) return;
        within(to, 'make', (target, newName) => {
          if (linkNew(source.at(name), target.at(newName))) unlinkSync(source.at(name));
        });
      });
    },
    remove: (path) => within(path, 'look', removeIn) ?? false,
  };
}

function decode(bytes: Buffer | null): string | null {
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function replaceText(folder: HeldFolder, name: string, before: string | null, text: string): boolean {
  mustBeReplaceable(folder, name);
  const current = (): string | null => readRegular(folder.at(name), LIMIT_BYTES)?.toString('utf8') ?? null;
  if (current() !== before) return false;
  removeLitter(folder, name);
  if (before === null) return createIn(folder, name, text);
  const beside = writeBeside(folder, name, text, true);
  // Flushing the new text to disk takes long enough for an edit.
  if (current() !== before) {
    unlinkSync(beside);
    return false;
  }
  renameSync(beside, folder.at(name));
  return true;
}
