import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Some clients need a newer Node than the oldest this project supports. */
const NODE = '22.23.3';

/** Outside the project, and kept for the next time. */
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'holdfast-test', 'agents');

/** The Node that runs the clients. */
export function bringNode(): string {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const folder = bring('node', name, NODE, process.execPath);
  return join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** The folder of an npm package, which is installed if it is missing. */
export function bring(as: string, name: string, version: string, node: string, finish?: string): string {
  const folder = join(cache, `${as}-${version}`);
  const mark = join(folder, 'complete');
  if (existsSync(mark)) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--engine-strict=false',
    `${name}@${version}`,
  ];
  run('npm', words, folder);
  if (finish) run(node, [join(folder, 'node_modules', name, finish)], join(folder, 'node_modules', name));
  writeFileSync(mark, '');
  return folder;
}

export const pathOfCommand = (folder: string, command: string): string => join(folder, 'node_modules/.bin', command);

const LIMIT_MS = 600_000;

function run(command: string, words: string[], cwd: string): void {
  const shell = process.platform === 'win32' && command === 'npm';
  const ran = spawnSync(command, words, { cwd, encoding: 'utf8', shell, timeout: LIMIT_MS });
  if (ran.status === 0) return;
  const last = `${ran.stdout ?? ''}\n${ran.stderr ?? ''}`.trim().split('\n').at(-1) ?? '';
  throw new Error(`${command} ${words[0]} failed: ${ran.error?.message ?? last}`);
}
