import { join } from 'node:path';
import type { TreeMark } from '../../core/journal/event.ts';
import { redactRecord } from '../../core/redact/redact.ts';
import { type Repository, readSmall, repositoryAt } from './repository.ts';

/**
 * The commit and branch of a working tree, read from `.git` itself: starting git costs more than the rest of a checkpoint.
 * Undefined without git, or if its files are not as expected.
 */
export function readTreeMark(tree: string): TreeMark | undefined {
  const git = repositoryAt(tree);
  if (git === null) return undefined;
  const { gitDir, linked } = git;
  const named = linked === null ? {} : { tree: linked };
  const head = readSmall(join(gitDir, 'HEAD'))?.trim();
  if (head === undefined) return undefined;
  if (!head.startsWith('ref: ')) return { head, branch: null, ...named };
  const name = head.slice('ref: '.length);
  const branch = redactRecord(name.replace(/^refs\/heads\//, '')).text;
  return { head: readRef(git, name), branch, ...named };
}

function readRef({ gitDir, commonDir }: Repository, name: string): string | null {
  // A name that is not one of git's could lead anywhere.
  if (!/^refs\/[^\0\\]+$/.test(name) || name.split('/').includes('..')) return null;
  for (const folder of [gitDir, commonDir]) {
    const found = readSmall(join(folder, name));
    if (found !== null) return found.trim();
  }
  const packed = readSmall(join(commonDir, 'packed-refs'), PACKED_LIMIT_BYTES) ?? '';
  const line = packed.split('\n').find((one) => one.endsWith(` ${name}`));
  return line?.split(' ')[0] ?? null;
}

const PACKED_LIMIT_BYTES = 64 * 1024 * 1024;
