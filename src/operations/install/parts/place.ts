import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import {
  type ClientInstall,
  LAUNCHER,
  type Place,
  projectStart,
  userStart,
  type WantedFile,
} from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { isFile, mustReadText, pathExists } from '../../../workspace/read.ts';
import { mainTree, repositoryAt } from '../../../workspace/repository.ts';
import type { Context } from '../../context.ts';

export type PlaceScope = Place['scope'];

/** Finds where to install and the program that runs. Creates nothing. */
export function findPlace(context: Context, scope: PlaceScope): Place & { program: string } {
  const environment = context.environment ?? {};
  const { platform } = process;
  const home = (platform === 'win32' ? environment['USERPROFILE'] : environment['HOME']) || homedir();
  const packageFolder = findPackage();
  const program = join(packageFolder, 'dist/bin/holdfast.cjs');
  return {
    scope,
    root: scope === 'user' ? home : projectFolder(context),
    home,
    environment,
    platform,
    program,
    start: scope === 'user' ? userStart(process.execPath, program, platform) : projectStart(),
    packaged: (path) => mustReadText(join(packageFolder, path)),
    exists: pathExists,
  };
}

/** Creates the workspace if there is none: in a folder without git, hooks record only where there is one. */
export function ensureWorkspace(context: Context, { scope }: Place): void {
  if (scope === 'user' || context.workspace()) return;
  const repository = repositoryAt(context.dir);
  context.createWorkspace(repository ? mainTree(repository) : undefined);
}

/** The folder of the manifest and its backups. */
export function manifestFolder({ scope, root, home, environment, platform }: Place): string {
  if (scope === 'project') return join(root, '.holdfast');
  const own = platform === 'win32' ? environment['APPDATA'] : environment['XDG_CONFIG_HOME'];
  return join(own || join(home, platform === 'win32' ? 'AppData/Roaming' : '.config'), 'holdfast');
}

/** What every client in a project needs: the launcher and, for this machine only, the path of the program. */
export function launcherFiles({ scope, root, packaged, program }: ReturnType<typeof findPlace>): WantedFile[] {
  if (scope === 'user') return [];
  return [
    {
      path: join(root, LAUNCHER),
      holds: 'launcher',
      edits: [{ kind: 'whole', text: packaged('plugins/launcher.cjs') }],
    },
    {
      path: join(root, '.holdfast/program.local'),
      holds: 'path of the program',
      edits: [{ kind: 'whole', text: `${program}\n` }],
    },
  ];
}

/** Whether a client is used here: its command is on the search path, or its settings folder exists. */
export function isFound({ commands, folders }: ClientInstall, { home, root, environment, platform }: Place): boolean {
  if (folders.some((name) => pathExists(join(home, name)) || pathExists(join(root, name)))) return true;
  const endings = platform === 'win32' ? ['.cmd', '.exe', '.bat', ''] : [''];
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
