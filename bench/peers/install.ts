import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Installs packages into a cache folder, once, and returns the folder. They are not dependencies: nothing in the project
 * needs them, some are large, and one is compiled.
 */
export function installPeer(packages: readonly string[], say: (sentence: string) => void): string {
  if (packages.length === 0) return '';
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'holdfast-bench', packages.join('+').replaceAll(/[^\w.+-]+/g, '_'));
  if (existsSync(join(folder, 'installed'))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  say(`Installing ${packages.join(', ')} into ${folder} …`);
  const ran = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (ran.status !== 0)
    throw new Error(`npm could not install it: ${(ran.stderr || String(ran.error)).trim().split('\n')[0]}`);
  writeFileSync(join(folder, 'installed'), '');
  return folder;
}
