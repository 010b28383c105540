import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { openHoldfast } from '../src/index.ts';
import { program } from './command-line.ts';
import {
  bash,
  began,
  closed,
  command,
  events,
  type Installed,
  input,
  launch,
  newInstalled,
} from './installed-hooks.ts';
import { openClient } from './mcp-client.ts';

/** Until it is restored, hooks write reports and nobody takes them in. */
function withoutProgram(folder: Installed): () => void {
  const file = folder.state('holdfast-hook.sh');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/ P=\S+/, ' P=/nowhere/holdfast.cjs'));
  return () => writeFileSync(file, text);
}

/** Every kind of event that goes through the inbox, as Claude sends it. */
const everyKind: readonly (readonly [event: string, more: object])[] = [
  ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'k1' }],
  ['PostToolUse', { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'k1', tool_response: {} }],
  [
    'PreToolUse',
    { tool_name: 'AskUserQuestion', tool_input: { questions: [{ question: 'Which?' }] }, tool_use_id: 'k2' },
  ],
  [
    'PostToolUse',
    {
      tool_name: 'AskUserQuestion',
      tool_input: { questions: [{ question: 'Which?' }] },
      tool_use_id: 'k2',
      tool_response: {},
    },
  ],
  [
    'PostToolUse',
    {
      tool_name: 'TodoWrite',
      tool_input: { todos: [{ content: 'Write it', status: 'in_progress' }] },
      tool_use_id: 'k3',
    },
  ],
  ['TaskCreated', { task_id: 't1', task_subject: 'Look around' }],
  ['SubagentStart', { agent_id: 'sub-1', agent_type: 'Explore' }],
  ['PreToolUse', { agent_id: 'sub-1', tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'k4' }],
  ['SubagentStop', { agent_id: 'sub-1', agent_type: 'Explore', last_assistant_message: 'Found it.' }],
  [
    'PostToolUseFailure',
    { tool_name: 'Bash', tool_input: { command: 'npm run lint' }, tool_use_id: 'k5', error: 'no' },
  ],
  ['PreCompact', { trigger: 'manual' }],
  ['Stop', { last_assistant_message: 'Done so far.' }],
  ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'git push' }, tool_use_id: 'k6' }],
  ['StopFailure', { error: 'rate_limit', error_details: 'Try later' }],
  ['SessionEnd', { reason: 'exit' }],
];

it('a report of any kind is recorded once, wherever a drain is killed between commit and removal', () => {
  const folder = newInstalled();
  withoutProgram(folder);
  for (const [event, more] of everyKind) launch(folder, event, input(folder, event, more));
  const kept = folder.reports().map((name) => {
    const { atimeMs, mtimeMs } = statSync(folder.inbox(name));
    return { name, text: readFileSync(folder.inbox(name), 'utf8'), atimeMs, mtimeMs };
  });
  expect(kept).toHaveLength(everyKind.length);
  kept.sort((a, b) => a.mtimeMs - b.mtimeMs);
  const before = events(folder);
  const types = new Set(before.map(({ type }) => type));
  for (const type of ['effect.began', 'effect.ended', 'step.added', 'session.started', 'snapshot.taken', 'turn.ended'])
    expect(types).toContain(type);
  expect(before.filter(({ type }) => type === 'session.ended')).toHaveLength(2);
  expect(before.filter(({ type }) => type === 'turn.ended')).toHaveLength(2);
  // The files are removed in their order: what is left is the end of the list, or one of it.
  const lefts = [kept, ...kept.map((_, index) => kept.slice(index)), ...kept.map((one) => [one])];
  for (const left of lefts) {
    for (const { name, text, atimeMs, mtimeMs } of left) {
      writeFileSync(folder.inbox(name), text, { mode: 0o600 });
      utimesSync(folder.inbox(name), atimeMs / 1000, mtimeMs / 1000);
    }
    expect(events(folder)).toEqual(before);
    expect(folder.reports()).toEqual([]);
  }
});

it('a report of another machine has a session without a process of this one', () => {
  const folder = newInstalled();
  const text = bash(folder, 'PreToolUse', 'in a container', 'c1').replace('conversation-1', 'conversation-c');
  const header = `holdfast-inbox 1 claude PreToolUse 7 6 ${process.pid}:1 0123456789ab\n${folder.path}\n\n\n`;
  writeFileSync(folder.inbox('m-ffffffffffff-7-1.in'), `${header}${text}`, { mode: 0o600 });
  const owners = (folder.data('runs')['runs'] as { id: string }[]).flatMap(({ id }) =>
    (folder.data('sessions', '--run', id)['sessions'] as { owner: { pid: number; host: string } | null }[]).map(
      ({ owner }) => owner,
    ),
  );
  expect(owners).toHaveLength(2);
  expect(owners.filter((owner) => owner?.pid === process.pid && owner.host.startsWith(hostname()))).toHaveLength(1);
  expect(folder.reports()).toEqual([]);
});

