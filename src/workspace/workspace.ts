import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { Fault } from '../core/fault.ts';
import { sha256 } from '../core/sha256.ts';
import { type Clone, cloneState, makeClone, readClone, saveClone } from './clone.ts';
import { type DataPlace, type FindOptions, findDataPlace } from './data-folder.ts';
import { machineId, newId } from './machine.ts';
import { type OwnFiles, temporaryName } from './own-files.ts';
import { type Proposals, readProposals } from './proposals.ts';
import { rootCommit } from './run-git.ts';
import { noStateFolder, thisUser } from './state-folder.ts';
import { readTrust, stateOfTrust, type Trust, type TrustState } from './trust.ts';
import { readSettings, saveSettings, type WorkspaceConfig } from './workspace-settings.ts';

/** A folder whose work is recorded: a git clone with all its working trees, or a folder without git. */
export interface Workspace {
  /** The main working tree. */
  root: string;
  /** The working tree in use. */
  tree: string;
  /** The data folder. */
  folder: string;
  /** The files in it. */
  files: OwnFiles;
  /** False in a sandbox that protects `.git`, and on read-only disks: then only reading works. */
  canWrite: boolean;
  /** The user's state folder; null when there is none that can be believed. */
  state: OwnFiles | null;
  clone: Clone;
  /** What the working tree proposes in `holdfast.json`, and whether that is in force. */
  proposals: Proposals | null;
  trust: Trust | null;
  trustState: TrustState;
  /** Given to new runs. */
  id: string;
  /** What its runs are found by: also ids that it had before. */
  ids: readonly string[];
  /** What is in force: the user's own settings, and those that were agreed to. */
  config: WorkspaceConfig;
  /** The user's own settings. */
  ownConfig: WorkspaceConfig;
}

/** The workspace of a folder; null when nothing was ever recorded there. */
export function findWorkspace(from: string): Workspace | null {
  const place = findDataPlace(from);
  return place && openWorkspace(place);
}

/** Makes the folder a workspace, or opens the one it is in. */
export function createWorkspace(from: string, options: Omit<FindOptions, 'make'> = {}): Workspace {
  makeFolder(from);
  const place = findDataPlace(from, { ...options, make: true });
  if (place === null) throw new Fault('not_found', `There is no folder ${from}.`);
  try {
    if (readClone(place.files) === null) {
      mustBeOurs(place);
      makeClone(place.files, workspaceIdOf(place) ?? newId('wp'), machineId(place.state), place.key);
      place.files.createOnce('journal.db', '');
    }
  } catch (thrown) {
    throw thrown instanceof Fault ? thrown : notWritable(place, thrown);
  }
  const workspace = openWorkspace(place) as Workspace;
  settleId(workspace, place);
  return workspace;
}

function openWorkspace(place: DataPlace): Workspace | null {
  const { root, tree, files, state, key } = place;
  const known = readClone(files);
  if (known === null) return null;
  if (known === 'damaged') throw damagedClone(files);
  const clone = settleClone(place, known);
  const { workspace, aliases } = clone;
  const proposals = readProposals(tree);
  const trust = readTrust(state, clone.clone, key);
  const agreed = { proposals, trust, trustState: stateOfTrust(proposals, trust) };
  const ownConfig = state === null ? {} : readSettings(state, clone.clone, key);
  const config = inForce(ownConfig, agreed);
  return {
    root,
    tree,
    folder: files.root,
    files,
    canWrite: mayWrite(files.root),
    state,
    clone,
    ...agreed,
    id: workspace,
    ids: [workspace, ...aliases],
    config,
    ownConfig,
  };
}

