import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientNames } from '../src/clients/index.ts';
import { contextIn, hook, inputsOf, journal, newRepository, ofType, play } from './hook-player.ts';

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
