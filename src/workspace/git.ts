import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { TreeMark } from '../core/event.ts';

/**
 * Where a working tree stands, read from `.git` itself: a spawned git costs more than everything else a checkpoint does.
 * Without git, or where its files say something unexpected, nothing is known.
 */
export function readTreeMark(tree: string): TreeMark | undefined {
  const gitFolder = findGitFolder(tree);
  if (gitFolder === null) return undefined;
  try {
    const head = readFileSync(join(gitFolder, 'HEAD'), 'utf8').trim();
    if (!head.startsWith('ref: ')) return { head, branch: null };
    const name = head.slice('ref: '.length);
    return { head: readRef(gitFolder, name), branch: name.replace(/^refs\/heads\//, '') };
  } catch {
    return undefined;
  }
}

function findGitFolder(from: string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, '.git');
    try {
      const found = statSync(candidate);
      return found.isDirectory()
        ? candidate
        : resolve(
            folder,
            readFileSync(candidate, 'utf8')
              .replace(/^gitdir:\s*/, '')
              .trim(),
          );
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
      // A ref that is not loose may be packed.
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

function commonFolder(gitFolder: string): string {
  try {
    return resolve(gitFolder, readFileSync(join(gitFolder, 'commondir'), 'utf8').trim());
  } catch {
    return gitFolder;
  }
}
