import { join, posix } from 'node:path';
import { adviseReading, type FileAdvice, planFileNames } from '../../../core/brief/reading.ts';
import type { FileRow, State, Step } from '../../../core/fold/state.ts';
import type { Position } from '../../../core/views/position.ts';
import type { Engine } from '../../../engine/engine.ts';
import { recordedPath } from '../../../workspace/files.ts';
import { changedAt, fileSize, isFile, listFolder, mustReadText, pathExists } from '../../../workspace/read.ts';
import type { Context } from '../../context.ts';

/** Larger files are not read to count their lines. */
const COUNTED_BYTES = 1024 * 1024;
/** Of text, code and JSON: 2.5 to 3.7. Counting the tokens of all files takes longer than the rest of the brief. */
const BYTES_PER_TOKEN = 3.2;
const ARTIFACTS = 6;
const FILES = 12;

/** The files to read before continuing at a position, in order, each with its present size. */
export function readingList(
  context: Context,
  state: State,
  position: Position,
  artifacts: readonly FileRow[],
  budgetTokens: number,
  changed: readonly string[] = [],
): FileAdvice[] {
  const step = position.current?.step;
  if (!step) return [];
  const tree = context.workspace()?.tree ?? context.dir;
  const found = new Map<string, FileAdvice['why']>();
  const add = (path: string, why: FileAdvice['why']): void => {
    if (!found.has(path)) found.set(path, why);
  };
  for (const path of step.context) add(path, 'context');
  const { plans, summaries } = planFileNames(position);
  const folders = planFolders(tree, state);
  for (const path of firstThatExists(tree, folders, plans)) add(path, 'plan');
  for (const names of summaries) for (const path of firstThatExists(tree, folders, names)) add(path, 'summary');
  const there = [...step.artifacts, ...artifacts.filter(({ read }) => !read)].map(({ path }) => path);
  for (const path of newestFirst(tree, [...changed, ...there])) add(path, 'artifact');
  const measured = [...found].slice(0, FILES).map(([path, why]) => ({ path, why, ...measure(tree, path) }));
  return adviseReading(measured, budgetTokens);
}

/** The last files of a step and of those it builds on. */
export async function stepFiles(engine: Engine, state: State, { key, after }: Step): Promise<FileRow[]> {
  const pages = [key, ...after].map((step) =>
    engine.rows(state.run?.id ?? '', { kind: 'file', tag: `step:${step}`, limit: ARTIFACTS }),
  );
  return (await Promise.all(pages)).flat().map((row) => row.doc as FileRow);
}

/** The last changed first; what is not there any more cannot be read. */
function newestFirst(tree: string, paths: readonly string[]): string[] {
  const times = new Map(paths.map((path) => [path, timeOf(tree, path)]));
  const there = [...times].filter((entry): entry is [string, number] => entry[1] !== null);
  return there.sort(([, one], [, other]) => other - one).map(([path]) => path);
}

function timeOf(tree: string, path: string): number | null {
  try {
    const file = join(tree, recordedPath(tree, tree, path));
    return isFile(file) ? changedAt(file) : null;
  } catch {
    return null;
  }
}

/** Folders that may hold plan files: the plan's own, those of other tools, the root. */
function planFolders(tree: string, state: State): string[] {
  const beside = state.run?.plan ? [posix.dirname(state.run.plan.path)] : [];
  const phases = listFolder(join(tree, '.planning/phases'))
    .slice(0, 200)
    .map((name) => `.planning/phases/${name}`);
  return [...new Set([...beside, '.planning', ...phases, 'docs/plans', '.'])];
}

function firstThatExists(tree: string, folders: readonly string[], names: readonly string[]): string[] {
  for (const folder of folders) {
    for (const name of names) {
      const path = posix.join(folder, name);
      if (pathExists(join(tree, path))) return [path];
    }
  }
  return [];
}

/** Tokens, by the size, and lines of a file in the tree; null where they are not known. */
function measure(tree: string, path: string): { tokens: number | null; lines: number | null } {
  try {
    const file = join(tree, recordedPath(tree, tree, path));
    const size = fileSize(file);
    if (size === null) return UNKNOWN;
    return {
      tokens: Math.ceil(size / BYTES_PER_TOKEN),
      lines: size > COUNTED_BYTES ? null : countLines(mustReadText(file)),
    };
  } catch {
    return UNKNOWN;
  }
}

const UNKNOWN = { tokens: null, lines: null };

export function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
