import type { Mirror } from '../../../core/fold/state.ts';
import type { Ask, Bindings, Told } from '../../../core/model/merge.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Files } from '../../../formats/format.ts';
import type { Workspace } from '../../../workspace/workspace.ts';

/**
 * The base of a mirror: its files as they were last written or read. Comparing with it shows what others edited since;
 * without it nothing is known about edits. It holds contents and hashes: which files are written, and with what, follows
 * from the journal and the format alone.
 */
interface SavedBase extends MirrorMemory {
  /** The clone that added the mirror. In a copy of this folder it is another one, and the mirror is not the copy's. */
  addedBy?: string;
  files?: [path: string, text: string][];
  /** Hashes of the texts that are about to replace them; there only while they are written, or after a crash. */
  writing?: [path: string, sha256: string][];
}

/** What is known of a mirror apart from its text. */
export interface MirrorMemory {
  /** Of the entries in the base; absent if the base was saved without them. */
  bindings?: Bindings;
  told?: Told;
  /** Records that someone removed from the file: `decisions:D-3`. They stay in the journal. */
  hidden?: string[];
  asks?: Ask[];
  paused?: Paused | null;
  /** The last versions of the files, the newest last. */
  versions?: Version[];
  /** The version of the journal that the files show. */
  journal?: number;
  /** The branch and the commit that were checked out when they were last synchronised. */
  branch?: string | null | undefined;
  head?: string | null | undefined;
}

export interface Paused {
  why: 'older' | 'stale' | 'gone' | 'branch';
  words: string;
}

export interface Version {
  /** Absent for the main file. */
  path?: string;
  sha256: string;
  at: string;
  /** The journal's version. */
  version: number;
  /** Holdfast wrote it; otherwise someone else did. */
  ours: boolean;
}

const VERSIONS_KEPT = 50;

/** The texts that are known, null if none ever were. After a crash, a file with the text that was to be written is ours. */
export function readBase(workspace: Workspace, mirror: Mirror, present: Files): Files | null {
  const saved = readSaved(workspace, mirror);
  if (!saved?.files) return null;
  const base = new Map(saved.files);
  for (const path of writtenBefore(saved, present)) base.set(path, present.get(path) ?? '');
  return base;
}

/**
 * The texts to render over: after a crash as they were before it. With the first of several files in place, the format may
 * see no reason to write the others.
 */
export function withoutCutOff(workspace: Workspace, mirror: Mirror, present: Files): Files {
  const saved = readSaved(workspace, mirror);
  const [files, before] = [new Map(present), new Map(saved?.files)];
  for (const path of saved ? writtenBefore(saved, present) : []) {
    const text = before.get(path);
    if (text === undefined) files.delete(path);
    else files.set(path, text);
  }
  return files;
}

function writtenBefore({ writing = [] }: SavedBase, present: Files): string[] {
  return writing.flatMap(([path, hash]) => (sha256(present.get(path) ?? '') === hash ? path : []));
}

/** A mirror belongs to the clone that added it; others neither read nor write its file until they add it too. */
export function isOwnMirror(workspace: Workspace, mirror: Mirror): boolean {
  return readSaved(workspace, mirror)?.addedBy === workspace.clone.clone;
}

export function claimMirror(workspace: Workspace, mirror: Mirror): void {
  save(workspace, mirror, { ...readSaved(workspace, mirror), addedBy: workspace.clone.clone });
}

export const wasCutOff = (workspace: Workspace, mirror: Mirror): boolean =>
  readSaved(workspace, mirror)?.writing !== undefined;

export function readMemory(workspace: Workspace, mirror: Mirror): MirrorMemory {
  const { files: _, writing: _w, addedBy: _a, ...memory } = readSaved(workspace, mirror) ?? {};
  return memory;
}

/** Saves the texts, and what else is known now. Bindings belong to their text: without new ones they are dropped. */
export function saveBase(
  workspace: Workspace,
  mirror: Mirror,
  files: Files,
  writing?: Files,
  now?: MirrorMemory,
): void {
  const { bindings: _, told: _t, writing: _w, journal: _j, ...known } = readSaved(workspace, mirror) ?? {};
  const hashes = writing && [...writing].map(([path, text]): [string, string] => [path, sha256(text)]);
  save(workspace, mirror, { ...known, ...now, files: [...files], ...(hashes ? { writing: hashes } : {}) });
}

/** Saves what is known, and leaves the texts. */
export function saveMemory(workspace: Workspace, mirror: Mirror, memory: MirrorMemory): void {
  const saved = readSaved(workspace, mirror);
  if (saved) save(workspace, mirror, { ...saved, ...memory });
}

/** The versions with the present one, if it is new. */
export function withVersion(known: readonly Version[], present: Version): Version[] {
  const own = known.filter(({ path }) => path === present.path);
  if (own.at(-1)?.sha256 === present.sha256) return [...known];
  const dropped = own.length >= VERSIONS_KEPT ? own[0] : undefined;
  return [...known.filter((one) => one !== dropped), present];
}

function readSaved(workspace: Workspace, mirror: Mirror): SavedBase | null {
  try {
    return JSON.parse(workspace.files.read(baseFile(mirror)) ?? '') as SavedBase;
  } catch {
    return null;
  }
}

function save(workspace: Workspace, mirror: Mirror, saved: SavedBase): void {
  workspace.files.replace(baseFile(mirror), JSON.stringify({ ...mirror, ...saved }));
}

/** For a mirror whose run is gone. */
export const forgetBase = ({ files }: Workspace, mirror: Mirror): boolean => files.remove(baseFile(mirror));

const baseFile = ({ format, path }: Mirror): string => `mirrors/${sha256(`${format}:${path}`).slice(0, 16)}.json`;
