import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { TreeMark } from '../core/journal/event.ts';

/**
 * The commit and branch of a working tree, read from `.git` itself: starting git costs more than the rest of a checkpoint.
 * Undefined without git, or if its files are not as expected.
 */
export function readTreeMark(tree: string): TreeMark | undefined {
  const git = findGit(tree);
  if (git === null) return undefined;
  const { folder, linked } = git;
  const named = linked === null ? {} : { tree: linked };
  try {
    const head = readFileSync(join(folder, 'HEAD'), 'utf8').trim();
    if (!head.startsWith('ref: ')) return { head, branch: null, ...named };
    const name = head.slice('ref: '.length);
    return { head: readRef(folder, name), branch: name.replace(/^refs\/heads\//, ''), ...named };
  } catch {
    return undefined;
  }
}

/** The repository around a folder. */
export interface Git {
  /** The top of its working tree. */
  root: string;
  folder: string;
  /** The name of a linked working tree, which stays the same when it is moved; null in the main one. */
  linked: string | null;
}

export function findGit(from: string): Git | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, '.git');
    try {
      const found = statSync(candidate);
      if (found.isDirectory()) return { root: folder, folder: candidate, linked: null };
      const named = readFileSync(candidate, 'utf8').replace(/^gitdir:\s*/, '');
      const gitFolder = resolve(folder, named.trim());
      // The git folder of a submodule is elsewhere too, but not shared.
      const linked = commonFolder(gitFolder) === gitFolder ? null : basename(gitFolder);
      return { root: folder, folder: gitFolder, linked };
    } catch {
      if (dirname(folder) === folder) return null;
    }
  }
}

function readRef(gitFolder: string, name: string): string | null {
  for (const folder of [gitFolder, commonFolder(gitFolder)]) {
    try {
      return readFileSync(join(folder, name), 'utf8').trim();
    } catch {
      // The ref may be packed.
    }
  }
  try {
    const packed = readFileSync(join(commonFolder(gitFolder), 'packed-refs'), 'utf8');
    return (
      packed
        .split('\n')
        .find((line) => line.endsWith(` ${name}`))
        ?.split(' ')[0] ?? null
    );
  } catch {
    return null;
  }
}

export function commonFolder(gitFolder: string): string {
  try {
    return resolve(gitFolder, readFileSync(join(gitFolder, 'commondir'), 'utf8').trim());
  } catch {
    return gitFolder;
  }
}