it('refused reports are named once: by the next command, or with the next brief', () => {
  const folder = newInstalled();
  const refuse = (): string => {
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'after', `after-${Math.random()}`));
    return folder.reports()[0] ?? '';
  };
  folder.env['CLAUDE_CODE_SESSION_ID'] = 'conversation-1';
  folder.env['CLAUDECODE'] = '1';
  const { id } = folder.data('handoff', '--to', 'codex', '--session', 'S-1');
  delete folder.env['CLAUDE_CODE_SESSION_ID'];
  delete folder.env['CLAUDECODE'];
  folder.data('handoff', 'accept', id, '--agent', 'codex');
  const first = refuse();
  expect(folder.run('resume').err).toContain(`not in the record: "${first}"`);
  expect(folder.run('resume').err).not.toContain('not in the record');
  const second = refuse();
  launch(folder, 'Stop', input(folder, 'Stop', {}));
  const start = input(folder, 'SessionStart', { source: 'startup' }).replace('conversation-1', 'conversation-9');
  expect(launch(folder, 'SessionStart', start)).toContain(second);
  expect(launch(folder, 'SessionStart', start.replace('n-9', 'n-10'))).not.toContain(second);
});

it('from 5,000 waiting reports on more are dropped, and that is said', () => {
  const folder = newInstalled();
  const header = `holdfast-inbox 1 claude PreToolUse 999999999 1 - -\n${folder.path}\n\n\n`;
  const machine = JSON.parse(readFileSync(folder.state('machine.json'), 'utf8')).machine as string;
  for (let count = 0; count < 4999; count++) writeFileSync(folder.inbox(`${machine}-999999999-${count}.in`), header);
  launch(folder, 'PostToolUse', bash(folder, 'PostToolUse', 'the last one', 'full-1'));
  expect(folder.reports()).toHaveLength(5000);
  launch(folder, 'PostToolUse', bash(folder, 'PostToolUse', 'one too many', 'full-2'));
  expect(folder.reports()).toHaveLength(5000);
  expect(folder.data('doctor')['findings']).toMatchObject([{ code: 'inbox.full', level: 'warning' }]);
  expect(folder.run('status').err).toContain('were dropped, because 5,000 of them waited');
  expect(folder.run('status').err).toBe('');
  expect(began(folder)).toEqual(['the last one']);
});

it('reports wait while the journal is locked, and the command says so', () => {
  const folder = newInstalled();
  command(folder, 'npm test');
  const database = new DatabaseSync(folder.own('journal.db'));
  database.exec('BEGIN IMMEDIATE');
  try {
    const { code, err } = folder.run('status');
    expect([code, err]).toEqual([0, expect.stringContaining('2 reports of hooks wait to be recorded')]);
    expect(folder.reports()).toHaveLength(2);
  } finally {
    database.close();
  }
  expect(began(folder)).toEqual(['npm test']);
});

it('the library records waiting reports before it answers', async () => {
  const folder = newInstalled();
  command(folder, 'npm test');
  const before = { ...process.env };
  process.env['HOLDFAST_STATE_HOME'] = folder.state();
  const hf = await openHoldfast({ dir: folder.path, agent: 'ada' });
  try {
    expect(folder.reports()).toHaveLength(2);
    const { events: logged } = await hf.log({ limit: 900 });
    expect(logged.map(({ type }) => type)).toContain('effect.ended');
    expect(folder.reports()).toEqual([]);
    expect(readdirSync(folder.inbox())).toContain('drained');
  } finally {
    await hf.close();
    process.env = before;
  }
});

it('an MCP server records waiting reports with each call', async () => {
  const folder = newInstalled();
  const client = await openClient(folder);
  command(folder, 'npm test');
  await client.call('resume', {});
  expect(folder.reports()).toEqual([]);
  await client.close();
  expect(began(folder)).toEqual(['npm test']);
});

it('a server records waiting reports although nobody asks it', async () => {
  const folder = newInstalled();
  const server = spawn(process.execPath, [program, 'serve', '--port', '0'], { cwd: folder.path, env: folder.env });
  try {
    await once(server.stdout, 'data');
    command(folder, 'npm test');
    while (folder.reports().length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    server.kill('SIGTERM');
    await closed(server);
  }
  expect(began(folder)).toEqual(['npm test']);
});

it('a command that reads takes reports in and leaves files of the working tree as they are', () => {
  const folder = newInstalled();
  folder.data('install', 'cursor', '--project');
  const rule = (): string => readFileSync(join(folder.path, '.cursor/rules/holdfast.mdc'), 'utf8');
  withoutProgram(folder);
  const before = rule();
  launch(folder, 'Stop', input(folder, 'Stop', { last_assistant_message: 'Rotated. Should old ones be revoked?' }));
  expect(folder.data('status')['standing']).toMatchObject({ word: 'needs you' });
  expect(folder.reports()).toEqual([]);
  expect(rule()).toBe(before);
  folder.data('decide', 'Old tokens are revoked', '--why', 'they leak');
  expect(rule()).toContain('ended its turn with a question to the user');
});
