import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const addon = join(
  '@photostructure/sqlite/prebuilds',
  `${process.platform}-${process.arch}`,
  '@photostructure+sqlite.glibc.node',
);
let program = '';
beforeAll(async () => {
  const { rolldown } = await import('rolldown');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-addon-'));
  folders.push(folder);
  program = join(folder, 'program.mjs');
  const bundle = await rolldown({ input: 'src/store/sqlite/addon.ts', platform: 'node' });
  await bundle.write({ file: program, format: 'esm' });
});

/** A package with only the loader in it, installed at a path, and what it says when it loads the addon. */
function load(place: string, put: (folder: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-addon-'));
  folders.push(folder);
  const home = join(folder, place);
  mkdirSync(join(home, 'dist'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"name":"holdfast","type":"module"}');
  copyFileSync(program, join(home, 'dist/program.mjs'));
  put(folder);
  const script = `const { loadAddon } = await import('./dist/program.mjs');
    try { console.log('loaded ' + typeof loadAddon().DatabaseSync); } catch (fault) { console.log(fault.code, fault.message, fault.hints.join(' ')); }`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: home, encoding: 'utf8' });
  return ran.stdout + ran.stderr;
}

const install = (folder: string, modules: string) =>
  cpSync('node_modules/@photostructure', join(folder, modules, '@photostructure'), { recursive: true });

describe('the SQLite addon', () => {
  it('is found in the node_modules of the package and beside the package where npm hoists', () => {
    expect(load('holdfast', (folder) => install(folder, 'holdfast/node_modules'))).toBe('loaded function\n');
    expect(load('node_modules/holdfast', (folder) => install(folder, 'node_modules'))).toBe('loaded function\n');
  });

  it('is looked for nowhere else', () => {
    const said = load('project/vendor/holdfast', (folder) => {
      install(folder, 'node_modules');
      install(folder, 'project/node_modules');
      install(folder, 'project/vendor/node_modules');
    });
    expect(said).toMatch(/^unavailable .*not installed.*Node\.js 22\.22\.3.*--include=optional/);
  });

  it('is not loaded if a byte of it is not as it was when this was built', () => {
    const said = load('holdfast', (folder) => {
      install(folder, 'holdfast/node_modules');
      const file = join(folder, 'holdfast/node_modules', addon);
      const bytes = readFileSync(file);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      writeFileSync(file, bytes);
    });
    expect(said).toMatch(/^unavailable .*is not the SQLite that this Holdfast was built with/);
  });
});
