import type { Mirror } from '../../../core/fold/state.ts';
import type { Ask, Bindings, Told } from '../../../core/model/merge.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Files } from '../../../formats/format.ts';
import type { Workspace } from '../../../workspace/workspace.ts';

/**
 * The base of a mirror: its files as they were last written or read. Comparing with it shows what others edited since;
 * without it nothing is known about edits.
 */
interface SavedBase extends MirrorMemory {
  files: [path: string, text: string][];
  /** The texts that are about to replace them; there only while they are written, or after a crash. */
  writing?: [path: string, text: string][];
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
  /** The last versions of the main file, the newest last. */
  versions?: Version[];
}

export interface Paused {
  why: 'older' | 'stale' | 'gone';
  words: string;
}

export interface Version {
  sha256: string;
  at: string;
  /** The journal's version. */
  version: number;
  /** Holdfast wrote it; otherwise someone else did. */
  ours: boolean;
}

const VERSIONS_KEPT = 50;

/** After a crash a file that is not as it was before counts as written. */
export function readBase(workspace: Workspace, mirror: Mirror, present: Files): Files | null {
  const saved = readSaved(workspace, mirror);
  if (saved === null) return null;
  const base = new Map(saved.files);
  for (const [path, text] of saved.writing ?? []) {
    if (present.get(path) !== base.get(path)) base.set(path, text);
  }
  return base;
}

/**
 * What a process that died had still to write. It is written now: with the first of several files in place, the format
 * may see no reason to write the others.
 */
export function unwrittenFiles(workspace: Workspace, mirror: Mirror, present: Files): Files {
  const saved = readSaved(workspace, mirror);
  const before = new Map(saved?.files);
  return new Map((saved?.writing ?? []).filter(([path]) => present.get(path) === before.get(path)));
}

export const wasCutOff = (workspace: Workspace, mirror: Mirror): boolean =>
  readSaved(workspace, mirror)?.writing !== undefined;

export function readMemory(workspace: Workspace, mirror: Mirror): MirrorMemory {
  const { files: _, writing: _w, ...memory } = readSaved(workspace, mirror) ?? { files: [] };
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
  const { bindings: _, told: _t, ...memory } = readMemory(workspace, mirror);
  const saved: SavedBase = { ...memory, ...now, files: [...files], ...(writing ? { writing: [...writing] } : {}) };
  workspace.files.replace(baseFile(mirror), JSON.stringify({ ...mirror, ...saved }));
}

/** Saves what is known, and leaves the texts. */
export function saveMemory(workspace: Workspace, mirror: Mirror, memory: MirrorMemory): void {
  const saved = readSaved(workspace, mirror);
  if (saved) workspace.files.replace(baseFile(mirror), JSON.stringify({ ...mirror, ...saved, ...memory }));
}

/** The versions with the present one, if it is new. */
export function withVersion(versions: readonly Version[] | undefined, present: Version): Version[] {
  const known = versions ?? [];
  return known.at(-1)?.sha256 === present.sha256 ? [...known] : [...known, present].slice(-VERSIONS_KEPT);
}

function readSaved(workspace: Workspace, mirror: Mirror): SavedBase | null {
  try {
    return JSON.parse(workspace.files.read(baseFile(mirror)) ?? '') as SavedBase;
  } catch {
    return null;
  }
}

const baseFile = ({ format, path }: Mirror): string => `mirrors/${sha256(`${format}:${path}`).slice(0, 16)}.json`;
