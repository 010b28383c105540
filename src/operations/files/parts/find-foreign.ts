import { dirname, isAbsolute, join, relative } from 'node:path';
import type { Format, Found } from '../../../formats/format.ts';
import { formatNames, formats } from '../../../formats/index.ts';
import { isFile } from '../../../workspace/read.ts';
import { type FileTree, openTree } from '../../../workspace/tree.ts';
import type { Context } from '../../context.ts';
import type { ForeignFile } from './foreign-file.ts';
import { readFiles } from './mirrors.ts';

/** Finds all state files below a folder, or the one a file belongs to. */
export async function findForeign(
  root: string,
  wanted?: string,
  progress?: Context['progress'],
): Promise<ForeignFile[]> {
  const way = wanted === undefined ? '' : relative(root, wanted);
  const isOutside = way.startsWith('..') || isAbsolute(way);
  const base = isOutside && wanted !== undefined ? (isFile(wanted) ? dirname(wanted) : wanted) : root;
  const tree = openTree(base);
  const inside = wanted === undefined ? '' : relative(base, wanted).replaceAll('\\', '/');
  const nameOf = (main: string): string => (isOutside ? join(base, main) : main);
  const runs: { format: Format; found: Found }[] = [];
  for (const name of formatNames) {
    const format = await formats[name]();
    for (const found of format.detect(tree)) {
      const belongs = found.files.some((path) => path === inside || path.startsWith(`${inside}/`)) || inside === '';
      if (belongs) runs.push({ format, found });
    }
  }
  const stateFiles = runs.map(({ format, found }, done): ForeignFile => {
    progress?.({ doing: 'Reading', done, total: runs.length, at: found.main });
    const files = readFiles(tree, found);
    return { format, base, name: nameOf(found.main), found, files, parsed: format.parse(found, files) };
  });
  if (stateFiles.length === 0 && inside !== '' && tree.paths.includes(inside)) {
    const { findTables } = await import('./tables.ts');
    const tables = findTables(base, inside, nameOf);
    if (tables.length > 0) return tables;
    const guessed = await guessForeign(tree, inside);
    if (guessed) stateFiles.push({ ...guessed, base, name: nameOf(inside) });
  }
  return stateFiles.sort((a, b) => (a.found.main < b.found.main ? -1 : 1));
}

/** For a given file with an unusual name or folder: the format that reads most of it. */
async function guessForeign(tree: FileTree, path: string): Promise<Guess | null> {
  let best: Guess | null = null;
  for (const name of formatNames) {
    const format = await formats[name]();
    const found = { format: name, main: path, files: [path] };
    const files = readFiles(tree, found);
    const parsed = format.parse(found, files);
    const guess = { format, found, files, parsed };
    if (parsed.model && (best === null || factsIn(guess) > factsIn(best))) best = guess;
  }
  return best;
}

type Guess = Omit<ForeignFile, 'base' | 'name'>;

function factsIn({ parsed: { model, problems } }: Guess): number {
  if (!model) return 0;
  const { steps, decisions, items, sessions, messages, notes } = model;
  const facts = steps.length + decisions.length + items.length + sessions.length + messages.length + notes.length;
  return facts - problems.filter((problem) => problem.level === 'error').length;
}
