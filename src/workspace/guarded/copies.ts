import { sha256 } from '../../core/sha256.ts';
import type { OwnFiles } from '../own-files.ts';

/** `backups`: what a mirrored file said before it was written. `rejected`: an edit that could not be read. */
export type CopyKind = 'backups' | 'rejected';

const KEPT = 3;

/** `20260131T120000000Z-1~STATE.md`. Git never takes a name with a tilde for a revision. */
const copyName = /^\d{8}T\d{9}Z-\d+~[^/]+$/;

/** Keeps a text of a file in the data folder, the last three of each; returns the path of the copy there. */
export function keepCopy(files: OwnFiles, kind: CopyKind, path: string, text: string | Buffer, now: string): string {
  const folder = folderOf(kind, path);
  const last = copiesIn(files, folder).at(-1);
  if (last !== undefined && files.read(`${folder}/${last}`) === text) return `${folder}/${last}`;
  const stamp = `${now.replace(/[-:.]/g, '').slice(0, 18)}Z`;
  let name = '';
  for (let number = 1; name === ''; number++) {
    const free = `${stamp}-${number}~${path.split('/').at(-1)?.slice(-100)}`;
    if (files.createOnce(`${folder}/${free}`, text)) name = free;
  }
  for (const old of copiesIn(files, folder).slice(0, -KEPT)) files.remove(`${folder}/${old}`);
  return `${folder}/${name}`;
}

/** The newest copy of a file; null when there is none. */
export function lastCopy(files: OwnFiles, kind: CopyKind, path: string): string | null {
  const folder = folderOf(kind, path);
  const last = copiesIn(files, folder).at(-1);
  return last === undefined ? null : files.read(`${folder}/${last}`);
}

const folderOf = (kind: CopyKind, path: string): string => `${kind}/${sha256(path).slice(0, 16)}`;

function copiesIn(files: OwnFiles, folder: string): string[] {
  return files
    .list(folder)
    .filter((name) => copyName.test(name))
    .sort();
}
