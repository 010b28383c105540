import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Edit, Place, WantedFile } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import {
  missingFolders,
  mustBeWritable,
  readSettings,
  removeSettings,
  type SettingsFile,
  writeSettings,
} from '../../../workspace/settings-file.ts';
import { removeIfEmpty } from '../../../workspace/write.ts';
import { applyEdit, mustBeReadable, revertEdit } from './edit.ts';
import { readJson } from './json-text.ts';
import {
  dropBackup,
  isAsWritten,
  keepBackup,
  type Manifest,
  type ManifestFile,
  readBackup,
  writeManifest,
} from './manifest.ts';

export type Action = 'created' | 'changed' | 'unchanged' | 'left' | 'removed' | 'restored' | 'kept';

/** What happens to one file. All files are planned before the first is written. */
export interface FileChange {
  key: string;
  holds: string;
  file: SettingsFile;
  action: Action;
  why?: string;
  /** The new text; null removes the file, undefined leaves it as it is. */
  next?: string | null;
  /** The new entry in the manifest; null removes the entry. */
  entry?: (Omit<ManifestFile, 'before'> & { before: string | null | { text: string } }) | null;
}

/** A manifest with the folder it is kept in and the place it is about. */
export interface OpenManifest {
  place: Place;
  folder: string;
  manifest: Manifest;
}

export function planInstall(open: OpenManifest, names: readonly string[], wanted: WantedFile): FileChange {
  const { key, file, entry, backup } = look(open, wanted.path);
  const { path, holds, edits } = wanted;
  const change = { key, holds, file };
  const clients = [...new Set([...(entry?.clients ?? []), ...names])];
  const { text } = file;
  const untouched = entry !== undefined && text !== null && isAsWritten(entry, text);
  if (edits[0]?.kind === 'whole') {
    const wantedText = edits[0].text;
    const kept = { clients, edits: [...edits], before: null, after: sha256(wantedText) };
    if (text === wantedText) return { ...change, action: 'unchanged', entry: kept };
    if (edits[0].grows && untouched) return { ...change, action: 'unchanged', entry: { ...entry, clients } };
    if (text !== null && !untouched) {
      const why = entry ? 'it was changed since the installation' : 'another file has this name';
      return { ...change, action: 'left', why };
    }
    return { ...change, action: text === null ? 'created' : 'changed', next: wantedText, entry: kept };
  }
  mustBeReadable(path, text ?? '', edits);
  const base = untouched ? backup : text === null ? null : baseOf(text, entry?.edits ?? edits, entry ? backup : null);
  const from = untouched ? (base ?? '') : withoutStale(text ?? '', entry, edits);
  const made: Edit[] = [];
  const left: string[] = [];
  let next = from;
  for (const edit of edits) {
    const edited = applyEdit(next, edit);
    next = edited.text;
    if (edited.left === undefined) made.push(edit);
    else left.push(edited.left);
  }
  mustBeReadable(path, next, edits);
  const why = left.length > 0 ? { why: left.join('; ') } : {};
  // The text was like this before: nothing in it is ours.
  if (next === text && base === text) return { ...change, ...why, action: left.length > 0 ? 'left' : 'unchanged' };
  const before = untouched ? entry.before : base === null ? null : { text: base };
  const kept = { clients, edits: made, before, after: sha256(next) };
  if (next === text) return { ...change, ...why, action: 'unchanged', entry: kept };
  return { ...change, ...why, action: text === null ? 'created' : 'changed', next, entry: kept };
}

/** `wanted` is what install would write: for a file without an entry in the manifest. */
export function planUninstall(
  open: OpenManifest,
  gone: readonly string[],
  path: string,
  wanted?: WantedFile,
): FileChange {
  const { key, file, entry, backup } = look(open, path);
  const change = { key, holds: wanted?.holds ?? '', file };
  const staying = entry?.clients.filter((name) => !gone.includes(name)) ?? [];
  if (entry && staying.length > 0) {
    const why = `${staying.join(', ')} ${staying.length === 1 ? 'needs' : 'need'} it`;
    return { ...change, action: 'kept', why, entry: { ...entry, clients: staying } };
  }
  const { text } = file;
  const edits = entry?.edits ?? wanted?.edits ?? [];
  const forgotten = entry ? { entry: null } : {};
  if (text === null) return { ...change, ...forgotten, action: 'unchanged' };
  if (entry && isAsWritten(entry, text)) {
    if (entry.before === null) return { ...change, entry: null, action: 'removed', next: null };
    if (backup !== null) return { ...change, entry: null, action: 'restored', next: backup };
  }
  mustBeReadable(path, text, edits);
  if (edits[0]?.kind === 'whole') {
    if (text === edits[0].text) return { ...change, ...forgotten, action: 'removed', next: null };
    return { ...change, ...forgotten, action: 'left', why: 'it was changed since the installation' };
  }
  const next = [...edits].reverse().reduce((rest, edit) => revertEdit(rest, edit, backup), text);
  mustBeReadable(path, next, edits);
  if (next === text) return { ...change, ...forgotten, action: 'unchanged' };
  if ((entry === undefined || entry.before === null) && isHollow(next, edits))
    return { ...change, ...forgotten, action: 'removed', next: null };
  return { ...change, ...forgotten, action: 'changed', next };
}

