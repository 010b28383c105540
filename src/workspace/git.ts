import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeMark } from '../core/journal/event.ts';
import { redactRecord } from '../core/redact/redact.ts';
import { type Repository, repositoryAt } from './repository.ts';

/**
 * The commit and branch of a working tree, read from `.git` itself: starting git costs more than the rest of a checkpoint.
 * Undefined without git, or if its files are not as expected.
 */
export function readTreeMark(tree: string): TreeMark | undefined {
  const git = repositoryAt(tree);
  if (git === null) return undefined;
  const { gitDir, linked } = git;
  const named = linked === null ? {} : { tree: linked };
  try {
    const head = readFileSync(join(gitDir, 'HEAD'), 'utf8').trim();
    if (!head.startsWith('ref: ')) return { head, branch: null, ...named };
    const name = head.slice('ref: '.length);
    const branch = redactRecord(name.replace(/^refs\/heads\//, '')).text;
    return { head: readRef(git, name), branch, ...named };
  } catch {
    return undefined;
  }
}

function readRef({ gitDir, commonDir }: Repository, name: string): string | null {
  // A name that is not one of git's could lead anywhere.
  if (!/^refs\/[^\0\\]+$/.test(name) || name.split('/').includes('..')) return null;
  for (const folder of [gitDir, commonDir]) {
    try {
      return readFileSync(join(folder, name), 'utf8').trim();
    } catch {
      // The ref may be packed.
    }
  }
  try {
    const packed = readFileSync(join(commonDir, 'packed-refs'), 'utf8');
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
