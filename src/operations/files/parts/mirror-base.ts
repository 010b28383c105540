import type { Mirror } from '../../../core/fold/state.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { Files } from '../../../formats/format.ts';
import type { Workspace } from '../../../workspace/workspace.ts';

/**
 * The base of a mirror: its files as they were last written or read. Comparing with it shows what others edited since;
 * without it nothing is known about edits.
 */
interface SavedBase {
  files: [path: string, text: string][];
  /** The texts that are about to replace them; there only while they are written, or after a crash. */
  writing?: [path: string, text: string][];
}

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

export function saveBase(workspace: Workspace, mirror: Mirror, files: Files, writing?: Files): void {
  const saved: SavedBase = { files: [...files], ...(writing ? { writing: [...writing] } : {}) };
  workspace.files.replace(baseFile(mirror), JSON.stringify({ ...mirror, ...saved }));
}

function readSaved(workspace: Workspace, mirror: Mirror): SavedBase | null {
  try {
    return JSON.parse(workspace.files.read(baseFile(mirror)) ?? '') as SavedBase;
  } catch {
    return null;
  }
}

const baseFile = ({ format, path }: Mirror): string => `mirrors/${sha256(`${format}:${path}`).slice(0, 16)}.json`;
