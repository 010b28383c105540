import { join } from 'node:path';
import { namedPaths } from '../core/fold/last-work.ts';
import type { Artifact, TreeMark } from '../core/journal/event.ts';
import { hashArtifact, recordedPath } from '../workspace/files.ts';
import { readTreeMark } from '../workspace/git/tree-mark.ts';
import { isFile } from '../workspace/read.ts';
import type { Context } from './context.ts';

/** Hashes the files given by path, and those that the sentence on what was built names. */
export async function artifactsOf(
  context: Context,
  paths: readonly string[] | undefined,
  built?: string | undefined,
): Promise<Artifact[] | undefined> {
  if ((!paths || paths.length === 0) && !built) return undefined;
  const tree = context.workspace()?.tree ?? context.dir;
  const given = (paths ?? []).map((path) => recordedPath(tree, context.dir, path));
  const named = built ? filesNamed(tree, context.dir, built) : [];
  const artifacts = await Promise.all([...new Set([...given, ...named])].map((path) => hashArtifact(tree, path)));
  return artifacts.length > 0 ? artifacts : undefined;
}

/** Only files that exist: the sentence may name removed ones. */
function filesNamed(tree: string, dir: string, built: string): string[] {
  return namedPaths(built).flatMap((path) => {
    try {
      const from = isFile(join(tree, path)) ? tree : dir;
      return isFile(join(from, path)) ? [recordedPath(tree, from, path)] : [];
    } catch {
      // The path leads out of the workspace.
      return [];
    }
  });
}

/** The branch and commit the working tree is at; undefined where they are not those of the moment. */
export function treeMark(context: Context): TreeMark | undefined {
  if (context.isLate) return undefined;
  const mark = readTreeMark(context.workspace()?.tree ?? context.dir);
  const { clone } = context.here();
  return mark && clone !== null ? { ...mark, clone } : mark;
}
