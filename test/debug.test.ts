import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWorkspace, program } from './command-line.ts';

/** An installation that lacks two of its files: a real way to reach an error that nothing in the code expects. */
let installed: string;

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), 'holdfast-incomplete-'));
  cpSync(join(program, '..'), installed, { recursive: true });
  const root = join(program, '../../..');
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  const lacks = readdirSync(installed).filter((name) => /^program-(board|todo-list)-[^.]+\.cjs$/.test(name));
  expect(lacks).toHaveLength(2);
  for (const name of lacks) rmSync(join(installed, name));
});

afterAll(() => rmSync(installed, { recursive: true, force: true }));

const STACK = /^ {4}at .+$/m;

function run(words: readonly string[], cwd: string, env: Record<string, string>, input = '') {
  return spawnSync(process.execPath, [join(installed, 'holdfast.cjs'), ...words], {
    cwd,
    env,
    input,
    encoding: 'utf8',
  });
}

describe('HOLDFAST_DEBUG', () => {
  it('makes a command print the stack of an unexpected error to standard error', () => {
    const { path, env } = newWorkspace();
    const quiet = run(['board', '--json'], path, env);
    expect([quiet.status, quiet.stderr]).toEqual([70, '']);
    const debugged = run(['board', '--json'], path, { ...env, HOLDFAST_DEBUG: '1' });
    expect(debugged.stdout).toBe(quiet.stdout);
    expect(debugged.stderr).toMatch(STACK);
  });

  it('makes a hook write the stack of an error to its log, and nothing else', () => {
    const { path, env, state } = newWorkspace();
    const list = { tool_name: 'TodoWrite', tool_input: { todos: [{ content: 'Lay the keel', status: 'pending' }] } };
    const input = JSON.stringify({ session_id: 'c1', cwd: path, hook_event_name: 'PostToolUse', ...list });
    const log = (): string => readFileSync(state('log/hook.log'), 'utf8');
    const hook = ['hook', 'claude', 'PostToolUse'];
    run(hook, path, env, input);
    expect(log()).toContain('no such file');
    expect(log()).not.toMatch(STACK);
    const { status, stdout, stderr } = run(hook, path, { ...env, HOLDFAST_DEBUG: '1' }, input);
    expect([status, stdout, stderr]).toEqual([0, '', '']);
    expect(log()).toMatch(STACK);
  });
});
