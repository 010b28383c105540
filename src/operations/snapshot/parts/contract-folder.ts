import { basename, isAbsolute, join, resolve } from 'node:path';
import { contractIn } from '../../../formats/snap/contract-files.ts';
import { filesOf, sortFolder } from '../../../formats/snap/folder.ts';
import { isInside, realPathOf } from '../../../workspace/files.ts';
import { repositoryAt } from '../../../workspace/git/repository.ts';
import { isFolder, listFolder, pathExists, readDamaged } from '../../../workspace/read.ts';
import type { Contract, FileState } from './contract.ts';
import { measure } from './measure.ts';

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
  const contract = contractIn({ format: 'snap', main, files: [...files.keys()] }, files);
  const roots = rootsOf(folder);
  const { questions } = contract;
  return {
    name: basename(resolve(folder)),
    tasks: contract.tasks,
    mail: contract.mail,
    sides: contract.sides,
    questions: async (ids) =>
      questions && new Map(ids.flatMap((id) => (questions.has(id) ? [[id, questions.get(id) ?? null] as const] : []))),
    file: (path) => findFile(roots, path),
    tokens: (path) => measure(roots, path),
    knows: () => false,
    decisions: () => contract.decisions,
    pointers: () => contract.pointers,
    commitments: () => null,
    promises: contract.commitments,
    inbox: contract.inbox,
    sessions: contract.sessions,
    isFollowed: contract.isFollowed,
  };
}

/** Paths in snapshots are usually relative to the top of the repository. */
function rootsOf(folder: string): string[] {
  const git = repositoryAt(folder);
  return [...new Set([...(git ? [git.root] : []), resolve(folder, '..'), resolve(folder)])];
}

/** Only checks what is there; a path that leads out of the tree is not followed. */
export function findFile(roots: readonly string[], path: string): FileState {
  let inside = false;
  for (const root of roots) {
    const file = isAbsolute(path) ? path : join(root, path);
    if (!isInside(realPathOf(root), realPathOf(file))) continue;
    inside = true;
    if (isFolder(file)) return 'folder';
    if (pathExists(file)) return 'present';
  }
  return inside ? 'absent' : 'outside';
}
