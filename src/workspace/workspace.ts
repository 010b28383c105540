import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { Fault } from '../core/fault.ts';
import { sha256 } from '../core/sha256.ts';
import { type Clone, type ClonePlace, cloneState, makeClone, readClone, saveClone } from './clone.ts';
import { type DataPlace, type FindOptions, findDataPlace } from './data-folder.ts';
import { rootCommit } from './git/run.ts';
import { temporaryName } from './guarded/folder.ts';
import type { OwnFiles } from './own-files.ts';
import { noStateFolder, thisUser } from './state/folder.ts';
import { machineId, newId } from './state/machine.ts';
import { type Proposals, readProposals } from './state/proposals.ts';
import { readTrust, stateOfTrust, type Trust, type TrustState } from './state/trust.ts';
import { readSettings, saveSettings, type WorkspaceConfig } from './state/workspace-settings.ts';

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
  /** Where it really is. Records of the state folder are bound to this, since anyone who can write the data folder can claim an id. */
  place: ClonePlace;
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
  const workspace = openWorkspace(place);
  if (workspace === null) throw notWritable(place, new Error('it is gone again'));
  settleId(workspace, place);
  return workspace;
}

function openWorkspace(place: DataPlace): Workspace | null {
  const { root, tree, files, state, key } = place;
  const known = readClone(files);
  if (known === null) return null;
  if (known === 'damaged') throw damagedClone(files);
  mustBeTreeOf(place, known);
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
    place: key,
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

/** A separate git folder does not lead back to its working tree, so its data names the one it belongs to. */
function mustBeTreeOf({ repository, files }: DataPlace, { tree }: Clone): void {
  if (!repository?.isSeparate || tree === undefined || tree === repository.root) return;
  throw new Fault('untrusted', `${files.root} belongs to the working tree ${tree}, not to ${repository.root}.`, {
    hints: [
      `If the tree was moved, change \`tree\` in ${join(files.root, 'clone.json')}; else \`${repository.entry}\` leads to a repository of another folder.`,
    ],
    data: { path: repository.entry },
  });
}

/** Writes down where the clone is now. A copy gets ids of its own before it records anything. */
function settleClone({ files, key, state, repository }: DataPlace, found: Clone): Clone {
  const known = repository?.isSeparate && found.tree === undefined ? { ...found, tree: repository.root } : found;
  if (known !== found) trySave(files, known);
  const isHere = known.places.some(({ path, inode }) => path === key.path && inode === key.inode);
  if (isHere && known.places.length === 1) return known;
  const machine = machineId(state);
  const now = cloneState(known, key, machine);
  if (now === 'same') return known;
  const at = new Date().toISOString();
  const settled: Clone =
    now === 'moved'
      ? { ...known, machine, places: [...known.places.filter(({ path }) => path !== key.path), key] }
      : {
          ...{ ...known, machine, clone: newId('c'), places: [key] },
          origin: { clone: known.clone, at, isSettled: false },
        };
  trySave(files, settled);
  return settled;
}

function trySave(files: OwnFiles, clone: Clone): void {
  try {
    saveClone(files, clone);
  } catch {
    // Where nothing can be written, nothing can be recorded either; reading works.
  }
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
  const { state, clone, place } = workspace;
  if (state === null) throw noStateFolder(thisUser());
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
  return new Fault('not_found', 'Nothing is recorded here yet.', {
    hints: [
      ...hints,
      'Record what an agent does in your repositories: `holdfast install claude`, or another client',
      'Start by hand in this folder: `holdfast init --title "What you are doing"`; `--dir` names another one.',
    ],
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
  const { message } = thrown as Error;
  return new Fault('unavailable', `The data folder ${files.root} cannot be made: ${message}.`, {
    hints: ['`holdfast init --outside` keeps the data in your state folder, or choose another folder with `--dir`.'],
    data: { path: files.root },
    cause: thrown,
  });
}
