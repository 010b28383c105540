import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openGuarded } from './guarded/tree-files.ts';

/** The files of a folder as formats see them. Links are not followed: they may lead anywhere, or in a circle. */
export interface FileTree {
  root: string;
  paths: readonly string[];
  read(path: string): string | null;
  /** There were more files than the limit. */
  cut: boolean;
}

const PATHS_LIMIT = 200_000;
const DEPTH_LIMIT = 24;

/** Folders that programs fill and that may be huge. */
const skipped = new Set([
  '.git',
  '.hg',
  '.svn',
  '.holdfast',
  '.venv',
  '.tox',
  '.cache',
  '.next',
  'node_modules',
  'bower_components',
  '__pycache__',
  'venv',
]);

/** `below` limits the walk to some folders and files. */
export function openTree(root: string, below: readonly string[] = ['']): FileTree {
  const paths: string[] = [];
  let cut = false;
  const walk = (folder: string, depth: number): void => {
    if (depth > DEPTH_LIMIT || paths.length >= PATHS_LIMIT) {
      cut = true;
      return;
    }
    for (const entry of entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) paths.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) walk(path, depth + 1);
    }
  };
  for (const start of below) {
    const found = lstatSync(join(root, start), { throwIfNoEntry: false });
    if (found?.isDirectory()) walk(start, 0);
    else if (found?.isFile()) paths.push(start);
  }
  return { root, paths: [...new Set(paths)].sort(), read: openGuarded(root).read, cut };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A folder without read permission counts as empty.
    return [];
  }
}
