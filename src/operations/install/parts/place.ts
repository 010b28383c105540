import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { type ClientName, installOf } from '../../../clients/index.ts';
import {
  type ClientInstall,
  launcherFiles,
  type Place,
  projectStart,
  userStart,
  type WantedFile,
} from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { mainTree, repositoryAt } from '../../../workspace/git/repository.ts';
import { homeFolder } from '../../../workspace/platform/places.ts';
import { platform, programEndings } from '../../../workspace/platform/system.ts';
import { isFile, mustReadText, pathExists } from '../../../workspace/read.ts';
import { noStateFolder, openStateFolder, thisUser } from '../../../workspace/state/folder.ts';
import { machineId } from '../../../workspace/state/machine.ts';
import type { Context } from '../../context.ts';

export type PlaceScope = Place['scope'];

/** Finds where to install and the program that runs. Makes nothing but the id of this machine. */
export function findPlace(context: Context, scope: PlaceScope): Place & { program: string } {
  const environment = context.environment ?? {};
  const home = homeFolder(environment);
  const packageFolder = findPackage();
  const program = join(packageFolder, 'dist/bin/holdfast.cjs');
  const launcher = scope === 'user' ? findLauncher(program) : null;
  return {
    scope,
    root: scope === 'user' ? home : projectFolder(context),
    home,
    environment,
    platform,
    program,
    start: scope === 'user' ? userStart(process.execPath, program, platform, launcher) : projectStart,
    launcher,
    packaged: (path) => mustReadText(join(packageFolder, path)),
    exists: pathExists,
  };
}

/** In the state folder, where nothing that came with a repository can be. */
function findLauncher(program: string): Place['launcher'] {
  const state = openStateFolder(thisUser());
  const machine = machineId(state);
  if (state === null || machine === null) return null;
  return {
    path: join(state.root, platform === 'win32' ? 'holdfast-hook.cjs' : 'holdfast-hook.sh'),
    node: process.execPath,
    program,
    machine,
    state: state.root,
    writer: join(dirname(program), '../../launcher/inbox-writer.cjs'),
  };
}

/** What a client needs: the launcher first, which its settings call. */
export async function filesFor(name: ClientName, place: Place): Promise<WantedFile[]> {
  return [...launcherFiles(place), ...(await installOf(name)).files(place)];
}

/** Creates the workspace if there is none: in a folder without git, hooks record only where there is one. */
export function ensureWorkspace(context: Context, { scope }: Place): void {
  if (scope === 'user' || context.workspace()) return;
  const repository = repositoryAt(context.dir);
  context.createWorkspace(repository ? mainTree(repository) : undefined);
}

/** The folder of the manifest and its backups: in the state folder, where nothing that came with a repository can be. */
export function manifestFolder(context: Context, { scope }: Pick<Place, 'scope'>, make = false): string {
  const workspace = context.workspace();
  const state = workspace?.state ?? openStateFolder(thisUser());
  if (state === null) throw noStateFolder(thisUser());
  const path = `installed/${scope === 'user' ? 'user' : (workspace?.clone.clone ?? 'none')}`;
  return make ? state.folder(path) : join(state.root, path);
}

/** Whether a client is used here: its command is on the search path, or its settings folder exists. */
export function isFound(
  { commands, folders }: ClientInstall,
  { home, root, environment, platform: on }: Place,
): boolean {
  if (folders.some((name) => pathExists(join(home, name)) || pathExists(join(root, name)))) return true;
  const endings = programEndings(on);
  const path = environment['PATH'] ?? environment['Path'] ?? '';
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .some((folder) => commands.some((name) => endings.some((ending) => isFile(join(folder, name + ending)))));
}

/** npx may remove what it has fetched. */
export const isTemporary = (program: string): boolean => /[\\/]_npx[\\/]/.test(program);

function projectFolder(context: Context): string {
  return context.workspace()?.tree ?? repositoryAt(context.dir)?.root ?? context.dir;
}

function findPackage(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (pathExists(join(folder, 'plugins/launcher.cjs')) && pathExists(join(folder, 'package.json'))) return folder;
    if (dirname(folder) !== folder) continue;
    throw new Fault('unavailable', 'The files that come with Holdfast are not beside the program.', {
      hints: ['Install it again with `npm install -g holdfast`.'],
    });
  }
}
