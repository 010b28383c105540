import { join, posix } from 'node:path';
import { adviseReading, type FileAdvice, planFileNames } from '../../../core/brief/reading.ts';
import type { FileRow, State } from '../../../core/fold/state.ts';
import { estimateTokens } from '../../../core/tokens.ts';
import type { Position } from '../../../core/views/position.ts';
import { recordedPath } from '../../../workspace/files.ts';
import { fileSize, listFolder, mustReadText, pathExists } from '../../../workspace/read.ts';
import type { Context } from '../../context.ts';

/** Larger files are not read to count their tokens. */
const MEASURED_BYTES = 1024 * 1024;
const ARTIFACTS = 6;
const FILES = 12;
/** A long file is estimated from three pieces: counting all of it takes longer than the rest of the brief. */
const PIECE_CHARS = 300;

/** The files to read before continuing at a position, in order, each with its present size. */
export async function readingList(
  context: Context,
  state: State,
  position: Position,
  budgetTokens: number,
): Promise<FileAdvice[]> {
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
  for (const { path } of step.artifacts) add(path, 'artifact');
  const engine = await context.engine();
  const pages = [step.key, ...step.after].map((key) =>
    engine.rows(state.run?.id ?? '', { kind: 'file', tag: `step:${key}`, limit: ARTIFACTS }),
  );
  for (const { doc } of (await Promise.all(pages)).flat())
    if (!(doc as FileRow).read) add((doc as FileRow).path, 'artifact');
  const measured = [...found].slice(0, FILES).map(([path, why]) => ({ path, why, ...measure(tree, path) }));
  return adviseReading(measured, budgetTokens);
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

/** Tokens and lines of a file in the tree; a large one is estimated by its size, an unreadable one is null. */
function measure(tree: string, path: string): { tokens: number | null; lines: number | null } {
  try {
    const file = join(tree, recordedPath(tree, tree, path));
    const size = fileSize(file);
    if (size === null) return UNKNOWN;
    if (size > MEASURED_BYTES) return { tokens: Math.ceil(size / 3), lines: null };
    const text = mustReadText(file);
    return { tokens: countFile(text), lines: countLines(text) };
  } catch {
    return UNKNOWN;
  }
}

const UNKNOWN = { tokens: null, lines: null };

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function countFile(text: string): number {
  const { length } = text;
  if (length <= PIECE_CHARS * 4) return estimateTokens(text);
  const starts = [0, (length - PIECE_CHARS) >> 1, length - PIECE_CHARS];
  const tokens = starts.reduce((sum, start) => sum + estimateTokens(text.slice(start, start + PIECE_CHARS)), 0);
  return Math.ceil((tokens / (starts.length * PIECE_CHARS)) * length);
}
