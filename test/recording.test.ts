import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newPlainWorkspace, newWorkspace } from './command-line.ts';
import { input, launch } from './installed-hooks.ts';

/** The hooks of Claude, set up for the user and run as the client runs them. */
function installedHooks(folder: Folder): (event: string, more: object) => string {
  folder.data('install', 'claude');
  return (event, more) => launch(folder, event, input(folder, event, more));
}

describe('recording', () => {
  it('is set up for all projects of a user by default, and in one project on request', () => {
    const folder = newFolder();
    const installed = folder.data('install', 'claude');
    expect(installed).toMatchObject({ scope: 'user', clients: ['claude'] });
    expect(existsSync(join(folder.env['HOME'] ?? '', '.claude/settings.json'))).toBe(true);
    expect(existsSync(join(folder.path, '.claude'))).toBe(false);
    expect(folder.data('install', 'claude', '--project')).toMatchObject({ scope: 'project' });
    expect(existsSync(join(folder.path, '.claude/settings.json'))).toBe(true);
    folder.data('uninstall', 'claude');
    expect(folder.run('uninstall', 'claude').out).toContain('holdfast uninstall claude --project');
  });

  it('is switched off in a repository where nothing was recorded yet', () => {
    const folder = newFolder();
    const hooks = installedHooks(folder);
    expect(folder.person.run('capture', 'off')).toMatchObject({ code: 0 });
    hooks('SessionStart', { source: 'startup' });
    hooks('UserPromptSubmit', { prompt: 'Fix the login' });
    expect(folder.data('runs', '--all')['runs']).toEqual([]);
    folder.person.data('capture', 'on');
    hooks('UserPromptSubmit', { prompt: 'Fix the logout' });
    expect(folder.data('runs', '--all')['runs']).toHaveLength(1);
  });

  it('is switched off everywhere, for the launcher and for the program, and on again', () => {
    const folder = newFolder();
    const hooks = installedHooks(folder);
    hooks('SessionStart', { source: 'startup' });
    hooks('UserPromptSubmit', { prompt: 'Fix the login' });
    const before = folder.data('log')['version'];
    folder.person.data('capture', 'off', '--everywhere');
    hooks('PostToolUse', { tool_name: 'Read', tool_use_id: 't1', tool_input: { file_path: 'a.ts' } });
    expect(existsSync(folder.own('inbox'))).toBe(true);
    hooks('UserPromptSubmit', { prompt: 'And the logout' });
    expect(folder.data('log')['version']).toBe(before);
    expect(folder.run('capture').out).toContain('Recording is off in all your folders');
    expect(folder.run('doctor').out).toContain('holdfast capture on --everywhere');
    folder.person.data('capture', 'on', '--everywhere');
    hooks('UserPromptSubmit', { prompt: 'And the sign-up' });
    expect(folder.data('log')['version']).toBeGreaterThan(before);
  });

  it('lists the folders where it is on or off', () => {
    const one = newWorkspace();
    const other = newFolder();
    const plain = newPlainWorkspace();
    for (const folder of [other, plain]) folder.env['HOLDFAST_STATE_HOME'] = one.env['HOLDFAST_STATE_HOME'] ?? '';
    plain.data('init', '--title', 'Notes');
    one.data('note', 'x');
    other.person.data('capture', 'off');
    expect(one.data('capture', '--list')['folders']).toEqual(
      expect.arrayContaining([
        { path: one.path, state: 'on', usedAt: expect.any(String) },
        { path: plain.path, state: 'on', usedAt: expect.any(String) },
        { path: other.path, state: 'off', usedAt: null },
      ]),
    );
    expect(one.run('capture', '--list').out).toMatch(new RegExp(`off {2}${other.path} {2}nothing recorded`));
  });
});

describe('doctor', () => {
  it('says in a folder without a record whether a client is set up', () => {
    const folder = newFolder();
    expect(folder.run('doctor')).toMatchObject({ code: 0, out: expect.stringContaining('holdfast install claude') });
    folder.data('install', 'claude');
    expect(folder.run('doctor').out).toContain('Claude Code is set up for all your projects; it has not reported');
  });

  it('says when a client last reported', () => {
    const folder = newFolder();
    const hooks = installedHooks(folder);
    hooks('SessionStart', { source: 'startup' });
    hooks('UserPromptSubmit', { prompt: 'Fix the login' });
    expect(folder.run('doctor').out).toMatch(
      /Claude Code is set up for all your projects; it last reported from here .* ago\./,
    );
  });
});

describe('after an upgrade of Node', () => {
  function upgraded() {
    const folder = newFolder();
    const hooks = installedHooks(folder);
    const launcher = folder.state('holdfast-hook.sh');
    const text = readFileSync(launcher, 'utf8');
    return { folder, hooks, replace: (from: RegExp, to: string) => writeFileSync(launcher, text.replace(from, to)) };
  }
  const ask = { prompt: 'Fix the login' };

  it('hooks record with the Node of the search path', () => {
    const { folder, hooks, replace } = upgraded();
    replace(/^N=\S+/m, 'N=/gone/node');
    hooks('UserPromptSubmit', ask);
    expect(folder.data('runs', '--all')['runs']).toHaveLength(1);
  });

  it('hooks record with the Holdfast of the search path', () => {
    const { folder, hooks, replace } = upgraded();
    replace(/ P=\S+/m, ' P=/gone/holdfast.cjs');
    const bin = folder.state('bin');
    mkdirSync(bin);
    symlinkSync(join(import.meta.dirname, '../dist/bin/holdfast.cjs'), join(bin, 'holdfast'));
    folder.env['PATH'] = `${bin}:${folder.env['PATH']}`;
    hooks('UserPromptSubmit', ask);
    expect(folder.data('runs', '--all')['runs']).toHaveLength(1);
  });

  it('a program that came with the project is not started, and the hook log says that none was found', () => {
    const { folder, hooks, replace } = upgraded();
    replace(/ P=\S+/m, ' P=/gone/holdfast.cjs');
    for (const bin of [join(folder.path, 'bin'), join(folder.path, 'node_modules/.bin')]) {
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'holdfast'), `#!/bin/sh\n: >${folder.state('taken')}\n`, { mode: 0o755 });
      folder.env['PATH'] = `${bin}:/usr/bin:/bin`;
      mkdirSync(folder.state('log'), { recursive: true, mode: 0o700 });
      rmSync(folder.state('log/no-node'), { force: true });
      hooks('UserPromptSubmit', ask);
    }
    expect(existsSync(folder.state('taken'))).toBe(false);
    const lines = readFileSync(folder.state('log/hook.log'), 'utf8').trimEnd().split('\n');
    expect(lines).toEqual([expect.stringContaining('neither Node nor Holdfast'), expect.stringContaining('neither')]);
    hooks('UserPromptSubmit', ask);
    expect(readFileSync(folder.state('log/hook.log'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });
});