function inForce(
  own: WorkspaceConfig,
  { trust, trustState }: Pick<Workspace, 'trust' | 'trustState'>,
): WorkspaceConfig {
  return trustState === 'trusted' && trust ? withProposed(own, trust.settings) : own;
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The user's own settings win; what is left out of the record adds up. */
function withProposed(own: WorkspaceConfig, proposed: WorkspaceConfig): WorkspaceConfig {
  const both = (name: 'ignorePaths' | 'ignoreCommands'): string[] => [
    ...new Set([...(own.capture?.[name] ?? []), ...(proposed.capture?.[name] ?? [])]),
  ];
  const capture = { ...own.capture, ignorePaths: both('ignorePaths'), ignoreCommands: both('ignoreCommands') };
  return { ...proposed, ...own, ...(proposed.capture ? { capture } : {}) };
}

/** Writes down where the clone is now. A copy gets ids of its own before it records anything. */
function settleClone({ files, key, state }: DataPlace, known: Clone): Clone {
  const isHere = known.places.some(({ path, inode }) => path === key.path && inode === key.inode);
  if (isHere && known.places.length === 1) return known;
  const machine = machineId(state);
  const found = cloneState(known, key, machine);
  if (found === 'same') return known;
  const at = new Date().toISOString();
  const settled: Clone =
    found === 'moved'
      ? { ...known, machine, places: [...known.places.filter(({ path }) => path !== key.path), key] }
      : {
          ...{ ...known, machine, clone: newId('c'), store: newId('s'), places: [key] },
          origin: { clone: known.clone, store: known.store, at },
        };
  try {
    saveClone(files, settled);
  } catch {
    // Where nothing can be written, nothing can be recorded either: reading goes on.
  }
  return settled;
}

/** Runs that have the provisional id are still found. */
function settleId(workspace: Workspace, place: DataPlace): void {
  const { clone, files } = workspace;
  if (!clone.workspace.startsWith('wp-')) return;
  const id = workspaceIdOf(place);
  if (id === null) return;
  clone.aliases = [clone.workspace, ...clone.aliases];
  clone.workspace = id;
  saveClone(files, clone);
  Object.assign(workspace, { id, ids: [id, ...clone.aliases] });
}

/** From the root commit, so that all clones of a repository have the same. */
function workspaceIdOf({ repository }: DataPlace): string | null {
  const root = repository && rootCommit(repository);
  return root === null ? null : `w-${sha256(root).slice(0, 12)}`;
}

/** Not with `recursive`: on a file system that takes no folders, such as /proc, Node then tries forever. */
function makeFolder(path: string): void {
  try {
    if (!existsSync(path)) makeFolder(dirname(path));
    if (!existsSync(path)) mkdirSync(path);
  } catch (thrown) {
    if (existsSync(path)) return;
    throw thrown instanceof Fault
      ? thrown
      : new Fault('unavailable', `The folder ${path} cannot be made: ${(thrown as Error).message}.`, {
          hints: ['Choose another folder with `--dir`.'],
          cause: thrown,
        });
  }
}

type ConfigChange = { [Name in keyof WorkspaceConfig]?: WorkspaceConfig[Name] | undefined };

/** Changes the user's own settings for this workspace on this machine; undefined takes one away. */
export function saveConfig(workspace: Workspace, change: ConfigChange): void {
  const { state, clone } = workspace;
  const place = clone.places.at(-1);
  if (state === null || place === undefined) throw noStateFolder(thisUser());
  const kept = Object.entries({ ...workspace.ownConfig, ...change }).filter(([, value]) => value !== undefined);
  workspace.ownConfig = Object.fromEntries(kept) as WorkspaceConfig;
  workspace.config = inForce(workspace.ownConfig, workspace);
  saveSettings(state, clone.clone, place, workspace.ownConfig);
}

/** How a file of the data folder is named in answers: relative to the main working tree where it lies inside that. */
export function shownPath({ root }: Pick<Workspace, 'root'>, file: string): string {
  const inside = relative(root, file);
  return inside.startsWith('..') || inside === '' ? file : inside.split(sep).join('/');
}

/** The answer to a command that needs a workspace. */
export function noWorkspace(hints: readonly string[] = [], data: Record<string, unknown> = {}): Fault {
  return new Fault('not_found', 'Nothing is recorded here: this folder is not a workspace yet.', {
    hints: [...hints, 'Make it one with `holdfast init --title …`, or point to another with `--dir`.'],
    data,
  });
}

/** Git keeps the git folder of a submodule named `holdfast` at the same path. */
function mustBeOurs({ files }: DataPlace): void {
  const names = files.list('', 1000);
  if (names.includes('journal.db') || names.every((name) => temporaryName.test(name))) return;
  throw new Fault('unavailable', `${files.root} holds files that are not Holdfast's, so nothing is written there.`, {
    hints: ['`holdfast init --outside` keeps the data of this clone in your state folder instead.'],
    data: { path: files.root },
  });
}

function damagedClone(files: OwnFiles): Fault {
  const file = join(files.root, 'clone.json');
  return new Fault('corrupt', `${file} cannot be read as the ids of this clone.`, {
    hints: ['Move it away: the next command makes new ones. The journal beside it is untouched.'],
    data: { file },
  });
}

function notWritable({ files }: DataPlace, thrown: unknown): Fault {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return readOnly(files.root, thrown);
  return new Fault('unavailable', `The data folder ${files.root} cannot be made: ${message}.`, {
    hints: ['`holdfast init --outside` keeps the data in your state folder, or choose another folder with `--dir`.'],
    data: { path: files.root },
    cause: thrown,
  });
}

/** For a shell in a sandbox that protects `.git`, and for read-only mounts. */
export function readOnly(path: string, cause?: unknown): Fault {
  return new Fault('read_only', `This shell may not write ${path}.`, {
    hints: [
      "Use Holdfast's MCP tools, which run outside the sandbox, or allow writing to this folder in the client's sandbox settings.",
      'On a read-only disk: `holdfast init --outside` keeps the data in your state folder.',
    ],
    data: { path },
    cause,
  });
}
