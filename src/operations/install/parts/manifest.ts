import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import { writeAtomically } from '../../../workspace/files.ts';
import type { Edit } from './edit.ts';

/** What was installed: `installed.json`, and beside it the files as they were. It belongs to this machine. */
const InstalledFile = v.object({
  clients: v.array(v.string()),
  edits: v.array(v.custom<Edit>((edit) => typeof edit === 'object' && edit !== null && 'kind' in edit)),
  /** The name of the backup; null for a file that was not there. */
  before: v.nullable(v.string()),
  /** The hash of what was written. */
  after: v.string(),
});
export type InstalledFile = v.InferOutput<typeof InstalledFile>;

const Installed = v.object({
  version: v.literal(1),
  /** Since when, and the words that its settings start the program with. */
  clients: v.record(v.string(), v.object({ at: v.string(), words: v.array(v.string()) })),
  files: v.record(v.string(), InstalledFile),
  /** Folders that were made for them. */
  folders: v.array(v.string()),
});
export type Installed = v.InferOutput<typeof Installed>;

const NAME = 'installed.json';
const BACKUPS = 'installed';

export function readRecord(folder: string): Installed {
  const file = join(folder, NAME);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { version: 1, clients: {}, files: {}, folders: [] };
  }
  try {
    return v.parse(Installed, JSON.parse(text));
  } catch (thrown) {
    throw new Fault('corrupt', `The record of what was installed, ${file}, cannot be read.`, {
      hints: ['Nothing was changed. Move it away: what is ours is then known by its marks.'],
      cause: thrown,
    });
  }
}

export function writeRecord(folder: string, record: Installed): void {
  const file = join(folder, NAME);
  if (Object.keys(record.files).length > 0) {
    mkdirSync(folder, { recursive: true });
    writeAtomically(file, `${JSON.stringify(record, null, 2)}\n`, true, 0o600);
    return;
  }
  rmSync(file, { force: true });
  removeIfEmpty(join(folder, BACKUPS));
}

/** Keeps a text as it was before; gives the name it is kept under. */
export function keepBackup(folder: string, key: string, text: string): string {
  const name = `${sha256(key).slice(0, 12)}-${basename(key)}`;
  mkdirSync(join(folder, BACKUPS), { recursive: true, mode: 0o700 });
  // Settings may hold secrets.
  writeAtomically(join(folder, BACKUPS, name), text, true, 0o600);
  return name;
}

export function readBackup(folder: string, { before }: InstalledFile): string | null {
  if (before === null) return null;
  try {
    return readFileSync(join(folder, BACKUPS, basename(before)), 'utf8');
  } catch {
    return null;
  }
}

export function dropBackup(folder: string, { before }: InstalledFile): void {
  if (before !== null) rmSync(join(folder, BACKUPS, basename(before)), { force: true });
}

/** Whether it is gone. */
export function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (thrown) {
    // Somebody has put something there, or has taken it away.
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
