import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from './command-line.ts';
import { runAtTerminal } from './terminal.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
let prefix = '';
/** The package as npm would install it. */
let unpacked = '';

beforeAll(() => {
  prefix = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  const pack = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', prefix], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(pack.status).toBe(0);
  const [tarball = ''] = readdirSync(prefix);
  unpacked = join(prefix, 'lib/node_modules/holdfast');
  mkdirSync(unpacked, { recursive: true });
  const tar = spawnSync('tar', ['-xzf', join(prefix, tarball), '-C', unpacked, '--strip-components=1']);
  expect(tar.status).toBe(0);
  // What npm would download beside it; the test needs no network.
  symlinkSync(join(root, 'node_modules'), join(unpacked, 'node_modules'));
  mkdirSync(join(prefix, 'bin'));
  const { bin } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  for (const [name, path] of Object.entries(bin)) symlinkSync(join(unpacked, path), join(prefix, 'bin', name));
}, 120_000);

afterAll(() => rmSync(prefix, { recursive: true, force: true }));

describe('the packed package', () => {
  it('has every file that its README and docs link to', () => {
    const pages = ['README.md', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].concat(
      readdirSync(join(unpacked, 'docs'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => join('docs', name)),
    );
    expect(pages.length).toBeGreaterThan(30);
    for (const page of pages)
      for (const [, link = ''] of readFileSync(join(unpacked, page), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)/g)) {
        const target = normalize(join(dirname(page), link));
        expect([page, link, existsSync(join(unpacked, target))]).toEqual([page, link, true]);
      }
  });

  it('does what the README says, line by line', { timeout: 120_000 }, () => {
    const folder = newFolder();
    writeFileSync(join(folder.path, 'plan.md'), '# User login\n## Tokens\n- [x] Table\n- [ ] Rotate tokens\n');
    const env = { ...folder.env, PATH: `${join(prefix, 'bin')}:${folder.env['PATH']}` };
    const blocks = [...readFileSync(join(unpacked, 'README.md'), 'utf8').matchAll(/```console\n([\s\S]*?)```/g)];
    const lines = [
      ...blocks
        .map(([, block]) => block)
        .join('')
        .matchAll(/^\$ (holdfast\b[^#\n]*)/gm),
    ]
      .map(([, line = '']) => line.trim())
      // A server stays; it has tests of its own.
      .filter((line) => !line.startsWith('holdfast serve'));
    expect(lines.length).toBeGreaterThan(9);
    // What can be seen is seen after there is something to see.
    const looks = lines.filter((line) => /^holdfast( log| resume| runs)?$/.test(line));
    const acts = lines.filter((line) => !looks.includes(line));
    for (const line of ['holdfast demo --fast', ...acts, ...looks, 'holdfast doctor', 'holdfast uninstall claude']) {
      const ran = runAtTerminal(['/bin/sh', '-c', line], { cwd: folder.path, env });
      expect([line, ran.code, ran.code === 0 ? '' : ran.err + ran.out]).toEqual([line, 0, '']);
    }
  });

  it('starts hooks by the command that project settings name', () => {
    const folder = newFolder();
    const env = { ...folder.env, PATH: `${join(prefix, 'bin')}:${folder.env['PATH']}` };
    const prompt = { session_id: 'c1', cwd: folder.path, hook_event_name: 'UserPromptSubmit', prompt: 'Fix the login' };
    const hook = spawnSync('holdfast-hook', ['claude', 'UserPromptSubmit'], {
      cwd: folder.path,
      env,
      input: JSON.stringify(prompt),
      encoding: 'utf8',
    });
    expect([hook.status, hook.stderr]).toEqual([0, '']);
    expect(folder.run('log').out).toContain('you asked "Fix the login"');
  });
});
