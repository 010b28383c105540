import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { findDataPlace } from '../../../src/workspace/data-folder.ts';
import type { Random } from '../faults/random.ts';
import type { Ground } from './ground.ts';

const REPOSITORIES = ['a', 'b', 'c'];

/** Random pointers between three repositories. Both launchers and Node name the same data folder, or one of them none. */
export function pointerCase({ top }: Ground, random: Random): string[] {
  const root = join(top, 'pointers');
  rmSync(root, { recursive: true, force: true });
  for (const name of REPOSITORIES) makeGitFolder(join(root, name, '.git'), null);
  const gitFolders = REPOSITORIES.flatMap((name) => {
    const git = join(root, name, '.git');
    return [git, ...['worktrees/w', 'modules/m', 'worktrees/w/modules/m'].map((path) => join(git, path))];
  }).concat(join(root, 'separate'), join(root, 'a/embedded.git'));
  const folders = ['w', 'm', 'b/m', 'a/sub/w', 'c/w'].map((path) => join(root, path));
  for (const git of gitFolders.slice(3)) if (random.chance(0.6)) makeGitFolder(git, random);
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const entries = [...folders, ...REPOSITORIES.map((name) => join(root, name))].map((folder) => join(folder, '.git'));
  for (const git of gitFolders) {
    const point = (to: string): string => random.pick([to, relative(git, to), `${to}\n`, `${relative(git, to)}\n`]);
    const put = (name: string, text: string): void => tryWrite(join(git, name), text);
    if (random.chance(0.5)) put('gitdir', point(random.pick(entries)));
    if (random.chance(git.includes('worktrees') ? 0.7 : 0.1))
      put('commondir', random.chance(0.6) ? '../..\n' : point(random.pick(gitFolders)));
    if (random.chance(0.4)) put('config', `[core]\n\tworktree = ${point(dirname(random.pick(entries))).trim()}\n`);
  }
  for (const folder of folders) {
    const to = random.pick(gitFolders);
    if (random.chance(0.9)) tryWrite(join(folder, '.git'), `gitdir: ${random.pick([to, relative(folder, to)])}\n`);
  }
  return random.sample(folders, 2).flatMap((folder) => judge(root, folder, top));
}

function makeGitFolder(path: string, random: Random | null): void {
  mkdirSync(join(path, 'holdfast/inbox'), { recursive: true, mode: 0o700 });
  mkdirSync(join(path, 'objects'), { recursive: true });
  if (random === null || random.chance(0.9)) writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/main\n');
}

function tryWrite(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch {
    // A folder has that name: the pointer is left out.
  }
}

function judge(root: string, folder: string, top: string): string[] {
  const said = nodeSays(folder);
  const findings: string[] = [];
  let about = `${relative(root, folder)}: Node ${said && relative(root, said)}`;
  for (const launch of [launchShell, launchNode]) {
    launch(folder, top);
    const written = takeWritten(root);
    about += `, ${launch.name} ${written.map((one) => relative(root, one))}`;
    if (written.some((one) => one !== said)) findings.push(`different folders, ${about}`);
  }
  if (said !== null && !pointsBack(folder, said)) findings.push(`no way back, ${about}`);
  return findings;
}

function nodeSays(folder: string): string | null {
  try {
    return findDataPlace(folder)?.files.root ?? null;
  } catch {
    return null;
  }
}

function launchShell(folder: string, top: string): void {
  const script = join(top, 'hook.sh');
  const names: Readonly<Record<string, string>> = { NODE: '/none', PROGRAM: '/none', MACHINE, PLACES: '/none' };
  const text = readFileSync('launcher/hook.sh', 'utf8').replace(
    /@([A-Z]+)@/g,
    (_, name) => names[name as string] ?? '',
  );
  writeFileSync(script, text);
  spawnSync('/bin/sh', [script, 'claude', 'PostToolUse'], { cwd: folder, input: '{}' });
}

const MACHINE = 'm-000000000000';

function launchNode(folder: string): void {
  const { writeReport } = createRequire(import.meta.url)(resolve('launcher/inbox-writer.cjs')) as {
    writeReport(report: object): unknown;
  };
  const about = { client: 'claude', event: 'PostToolUse', dir: folder, input: '{}' };
  writeReport({ ...about, environment: {}, machine: MACHINE, state: '/none' });
}

/** The data folders in whose inbox a report was put. */
function takeWritten(root: string): string[] {
  const reports = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.in'));
  for (const path of reports) rmSync(join(root, path));
  return reports.map((path) => dirname(dirname(join(root, path))));
}

/** By other means than the code under test: the one who is pointed to names the folder that points. */
function pointsBack(folder: string, data: string): boolean {
  const common = dirname(data);
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    const entry = join(at, '.git');
    if (common === entry) return true;
    const pointer = /^gitdir: (.+)$/m.exec(read(entry))?.[1];
    if (pointer === undefined) continue;
    const git = resolve(at, pointer);
    const back = read(join(git, 'gitdir')).trim();
    if (back !== '' && real(resolve(git, back)) === entry && dirname(dirname(git)) === common) return true;
    const worktree = /worktree = (.+)/.exec(read(join(git, 'config')))?.[1];
    if (worktree !== undefined && git === common && real(resolve(git, worktree)) === at) return true;
    return git === common && ['separate', 'embedded.git'].includes(basename(git));
  }
  return false;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
