import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientNames } from '../src/clients/index.ts';
import type { Folder } from './command-line.ts';
import { contextIn, hook, inputsOf, journal, newAgent, newRepository, ofType, play } from './hook-player.ts';

describe.each(clientNames)('a session of %s', (client) => {
  it('is recorded once and without its help: request, to-dos, files, commands, the end of the turn', () => {
    const folder = newRepository();
    const said = play(folder, client);
    for (const one of said) expect([one.code, one.err]).toEqual([0, '']);
    // Nothing was unfinished, so nothing is said.
    expect(said.map(contextIn).filter((text) => text.includes('Holdfast record'))).toEqual([]);

    const [run] = folder.data('runs')['runs'];
    expect(run).toMatchObject({ title: 'Let the login form remember the user.', status: 'active' });
    const events = journal(folder);
    const [session] = ofType(events, 'session.started');
    expect(session?.body).toMatchObject({ agent: client, client: { name: client }, owner: { pid: process.pid } });
    expect(new Set(events.slice(2).map((one) => one.session))).toEqual(new Set(['S-1']));
    const steps = folder.data('plan', 'show')['steps'] as { key: string; title: string; status: string }[];
    expect(steps).toMatchObject([
      { key: 'todo-1', title: 'Remember the user', status: 'in_progress' },
      { key: 'todo-2', title: 'Run the tests', status: 'pending' },
    ]);
    const files = ofType(events, 'files.seen').flatMap((one) => one.body.artifacts);
    expect(files).toContainEqual(
      expect.objectContaining({ path: 'login.ts', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }),
    );
    expect(files).toContainEqual(expect.objectContaining({ path: 'notes.md', sha256: expect.any(String) }));
    const began = ofType(events, 'effect.began').map((one) => [one.body.name, one.body.class]);
    expect(began).toEqual([
      ['npm test', 'idempotent'],
      ['node check.js', 'unknown'],
    ]);
    const ended = ofType(events, 'effect.ended').map((one) => [
      one.body.id,
      one.body.outcome,
      one.body.exitCode ?? null,
    ]);
    expect(ended).toMatchObject([
      ['X-1', 'succeeded', expect.toBeOneOf([0, null])],
      ['X-2', 'failed', 3],
    ]);
    expect(ofType(events, 'turn.began').map((one) => one.body)).toMatchObject([
      { session: 'S-1', kind: 'request', request: expect.stringMatching(/^Let the login form remember the user\./) },
    ]);
    expect(ofType(events, 'turn.ended').map((one) => one.body)).toMatchObject([{ session: 'S-1', outcome: 'done' }]);
    expect(ofType(events, 'snapshot.taken')).toEqual([]);
    expect(existsSync(folder.state('log/hook.log'))).toBe(false);

    const before = events.length;
    for (const { event, input } of inputsOf(client, folder)) {
      // The end of a turn and the start of a session may happen again.
      if (/tool|shell|edit|prompt|chat/i.test(event)) hook(folder, client, event, input);
    }
    const again = journal(folder).slice(before);
    // The reads and edits of a client without ids for them look alike.
    expect(again.filter((one) => one.type !== 'files.seen')).toEqual([]);
    if (client !== 'cursor') expect(again).toEqual([]);
  });
});

