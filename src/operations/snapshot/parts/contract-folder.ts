import { basename, isAbsolute, join, resolve } from 'node:path';
import { contractIn } from '../../../formats/snap/contract-files.ts';
import { filesOf, sortFolder } from '../../../formats/snap/folder.ts';
import { isInside, realPathOf } from '../../../workspace/files.ts';
import { listFolder, pathExists, readDamaged } from '../../../workspace/read.ts';
import { repositoryAt } from '../../../workspace/repository.ts';
import type { Contract } from './check-rules.ts';

/** The current files of a working session in a folder; null if there are none. */
export function contractFolder(folder: string): Contract | null {
  // The chats hold the snapshots themselves.
  const paths = filesOf({ ...sortFolder(listFolder(folder), ''), chats: new Map() });
  const files = new Map(
    paths.flatMap((path): [string, string][] => {
      const text = readDamaged(join(folder, path));
      return text === null ? [] : [[path, text]];
    }),
  );
  const [main] = files.keys();
  if (main === undefined) return null;
  const { tasks, mail, questions } = contractIn({ format: 'snap', main, files: [...files.keys()] }, files);
  const roots = rootsOf(folder);
  return {
    name: basename(resolve(folder)),
    tasks,
    mail,
    questions: async (ids) => (questions === null ? null : new Set(ids.filter((id) => questions.has(id)))),
    file: (path) => findFile(roots, path),
  };
}

/** Paths in snapshots are usually relative to the top of the repository. */
function rootsOf(folder: string): string[] {
  const git = repositoryAt(folder);
  return [...new Set([...(git ? [git.root] : []), resolve(folder, '..'), resolve(folder)])];
}

/** Only checks existence; a path that leads out of the tree is not followed. */
export function findFile(roots: readonly string[], path: string): 'present' | 'absent' | 'unknown' {
  let inside = false;
  for (const root of roots) {
    const file = isAbsolute(path) ? path : join(root, path);
    if (!isInside(realPathOf(root), realPathOf(file))) continue;
    inside = true;
    if (pathExists(file)) return 'present';
  }
  return inside ? 'absent' : 'unknown';
}
