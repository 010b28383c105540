import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientNames, installOf } from '../src/clients/index.ts';
import { type Launcher, type Place, projectStart, userStart } from '../src/clients/installation.ts';
import { newFolder } from './command-line.ts';

/** Names that a home folder may have. */
const homes = ['plain', 'with spaces', "o'brien", 'R&D', '100% me', 'Jürgen', 'Кириллица', '$HOME `x`', 'a(b)[c]{d};e'];
/** Windows allows no quotes in a name; `$` and the backtick mean something in PowerShell even between quotes. */
const windowsHomes = homes.filter((name) => !/[$`]/.test(name));
const hooked = clientNames.filter((name) => name !== 'opencode');

function placeFor(platform: string, home: string, separator: string): Place {
  const at = (...parts: string[]): string => [home, ...parts].join(separator);
  const launcher: Launcher = {
    path: at('state', platform === 'win32' ? 'holdfast-hook.cjs' : 'holdfast-hook.sh'),
    node: at('node'),
    program: at('holdfast.cjs'),
    machine: 'm-0123456789ab',
    state: at('state'),
    writer: at('writer.cjs'),
  };
  const start = userStart(launcher.node, launcher.program, platform, launcher);
  const rest = { environment: {}, packaged: () => '', exists: () => false };
  return { scope: 'user', root: home, home, platform, start, launcher, ...rest };
}

/** The lines that a client starts, by the name of the field they stand in. */
async function linesOf(name: (typeof clientNames)[number], place: Place): Promise<{ field: string; line: string }[]> {
  const text = JSON.stringify((await installOf(name)).files(place).flatMap(({ edits }) => edits));
  const found = [...text.matchAll(/"(command|commandWindows|bash|powershell)":("(?:[^"\\]|\\.)*")/g)];
  const own = found.map(([, field = '', line = '""']) => ({ field, line: JSON.parse(line) as string }));
  // A file that is ours as a whole is text inside the edit.
  const whole = [...text.matchAll(/\\"(command|bash|powershell)\\": ?\\"((?:[^"\\]|\\\\\\.|\\\\\\\\)*?)\\"/g)];
  const inner = whole.map(([, field = '', line = '']) => ({
    field,
    line: JSON.parse(JSON.parse(`"\\"${line}\\""`)) as string,
  }));
  return [...own, ...inner].filter(({ line }) => line.includes(` ${name} `));
}

describe.each(hooked)('the hook lines of %s', (name) => {
  it.each(homes)('run in dash and bash from a home called %s', async (home) => {
    const folder = newFolder();
    const place = placeFor('linux', join(folder.path, home), '/');
    const path = place.launcher?.path ?? '';
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'printf "%s|" "$@"\nexit 0\n');
    const lines = (await linesOf(name, place)).filter(({ field }) => field !== 'powershell');
    expect(lines.length).toBeGreaterThan(3);
    for (const [shell = '', ...options] of [['dash'], ['bash', '--norc']])
      for (const { line } of lines.slice(0, 2)) {
        const ran = spawnSync(shell, [...options, '-c', line], {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'] },
        });
        if (ran.error) continue;
        expect([line, ran.status, ran.stderr, ran.stdout]).toEqual([
          line,
          0,
          '',
          expect.stringMatching(new RegExp(`^${name}\\|\\w+\\|$`)),
        ]);
      }
  });

  it.each(windowsHomes)('are read alike by cmd and PowerShell in a home called %s', async (home) => {
    const place = placeFor('win32', `C:\\Users\\${home}`, '\\');
    const lines = (await linesOf(name, place)).filter(({ field }) => field !== 'bash');
    expect(lines.length).toBeGreaterThan(3);
    for (const { field, line } of lines) {
      const bare = field === 'powershell' ? line.replace(/; exit 0$/, '') : line;
      // A quoted first word is printed by PowerShell, not run; `||` is unknown to version 5.
      expect(bare).toMatch(/^node "[^"`$]+" \w+ \w+$/);
      expect(bare).not.toMatch(/\|\||\$\(|exit \/b/);
      const words = [...bare.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
      expect(words).toEqual(['node', place.launcher?.path, name, expect.stringMatching(/^\w+$/)]);
    }
  });

  it('of a project hold no path of a machine', async () => {
    const place: Place = {
      ...placeFor('linux', '/home/ada', '/'),
      scope: 'project',
      root: '/p',
      start: projectStart,
      launcher: null,
    };
    const lines = await linesOf(name, place);
    expect(lines.length).toBeGreaterThan(3);
    for (const { field, line } of lines) {
      expect(line).toMatch(/^holdfast-hook \w+ \w+( \|\| true|; exit 0)?$/);
      if (field === 'commandWindows') expect(line).not.toContain('||');
      // A teammate without Holdfast: a shell that knows `||` ends with 0, and no other ends with 2, which blocks.
      const ran = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8', env: { PATH: '/nonexistent' } });
      if (field !== 'commandWindows') expect(ran.status).toBe(/\|\||; exit 0/.test(line) ? 0 : 127);
    }
  });
});