/** How each client reports that its agent could not write a file; VS Code and OpenCode report no such call. */
const failedWrites: [client: string, event: string, input: (path: string) => object][] = [
  [
    'claude',
    'PostToolUseFailure',
    (file_path) => ({ tool_name: 'Write', tool_input: { file_path }, error: 'File has not been read yet.' }),
  ],
  [
    'claude',
    'PostToolUse',
    (file_path) => ({ tool_name: 'Write', tool_input: { file_path }, tool_response: { interrupted: true } }),
  ],
  [
    'codex',
    'PostToolUse',
    (path) => ({
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Update File: ${path}\n@@\n-x\n+y\n*** End Patch` },
      tool_response: 'Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to find expected lines.\n',
    }),
  ],
  [
    'gemini',
    'AfterTool',
    (file_path) => ({
      tool_name: 'write_file',
      tool_input: { file_path },
      tool_response: { llmContent: 'Error', returnDisplay: 'Error', error: { message: 'Permission denied' } },
    }),
  ],
  [
    'qwen',
    'PostToolUseFailure',
    (file_path) => ({ tool_name: 'write_file', tool_input: { file_path }, error: 'Permission denied' }),
  ],
  [
    'copilot',
    'postToolUseFailure',
    (path) => ({ toolName: 'create', toolArgs: { path }, error: { message: 'The file exists.' } }),
  ],
  [
    'copilot',
    'postToolUse',
    (path) => ({ toolName: 'create', toolArgs: { path }, toolResult: { resultType: 'denied', textResultForLlm: '' } }),
  ],
  [
    'cursor',
    'postToolUseFailure',
    (path) => ({ tool_name: 'Write', tool_input: { path }, error_message: 'Permission denied' }),
  ],
];

it.each(failedWrites)('does not record the file of a failed call: %s %s', (client, event, input) => {
  const folder = newRepository();
  const [start] = inputsOf(client, folder);
  hook(folder, client, start?.event ?? '', start?.input);
  const { hook_event_name: _, ...source } = start?.input ?? {};
  hook(folder, client, event, { ...source, ...input(join(folder.path, 'login.ts')), tool_use_id: 'failed' });
  const events = journal(folder);
  expect(ofType(events, 'session.started')).toHaveLength(1);
  expect(ofType(events, 'files.seen')).toEqual([]);
});

describe('commands of codex, whose exit status is in its transcript only', () => {
  const rollout = (folder: Folder, ...payloads: object[]): string => {
    const path = join(folder.path, 'rollout.jsonl');
    writeFileSync(path, payloads.map((payload) => `${JSON.stringify({ type: 'event_msg', payload })}\n`).join(''));
    return path;
  };
  const ended = (id: string, exit_code: number): object => ({
    type: 'item_completed',
    item: { type: 'CommandExecution', id, status: exit_code === 0 ? 'completed' : 'failed', exit_code },
  });
  const command = (folder: Folder, transcript_path: string, event: string, id: string): void => {
    const base = { session_id: 'c1', turn_id: 't1', cwd: folder.path, hook_event_name: event, transcript_path };
    const call = { tool_name: 'Bash', tool_input: { command: `sh ${id}.sh` }, tool_use_id: id };
    hook(folder, 'codex', event, { ...base, ...call, ...(event === 'PostToolUse' ? { tool_response: 'out\n' } : {}) });
  };

  it('end as the transcript says, and never as passed where it says nothing', () => {
    const folder = newRepository();
    const path = rollout(folder, ended('good', 0), ended('bad', 3));
    for (const id of ['good', 'bad', 'silent'])
      for (const event of ['PreToolUse', 'PostToolUse']) command(folder, path, event, id);
    const ends = ofType(journal(folder), 'effect.ended').map(({ body }) => [body.outcome, body.exitCode ?? null]);
    expect(ends).toEqual([
      ['succeeded', 0],
      ['failed', 3],
      ['unknown', null],
    ]);
  });

  it('that outlive their turn stay open in the background, and end with the turn in which they end', () => {
    const folder = newRepository();
    const running = { type: 'function_call_output', call_id: 'server', output: 'Process running with session ID 7\n' };
    const path = rollout(folder, running);
    const stop = () =>
      hook(folder, 'codex', 'Stop', { session_id: 'c1', cwd: folder.path, transcript_path: path, turn_id: 't1' });
    command(folder, path, 'PreToolUse', 'server');
    stop();
    expect(ofType(journal(folder), 'turn.ended')).toMatchObject([{ body: { background: ['X-1'] } }]);
    expect(folder.data('resume')['text']).toContain('left: a background command.');
    expect(ofType(journal(folder), 'effect.ended')).toEqual([]);
    rollout(folder, running, ended('server', 1));
    const again = { session_id: 'c1', cwd: folder.path, turn_id: 't2', prompt: 'And now?' };
    hook(folder, 'codex', 'UserPromptSubmit', { ...again, hook_event_name: 'UserPromptSubmit', transcript_path: path });
    stop();
    expect(ofType(journal(folder), 'effect.ended')).toMatchObject([{ body: { outcome: 'failed', exitCode: 1 } }]);
  });
});

it('tells Copilot once, which runs the hooks of Claude too', async () => {
  const folder = newRepository();
  const agent = newAgent();
  const claude = { session_id: 'c1', cwd: folder.path, prompt: 'Paint the quay' };
  const edit = { tool_name: 'Write', tool_input: { file_path: join(folder.path, 'quay.ts') }, tool_use_id: 't1' };
  for (const event of ['UserPromptSubmit', 'PostToolUse'])
    hook(folder, 'claude', event, { ...claude, ...edit, hook_event_name: event }, { HOLDFAST_PID: agent.pid });
  await agent.kill();
  const env = { COPILOT_CLI: '1', CLAUDECODE: '' };
  const own = { sessionId: 'c2', cwd: folder.path, timestamp: Date.now() };
  const other = { session_id: 'c2', cwd: folder.path, timestamp: new Date().toISOString() };
  const prompt = 'continue';
  const said = [
    hook(folder, 'copilot', 'sessionStart', { ...own, source: 'new', initialPrompt: prompt }, env),
    hook(folder, 'copilot', 'userPromptSubmitted', { ...own, prompt }, env),
    hook(folder, 'claude', 'SessionStart', { ...other, hook_event_name: 'SessionStart', initial_prompt: prompt }, env),
    hook(folder, 'claude', 'UserPromptSubmit', { ...other, hook_event_name: 'UserPromptSubmit', prompt }, env),
  ];
  expect(said.map(({ out }) => out.includes('Paint the quay'))).toEqual([true, false, false, false]);
});