/**
 * Makes all changes or none: if a file cannot be written, those before it are restored. The manifest is written first, so
 * that an installation that was cut short can be completed or undone.
 */
export function applyChanges(open: OpenManifest, changes: readonly FileChange[]): void {
  const { place, folder, manifest } = open;
  for (const { next, file } of changes) if (next !== undefined) mustBeWritable(file);
  const before = structuredClone(manifest);
  for (const change of changes) if (change.entry !== null) updateEntry(open, change);
  const missing = changes.flatMap(({ next, file }) => (typeof next === 'string' ? missingFolders(file) : []));
  manifest.folders = [...new Set([...manifest.folders, ...missing.map((path) => relative(place.root, path))])];
  const done: SettingsFile[] = [];
  try {
    writeManifest(folder, manifest);
    for (const { file, next } of changes) {
      if (next === undefined) continue;
      done.unshift(file);
      if (next === null) removeSettings(file);
      else writeSettings(file, next);
    }
  } catch (thrown) {
    for (const file of done) restore(file);
    for (const path of missing.reverse()) removeIfEmpty(path);
    restoreManifest(open, before);
    throw thrown;
  }
  for (const change of changes) if (change.entry === null) updateEntry(open, change);
  // The innermost first: removing it may leave the next one empty.
  const folders = manifest.folders.sort((a, b) => b.length - a.length);
  manifest.folders = folders.filter((path) => !removeIfEmpty(join(place.root, path)));
}

function restoreManifest({ folder, manifest }: OpenManifest, before: Manifest): void {
  for (const [key, entry] of Object.entries(manifest.files)) if (!before.files[key]) dropBackup(folder, entry);
  try {
    writeManifest(folder, before);
  } catch {
    // The first attempt to write it failed too.
  }
}

function updateEntry({ folder, manifest }: OpenManifest, { key, entry }: FileChange): void {
  const former = manifest.files[key];
  if (entry === undefined) return;
  if (entry === null) {
    delete manifest.files[key];
    if (former) dropBackup(folder, former);
    return;
  }
  const { before } = entry;
  const name = before !== null && typeof before === 'object' ? keepBackup(folder, key, before.text) : before;
  manifest.files[key] = { ...entry, before: name };
}

function restore(file: SettingsFile): void {
  try {
    if (file.text === null) removeSettings(file);
    else writeSettings(file, file.text);
  } catch {
    // The first attempt to write it failed too.
  }
}

function look({ place, folder, manifest }: OpenManifest, path: string) {
  const key = keyOf(place, path);
  const entry = manifest.files[key];
  const file = readSettings(path, [place.root, place.home, ...namedFolders(place)]);
  return { key, file, entry, backup: entry ? readBackup(folder, entry) : null };
}

/** Settings folders that the user's environment names, and the state folder, may be anywhere. */
function namedFolders({ scope, environment, launcher }: Place): string[] {
  if (scope === 'project') return [];
  const names = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME', 'GEMINI_CLI_HOME', 'XDG_CONFIG_HOME', 'APPDATA'];
  return [...names.flatMap((name) => environment[name] || []), ...(launcher ? [dirname(launcher.path)] : [])];
}

/** Relative in a project, which may be moved; absolute for a user's own files. */
export function keyOf({ scope, root }: Place, path: string): string {
  return scope === 'user' ? path : relative(root, path).split(sep).join('/');
}

export function pathOf({ root }: Place, key: string): string {
  const path = isAbsolute(key) ? key : join(root, key);
  if (isAbsolute(key) || !relative(root, path).startsWith('..')) return path;
  throw new Fault('corrupt', `The list of what was installed names ${key}, which is outside the project.`, {
    hints: [
      'Nothing was changed. Move the list away and try again: `holdfast config` shows the state folder it is in.',
    ],
  });
}

function baseOf(text: string, edits: readonly Edit[], backup: string | null): string | null {
  const base = [...edits].reverse().reduce((rest, edit) => revertEdit(rest, edit, backup), text);
  return base !== text && backup === null && isHollow(base, edits) ? null : base;
}

/** Removes hooks that an earlier version installed and this one no longer has. */
function withoutStale(text: string, entry: ManifestFile | undefined, edits: readonly Edit[]): string {
  const present = new Set(edits.flatMap((edit) => (edit.kind === 'hooks' ? Object.keys(edit.events) : [])));
  let next = text;
  for (const edit of entry?.edits ?? []) {
    if (edit.kind !== 'hooks') continue;
    const events = Object.fromEntries(Object.entries(edit.events).filter(([event]) => !present.has(event)));
    next = revertEdit(next, { kind: 'hooks', events }, null);
  }
  return next;
}

/** Nothing is left but what every such file has. */
function isHollow(text: string, edits: readonly Edit[]): boolean {
  if (text.trim() === '') return true;
  const { value, problem } = readJson(text);
  if (problem || typeof value !== 'object' || value === null || /\/[/*]/.test(text.replace(/"[^"\n]*"/g, '')))
    return false;
  const needed = edits.flatMap((edit) => (edit.kind === 'default' ? [edit.path[0]] : []));
  return Object.keys(value).every((name) => needed.includes(name));
}
