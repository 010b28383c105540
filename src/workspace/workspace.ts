import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault } from '../core/fault.ts';
import { type OwnFiles, openOwnFiles } from './own-files.ts';
import { writeOnce } from './write.ts';

/** A folder with `.holdfast/`, and the working tree in use, which differs in a linked git worktree. */
export interface Workspace {
  /** The folder that has `.holdfast/`. */
  root: string;
  tree: string;
  folder: string;
  /** The files in it. */
  files: OwnFiles;
  id: string;
  config: WorkspaceConfig;
}

export interface WorkspaceConfig {
  workspace: string;
  store?: string;
  /** Where `holdfast serve` reports that something needs a person: an http address or a command. */
  notify?: string;
  capture?: CaptureConfig;
}

/** What hooks may record. */
export interface CaptureConfig {
  off?: boolean;
  /** Paths and globs that are not recorded. */
  ignorePaths?: string[];
  /** Beginnings of commands that are not recorded; `*` matches anything. */
  ignoreCommands?: string[];
}

/** Files of this machine only; the rest of the folder may be shared through git. */
export const localFiles: readonly string[] = [
  'journal.db*',
  '*.log',
  '*.tmp',
  'token*',
  'hooks/',
  'installed*',
  '*.local',
];

const FOLDER = '.holdfast';

/** Looks upward from a folder; a linked worktree leads to the main checkout, whose journal it shares. */
export function findWorkspace(from: string): Workspace | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    // The main checkout first: if the settings are in git, the worktree has a copy of them and no journal.
    const main = mainCheckout(folder);
    if (main !== null && main !== folder && existsSync(join(main, FOLDER, 'config.json')))
      return openWorkspace(main, folder);
    if (existsSync(join(folder, FOLDER, 'config.json'))) return openWorkspace(folder, folder);
    if (dirname(folder) === folder) return null;
  }
}

/** Creates `.holdfast/` in a folder, or opens the existing one. */
export function createWorkspace(folder: string, makeId: () => string): Workspace {
  const root = resolve(folder);
  const existing = findWorkspace(root);
  if (existing) return existing;
  const inside = join(root, FOLDER);
  try {
    makeFolder(inside);
    writeFileSync(join(inside, '.gitignore'), `${localFiles.join('\n')}\n`);
    // Of several processes that start at once, one names the workspace; runs under another name would not be found again.
    writeOnce(join(inside, 'config.json'), `${JSON.stringify({ workspace: makeId() }, null, 2)}\n`);
  } catch (thrown) {
    throw new Fault('unavailable', `The folder ${inside} cannot be created: ${(thrown as Error).message}.`, {
      hints: ['Choose another folder with `--dir`, or make this one writable.'],
      cause: thrown,
    });
  }
  return openWorkspace(root, root);
}

/** Not with `recursive`: on a file system that takes no folders, such as /proc, Node then tries forever. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw thrown;
    makeFolder(dirname(path));
    mkdirSync(path);
  }
}

function openWorkspace(root: string, tree: string): Workspace {
  const folder = join(root, FOLDER);
  const file = join(folder, 'config.json');
  let config: WorkspaceConfig;
  try {
    config = parseConfig(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new Fault('corrupt', `The settings ${file} cannot be read: ${(thrown as Error).message}.`, {
      hints: ['It is a JSON object such as {"workspace": "w-1a2b3c4d"}. The journal beside it is untouched.'],
      cause: thrown,
    });
  }
  return { root, tree, folder, files: openOwnFiles(root, FOLDER, ownerIn(root)), id: config.workspace, config };
}

/** Root works for the owner of the folder, as in a container that has a user's repository mounted. */
function ownerIn(root: string): number | undefined {
  return process.geteuid?.() === 0 ? statSync(root).uid : undefined;
}

function parseConfig(text: string): WorkspaceConfig {
  const found = JSON.parse(text.replace(/^\ufeff/, '')) as Partial<WorkspaceConfig> | null;
  if (typeof found?.workspace !== 'string' || found.workspace === '') throw new Error('it does not name a workspace');
  if (found.store !== undefined && typeof found.store !== 'string') throw new Error('its store is not an address');
  if (found.notify !== undefined && (typeof found.notify !== 'string' || found.notify.trim() === ''))
    throw new Error('its notify is neither an address nor a command');
  return found as WorkspaceConfig;
}

/** The main checkout of a linked worktree: its `.git` is a file that names a folder below the main one's `.git`. */
function mainCheckout(folder: string): string | null {
  const file = join(folder, '.git');
  try {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return null;
    const gitFolder = resolve(
      folder,
      readFileSync(file, 'utf8')
        .replace(/^gitdir:\s*/, '')
        .trim(),
    );
    const common = resolve(gitFolder, readFileSync(join(gitFolder, 'commondir'), 'utf8').trim());
    return basename(common) === '.git' ? dirname(common) : null;
  } catch {
    return null;
  }
}
