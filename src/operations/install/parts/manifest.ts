import { basename, join } from 'node:path';
import * as v from 'valibot';
import type { Edit } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import { mustReadText, pathExists, readText } from '../../../workspace/read.ts';
import { makeFolders, removeFile, removeIfEmpty, writeAtomically } from '../../../workspace/write.ts';

/** What `install` changed in one file. */
const ManifestFile = v.object({
  clients: v.array(v.string()),
  edits: v.array(v.custom<Edit>((edit) => typeof edit === 'object' && edit !== null && 'kind' in edit)),
  /** The name of the backup; null for a file that was not there. */
  before: v.nullable(v.string()),
  /** The hash of what was written. */
  after: v.string(),
  /** The hash of what was written before that: the list is written first, and the file may not have followed. */
  was: v.optional(v.string()),
});
export type ManifestFile = v.InferOutput<typeof ManifestFile>;

/** Whether a file is as we wrote it. */
export function isAsWritten({ after, was }: ManifestFile, text: string): boolean {
  const hash = sha256(text);
  return hash === after || hash === was;
}

/** `installed.json`, with backups of the changed files beside it. It belongs to this machine. */
const Manifest = v.object({
  version: v.literal(1),
  /** Since when, and the command that the client's settings start. */
  clients: v.record(v.string(), v.object({ at: v.string(), words: v.array(v.string()) })),
  files: v.record(v.string(), ManifestFile),
  /** Folders that were made for the files. */
  folders: v.array(v.string()),
});
export type Manifest = v.InferOutput<typeof Manifest>;

const NAME = 'installed.json';
const BACKUPS = 'installed';

export const hasManifest = (folder: string): boolean => pathExists(join(folder, NAME));

export function readManifest(folder: string): Manifest {
  const file = join(folder, NAME);
  if (!hasManifest(folder)) return { version: 1, clients: {}, files: {}, folders: [] };
  try {
    return v.parse(Manifest, JSON.parse(mustReadText(file)));
  } catch (thrown) {
    throw new Fault('corrupt', `The list of what was installed, ${file}, cannot be read.`, {
      hints: ['Nothing was changed. Move it away: entries of Holdfast are then recognised by their form.'],
      cause: thrown,
    });
  }
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const file = join(folder, NAME);
  if (Object.keys(manifest.files).length > 0) {
    makeFolders(folder);
    writeAtomically(file, `${JSON.stringify(manifest, null, 2)}\n`, true, 0o600);
    return;
  }
  removeFile(file);
  removeIfEmpty(join(folder, BACKUPS));
}

/** Returns the name of the backup. */
export function keepBackup(folder: string, key: string, text: string): string {
  const name = `${sha256(key).slice(0, 12)}-${basename(key)}`;
  makeFolders(join(folder, BACKUPS), 0o700);
  // Settings may hold secrets.
  writeAtomically(join(folder, BACKUPS, name), text, true, 0o600);
  return name;
}

export function readBackup(folder: string, { before }: ManifestFile): string | null {
  return before === null ? null : readText(join(folder, BACKUPS, basename(before)));
}

export function dropBackup(folder: string, { before }: ManifestFile): void {
  if (before !== null) removeFile(join(folder, BACKUPS, basename(before)));
}
