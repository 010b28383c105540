import { isAbsolute, join, relative, sep } from 'node:path';
import type { Place, WantedFile } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { sha256 } from '../../../core/sha256.ts';
import { applyEdit, type Edit, mustBeReadable, revertEdit } from './edit.ts';
import { readJson } from './json-text.ts';
import {
  dropBackup,
  type Installed,
  type InstalledFile,
  keepBackup,
  readBackup,
  removeIfEmpty,
  writeRecord,
} from './manifest.ts';
import { missingFolders, mustBeWritable, readTarget, removeTarget, type Target, writeTarget } from './target.ts';

export type Action = 'created' | 'changed' | 'unchanged' | 'left' | 'removed' | 'restored' | 'kept';

/** What becomes of one file. Worked out for all files before the first is written. */
export interface Step {
  key: string;
  holds: string;
  target: Target;
  action: Action;
  why?: string;
  /** The text to be; null for none, undefined for the one that is. */
  next?: string | null;
  /** What the record says of it from now on; null for nothing any more. */
  entry?: (Omit<InstalledFile, 'before'> & { before: string | null | { text: string } }) | null;
}

export interface Desk {
  place: Place;
  folder: string;
  record: Installed;
}

/** How a file is put into its wanted form for some clients. */
export function planInstall(desk: Desk, names: readonly string[], wanted: WantedFile): Step {
  const { key, target, entry, backup } = look(desk, wanted.path);
  const { path, holds, edits } = wanted;
  const step = { key, holds, target };
  const clients = [...new Set([...(entry?.clients ?? []), ...names])];
  const { text } = target;
  const untouched = entry !== undefined && text !== null && sha256(text) === entry.after;
  if (edits[0]?.kind === 'whole') {
    const wantedText = edits[0].text;
    const kept = { clients, edits: [...edits], before: null, after: sha256(wantedText) };
    if (text === wantedText) return { ...step, action: 'unchanged', entry: kept };
    if (text !== null && !untouched && !isOwnFolder(key)) {
      const why = entry ? 'it was changed since it was installed' : 'there is another one of this name';
      return { ...step, action: 'left', why };
    }
    return { ...step, action: text === null ? 'created' : 'changed', next: wantedText, entry: kept };
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
  // Nothing of it is ours: it said so before.
  if (next === text && base === text) return { ...step, ...why, action: left.length > 0 ? 'left' : 'unchanged' };
  const before = untouched ? entry.before : base === null ? null : { text: base };
  const kept = { clients, edits: made, before, after: sha256(next) };
  if (next === text) return { ...step, ...why, action: 'unchanged', entry: kept };
  return { ...step, ...why, action: text === null ? 'created' : 'changed', next, entry: kept };
}

/** How a file is taken back for clients; `wanted` is there for what no record tells of. */
export function planUninstall(desk: Desk, gone: readonly string[], path: string, wanted?: WantedFile): Step {
  const { key, target, entry, backup } = look(desk, path);
  const step = { key, holds: wanted?.holds ?? '', target };
  const staying = entry?.clients.filter((name) => !gone.includes(name)) ?? [];
  if (entry && staying.length > 0) {
    const why = `${staying.join(', ')} ${staying.length === 1 ? 'needs' : 'need'} it`;
    return { ...step, action: 'kept', why, entry: { ...entry, clients: staying } };
  }
  const { text } = target;
  const edits = entry?.edits ?? wanted?.edits ?? [];
  const forgotten = entry ? { entry: null } : {};
  if (text === null) return { ...step, ...forgotten, action: 'unchanged' };
  if (entry && sha256(text) === entry.after) {
    if (entry.before === null) return { ...step, entry: null, action: 'removed', next: null };
    if (backup !== null) return { ...step, entry: null, action: 'restored', next: backup };
  }
  mustBeReadable(path, text, edits);
  if (edits[0]?.kind === 'whole') {
    if (text === edits[0].text || isOwnFolder(key)) return { ...step, ...forgotten, action: 'removed', next: null };
    return { ...step, ...forgotten, action: 'left', why: 'it was changed since it was installed' };
  }
  const next = [...edits].reverse().reduce((rest, edit) => revertEdit(rest, edit, backup), text);
  mustBeReadable(path, next, edits);
  if (next === text) return { ...step, ...forgotten, action: 'unchanged' };
  if ((entry === undefined || entry.before === null) && isHollow(next, edits))
    return { ...step, ...forgotten, action: 'removed', next: null };
  return { ...step, ...forgotten, action: 'changed', next };
}

/**
 * Does all of it or nothing: where a file cannot be written, those before it are put back. What a file was, and that it is
 * ours, is written down before it is changed: whatever is cut short can be finished or taken back.
 */
export function carryOut(desk: Desk, steps: readonly Step[]): void {
  const { place, folder, record } = desk;
  for (const { next, target } of steps) if (next !== undefined) mustBeWritable(target);
  const before = structuredClone(record);
  for (const step of steps) if (step.entry !== null) note(desk, step);
  const missing = steps.flatMap(({ next, target }) => (typeof next === 'string' ? missingFolders(target) : []));
  record.folders = [...new Set([...record.folders, ...missing.map((path) => relative(place.root, path))])];
  const done: Target[] = [];
  try {
    writeRecord(folder, record);
    for (const { target, next } of steps) {
      if (next === undefined) continue;
      done.unshift(target);
      if (next === null) removeTarget(target);
      else writeTarget(target, next);
    }
  } catch (thrown) {
    for (const target of done) putBack(target);
    for (const path of missing.reverse()) removeIfEmpty(path);
    forget(desk, before);
    throw thrown;
  }
  for (const step of steps) if (step.entry === null) note(desk, step);
  // The innermost first: one that is empty then may make the next one so.
  const folders = record.folders.sort((a, b) => b.length - a.length);
  record.folders = folders.filter((path) => !removeIfEmpty(join(place.root, path)));
}

/** Nothing was changed after all. */
function forget({ folder, record }: Desk, before: Installed): void {
  for (const [key, entry] of Object.entries(record.files)) if (!before.files[key]) dropBackup(folder, entry);
  try {
    writeRecord(folder, before);
  } catch {
    // It could not be written in the first place.
  }
}

function note({ folder, record }: Desk, { key, entry }: Step): void {
  const former = record.files[key];
  if (entry === undefined) return;
  if (entry === null) {
    delete record.files[key];
    if (former) dropBackup(folder, former);
    return;
  }
  const { before } = entry;
  const name = before !== null && typeof before === 'object' ? keepBackup(folder, key, before.text) : before;
  record.files[key] = { ...entry, before: name };
}

function putBack(target: Target): void {
  try {
    if (target.text === null) removeTarget(target);
    else writeTarget(target, target.text);
  } catch {
    // It could not be written in the first place.
  }
}

function look({ place, folder, record }: Desk, path: string) {
  const key = keyOf(place, path);
  const entry = record.files[key];
  const target = readTarget(path, [place.root, place.home, ...namedFolders(place)]);
  return { key, target, entry, backup: entry ? readBackup(folder, entry) : null };
}

/** Folders that the user's own environment names for settings may lie anywhere. */
function namedFolders({ scope, environment }: Place): string[] {
  if (scope === 'project') return [];
  const names = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME', 'GEMINI_CLI_HOME', 'XDG_CONFIG_HOME', 'APPDATA'];
  return names.flatMap((name) => environment[name] || []);
}

/** A project may be moved; a user's files are known by whole paths. */
export function keyOf({ scope, root }: Place, path: string): string {
  return scope === 'user' ? path : relative(root, path).split(sep).join('/');
}

export function pathOf({ root }: Place, key: string): string {
  const path = isAbsolute(key) ? key : join(root, key);
  if (isAbsolute(key) || !relative(root, path).startsWith('..')) return path;
  throw new Fault('corrupt', `The record of what was installed names ${key}, which is outside the project.`, {
    hints: ['Nothing was changed. Move `.holdfast/installed.json` away and try again.'],
  });
}

/** Ours without asking: nobody else writes there. */
const isOwnFolder = (key: string): boolean => key.startsWith('.holdfast/');

function baseOf(text: string, edits: readonly Edit[], backup: string | null): string | null {
  const base = [...edits].reverse().reduce((rest, edit) => revertEdit(rest, edit, backup), text);
  return base !== text && backup === null && isHollow(base, edits) ? null : base;
}

/** Entries of an earlier version that this one has no more. */
function withoutStale(text: string, entry: InstalledFile | undefined, edits: readonly Edit[]): string {
  const present = new Set(edits.flatMap((edit) => (edit.kind === 'hooks' ? Object.keys(edit.events) : [])));
  let next = text;
  for (const edit of entry?.edits ?? []) {
    if (edit.kind !== 'hooks') continue;
    const events = Object.fromEntries(Object.entries(edit.events).filter(([event]) => !present.has(event)));
    next = revertEdit(next, { kind: 'hooks', events }, null);
  }
  return next;
}

/** Nothing is left but what the file needs to be one. */
function isHollow(text: string, edits: readonly Edit[]): boolean {
  if (text.trim() === '') return true;
  const { value, problem } = readJson(text);
  if (problem || typeof value !== 'object' || value === null || /\/[/*]/.test(text.replace(/"[^"\n]*"/g, '')))
    return false;
  const needed = edits.flatMap((edit) => (edit.kind === 'default' ? [edit.path[0]] : []));
  return Object.keys(value).every((name) => needed.includes(name));
}
