import { type ChildProcess, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { type Folder, newFolder, program } from './command-line.ts';

/** Hooks as a user of Claude has installed them, run as the client runs them. */

export interface Installed extends Folder {
  inbox(...parts: string[]): string;
  /** The names of the reports that wait. */
  reports(): string[];
}

/** A workspace whose user has installed the hooks for Claude, with a session that its start hook opened. */
export function newInstalled(): Installed {
  const folder = newFolder();
  folder.data('install', 'claude');
  for (const [event, more] of [
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'Rotate the tokens every hour' }],
  ] as const) {
    run(folder, [process.execPath, program, 'hook', 'claude', event], input(folder, event, more));
  }
  expect(folder.data('sessions')['sessions']).toHaveLength(1);
  const inbox = (...parts: string[]) => folder.own('inbox', ...parts);
  return { ...folder, inbox, reports: () => readdirSync(inbox()).filter((name) => name.endsWith('.in')) };
}

export function run(
  folder: Folder,
  [command = '', ...words]: readonly string[],
  text: string,
  cwd = folder.path,
  env = {},
) {
  const ran = spawnSync(command, words, { cwd, env: { ...folder.env, ...env }, input: text, encoding: 'utf8' });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  return ran;
}

export function input(folder: Folder, event: string, more: object, cwd = folder.path): string {
  return JSON.stringify({ session_id: 'conversation-1', cwd, hook_event_name: event, ...more });
}

let calls = 0;

/** A command as the client reports it: its beginning, or its end. */
export function bash(
  folder: Folder,
  event: 'PreToolUse' | 'PostToolUse',
  command: string,
  id: string,
  cwd?: string,
): string {
  const ended = event === 'PostToolUse' ? { tool_response: { stdout: '', exit_code: 0 } } : {};
  return input(folder, event, { tool_name: 'Bash', tool_input: { command }, tool_use_id: id, ...ended }, cwd);
}

export interface How {
  shell?: readonly string[];
  cwd?: string;
  env?: Record<string, string>;
}

/** The hook as the client runs it. */
export function launch(folder: Folder, event: string, text: string, { shell = ['sh'], cwd, env }: How = {}): string {
  return run(folder, [...shell, folder.state('holdfast-hook.sh'), 'claude', event], text, cwd, env).stdout;
}

export function command(folder: Folder, words: string, how: How = {}): void {
  const id = `call-${++calls}`;
  launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', words, id, how.cwd), how);
  launch(folder, 'PostToolUse', bash(folder, 'PostToolUse', words, id, how.cwd), how);
}

// biome-ignore lint/suspicious/noExplicitAny: the bodies are what the tests are about
export type Shown = { type: string; at: string; body: Record<string, any>; session: string | null };
export const events = (folder: Folder): Shown[] => folder.data('log', '--limit', '900')['events'];
export const began = (folder: Folder): string[] =>
  events(folder).flatMap(({ type, body }) => (type === 'effect.began' ? [body['name'] ?? ''] : []));

export const closed = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.on('close', resolve));
