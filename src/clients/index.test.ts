import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../core/line.ts';
import { clientNames, clients, hooksOf, installOf, transcriptClients, transcriptOf } from './index.ts';
import { clientAmong, clientOfHook, clientOfShell } from './recognise.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');

it('lists every folder, with the parts that it has', () => {
  const folders = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const found = folders.map(({ name }) => [
    name,
    ['hooks', 'install', 'transcript'].filter((part) => existsSync(join(here, name, `${part}.ts`))),
  ]);
  const listed = Object.entries(clients).map(([name, { title, variables, ...parts }]) => [
    name,
    Object.keys(parts).filter((part) => part !== 'program'),
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

it.each(clientNames)('%s reports moments and transcripts under its own name', async (name) => {
  const fixtures = join(root, 'test/fixtures/hooks', name);
  const hooks = await hooksOf(name);
  for (const file of readdirSync(fixtures)) {
    const moment = hooks.read(file.slice(3, -5), JSON.parse(readFileSync(join(fixtures, file), 'utf8')));
    if (moment) expect(moment.client).toBe(name);
  }
  expect((await installOf(name)).commands.length).toBeGreaterThan(0);
});

it('asks no two clients with the same precedence', async () => {
  const ranks = clientNames.map((name) => clients[name].variables.rank);
  expect(new Set(ranks).size).toBe(ranks.length);
  const specificities = await Promise.all(
    transcriptClients.map(async (name) => (await transcriptOf(name)).specificity),
  );
  expect(new Set(specificities).size).toBe(specificities.length);
});

/**
 * The names that a line may have without quotation marks, because the core knows no clients; those by which people address a client
 * in a prompt; the clients by what they call themselves in MCP, which no other part needs; and what is generated from this list.
 */
const ownLists = ['src/core/line.ts', 'src/mcp/identity.ts', 'src/methods/install.ts', 'src/methods/session.ts'];

it('has the names that a line shows without quotation marks', () => {
  expect([...CLIENTS].sort()).toEqual([...clientNames].sort());
});

it('is the only list of the clients', () => {
  const files = ['src', 'web', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const lists = files.filter((file) => {
    if (
      !/\.(?:ts|tsx|mjs)$/.test(file) ||
      /\.(?:test|suite)\.ts$/.test(file) ||
      file === join('src', 'clients', 'index.ts')
    )
      return false;
    const text = readFileSync(join(root, file), 'utf8');
    return clientNames.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).length > clientNames.length / 2;
  });
  expect(lists.sort()).toEqual(ownLists);
});

describe('the running client', () => {
  it.each([
    [{ CLAUDECODE: '1' }, 'claude'],
    [{ CLAUDECODE: '1', CODEX_SANDBOX: 'x' }, 'codex'],
    [{ CODEX_THREAD_ID: 't', OPENCODE: '1' }, 'opencode'],
    [{ OPENCODE: '1', GEMINI_CLI: '1' }, 'gemini'],
    [{ GEMINI_CLI: '1', CURSOR_AGENT: '1' }, 'cursor'],
    [{ CURSOR_VERSION: '3', COPILOT_CLI: '1' }, 'copilot'],
    [{ COPILOT_CLI: '1', QWEN_PROJECT_DIR: '/', CLAUDECODE: '1' }, 'qwen'],
    [{ CLAUDECODE: '' }, null],
    [{}, null],
  ])('is known by its shell: %j', (environment, client) => {
    expect(clientOfShell(environment)).toBe(client);
  });

  it.each([
    ['bash', ['-bash'], null],
    ['claude', [], 'claude'],
    ['MainThread', ['claude'], 'claude'],
    ['codex', ['/opt/codex/codex', 'exec', 'do it'], 'codex'],
    ['node', ['node', '--no-warnings', '/usr/local/bin/gemini'], 'gemini'],
    ['node', ['/usr/bin/node', '/usr/lib/node_modules/@qwen-code/qwen-code/dist/index.js'], 'qwen'],
    ['node.exe', ['C:\\node.exe', 'C:\\npm\\node_modules\\@github\\copilot\\index.js'], 'copilot'],
    ['cursor-agent', [], 'cursor'],
    // An editor with a terminal in it, and a file that is called like a client.
    ['cursor', ['/usr/share/cursor/cursor'], null],
    ['vim', ['vim', 'claude'], null],
    ['node', ['node', 'server.js', 'codex'], null],
  ])('is known by its process: %s %j', (name, words, client) => {
    const shell = { name: 'sh', words: ['sh', '-c', 'claude'] };
    expect(clientAmong([shell, { name, words }, shell])).toBe(client);
  });

  it.each([
    ['claude', {}, { CLAUDECODE: '1' }, 'claude'],
    ['claude', {}, { CLAUDECODE: '1', QWEN_PROJECT_DIR: '/' }, 'qwen'],
    ['claude', { turn_id: 't' }, {}, 'codex'],
    // Started from Claude's shell, whose variables it inherits.
    ['copilot', {}, { CLAUDECODE: '1' }, 'copilot'],
    ['vscode', {}, { COPILOT_CLI: '1' }, 'copilot'],
    ['copilot', { source: 'new', session_id: 's', hook_event_name: 'SessionStart' }, {}, 'vscode'],
    // Only its own client runs Gemini's file.
    ['gemini', { turn_id: 't' }, { QWEN_PROJECT_DIR: '/' }, 'gemini'],
    ['auto', { transcript_path: '/home/u/.codex/sessions/2026/a.jsonl' }, {}, 'codex'],
    ['auto', {}, {}, null],
    ['other', {}, { CLAUDECODE: '1' }, null],
  ])('is known by its hook: %s %j %j', async (named, input, environment, client) => {
    expect(await clientOfHook(named, input, environment)).toBe(client);
  });
});
