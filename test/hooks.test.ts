import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { hooksOf } from '../src/clients/index.ts';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';
import { contextIn, hook, inputsOf, journal, newAgent, newRepository, ofType, play, startOf } from './hook-player.ts';

describe('a hook', () => {
  it('exits 0 and prints nothing, whatever its input', () => {
    const folder = newRepository();
    const huge = `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"content":"${'x'.repeat(20_000_000)}"}}`;
    const inputs: [string, string, unknown][] = [
      ['claude', 'SessionStart', '{ not json'],
      ['claude', 'SessionStart', ''],
      ['claude', 'SessionStart', '[1,2]'],
      ['claude', 'SessionStart', 'null'],
      ['claude', 'PostToolUse', huge],
      [
        'claude',
        'PostToolUse',
        { session_id: 7, cwd: 3, tool_input: 'x', tool_response: [], hook_event_name: 'PostToolUse' },
      ],
      ['claude', 'NoSuchEvent', { session_id: 's' }],
      ['nobody', 'SessionStart', { session_id: 's' }],
      ['codex', '', {}],
    ];
    for (const [client, event, input] of inputs) {
      const said = hook(folder, client, event, input, client === 'claude' ? {} : { CLAUDECODE: '' });
      expect([client, event, said.code, said.out, said.err]).toEqual([client, event, 0, '', '']);
    }
  });

  it('prints nothing where there is neither a workspace nor a repository', () => {
    const folder = newFolder();
    rmSync(join(folder.path, '.git'), { recursive: true });
    const said = hook(folder, 'claude', 'SessionStart', startOf(folder));
    expect([said.code, said.out, said.err, readdirSync(folder.path)]).toEqual([0, '', '', []]);
  });

  it('does not disturb the agent where nothing can be written', () => {
    const folder = newRepository();
    hook(folder, 'claude', 'SessionStart', startOf(folder));
    const inside = folder.own();
    // As another user would find it: for the superuser a folder is always writable, a broken journal is not.
    writeFileSync(join(inside, 'journal.db'), 'this is no database');
    for (const name of ['journal.db-wal', 'journal.db-shm']) rmSync(join(inside, name), { force: true });
    chmodSync(inside, 0o555);
    const said = hook(folder, 'claude', 'UserPromptSubmit', {
      ...startOf(folder),
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go on',
    });
    chmodSync(inside, 0o755);
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
  });

  it('logs errors to a file that only its owner can read, without secrets', () => {
    const folder = newRepository();
    hook(folder, 'claude', 'SessionStart', startOf(folder));
    folder.env['HOLDFAST_STORE'] = 'mysql://root:hunter2secret@db/x';
    const said = hook(folder, 'claude', 'Stop', { ...startOf(folder), hook_event_name: 'Stop' });
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
    const file = folder.state('log/hook.log');
    expect(readFileSync(file, 'utf8')).toContain('There is no store');
    expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('stops when another process holds the journal for too long', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const database = new DatabaseSync(folder.own('journal.db'));
    database.exec('BEGIN IMMEDIATE');
    const written = inputsOf('claude', folder)[5]?.input;
    const said = hook(folder, 'claude', 'PostToolUse', written);
    database.exec('ROLLBACK');
    database.close();
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
    expect(readFileSync(folder.state('log/hook.log'), 'utf8')).toContain('took too long');
    hook(folder, 'claude', 'PostToolUse', written);
    expect(ofType(journal(folder), 'files.seen')).toHaveLength(1);
  });

  it('removes the quotes that OpenCode puts around a request', () => {
    const folder = newRepository();
    for (const { event, input } of inputsOf('opencode', folder).slice(0, 2)) {
      const parts = [{ type: 'text', text: '"Say \\"hello\\" to the harbour"' }];
      const quoted = { ...input, output: { message: { id: 'msg_q' }, parts } };
      hook(folder, 'opencode', event, event === 'chat.message' ? quoted : input);
    }
    expect(folder.data('status')['run']).toMatchObject({ goal: 'Say "hello" to the harbour' });
  });

  it('reports once that the context is nearly full, and counts tokens as the client does', () => {
    const folder = newRepository();
    play(folder, 'qwen');
    const [first, asked] = inputsOf('qwen', folder);
    const prompt = (timestamp: string) => ({ ...asked?.input, timestamp, prompt: 'Go on', prompt_id: timestamp });
    expect(contextIn(hook(folder, 'qwen', 'UserPromptSubmit', prompt('t1')))).toContain('78 % of the context');
    expect(hook(folder, 'qwen', 'UserPromptSubmit', prompt('t2')).out).toBe('');
    const codex = newRepository();
    play(codex, 'codex', 8);
    const rollout = join(codex.path, 'rollout.jsonl');
    const count = (input: number) =>
      `${JSON.stringify({ type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: { input_tokens: input, cached_input_tokens: 40, output_tokens: 9 }, last_token_usage: { total_tokens: 950 }, model_context_window: 1000 } } })}\n`;
    writeFileSync(rollout, count(100) + count(300));
    const stop = { ...inputsOf('codex', codex)[8]?.input, transcript_path: rollout };
    hook(codex, 'codex', 'Stop', stop);
    hook(codex, 'codex', 'Stop', { ...stop, turn_id: 'another' });
    expect(ofType(journal(codex), 'usage.added').map((one) => one.body)).toMatchObject([
      { agent: 'codex', input: 300, output: 9, cached: 40 },
    ]);
    const tool = { ...inputsOf('codex', codex)[5]?.input, tool_use_id: 'call_new', transcript_path: rollout };
    expect(contextIn(hook(codex, 'codex', 'PostToolUse', tool))).toContain('95 % of the context');
    expect(hook(codex, 'codex', 'PostToolUse', { ...tool, tool_use_id: 'call_newer' }).out).toBe('');
    expect(first?.event).toBe('SessionStart');
  });

  it('works under the name it is given, and in a linked worktree on the journal of the main checkout', () => {
    const folder = newRepository();
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...words], { cwd: folder.path });
    git('add', 'notes.md');
    git('commit', '--quiet', '-m', 'Begin');
    git('worktree', 'add', '--quiet', 'tree');
    const tree = join(folder.path, 'tree');
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Sort the list' };
    hook(folder, 'claude', 'SessionStart', { ...startOf(folder), cwd: tree }, { HOLDFAST_AGENT: 'ada' });
    hook(folder, 'claude', 'UserPromptSubmit', { ...startOf(folder), ...prompt, cwd: tree }, { HOLDFAST_AGENT: 'ada' });
    const [session] = ofType(journal(folder), 'session.started');
    expect(session?.body).toMatchObject({ agent: 'ada', client: { name: 'claude' }, mark: { tree: 'tree' } });
  });

  it('gives the brief after a compaction of a conversation that was taken up again only for that', () => {
    const folder = newRepository();
    const at = (event: string, more: object = {}) =>
      hook(folder, 'claude', event, { ...startOf(folder), hook_event_name: event, ...more });
    at('UserPromptSubmit', { prompt: 'Paint the harbour' });
    at('PostToolUse', { tool_name: 'Write', tool_input: { file_path: join(folder.path, 'a.ts') }, tool_use_id: 't1' });
    at('Stop', { last_assistant_message: 'Painted.' });
    at('SessionEnd', { reason: 'other' });
    at('SessionStart', { source: 'resume' });
    at('PreCompact', { trigger: 'manual' });
    const said = contextIn(at('SessionStart', { source: 'compact' }));
    expect(said).toContain('after compaction');
    expect(said).toContain('Paint the harbour');
    expect(hook(newRepository(), 'claude', 'SessionStart', { ...startOf(folder), source: 'compact' }).out).toBe('');
  });

  it('gives the brief after a compaction again to another process of a client that forgets it', async () => {
    const folder = newRepository();
    const first = newAgent();
    const second = newAgent();
    const at = (agent: { pid: string }, event: string, more: object = {}) =>
      hook(
        folder,
        'qwen',
        event,
        { ...startOf(folder), hook_event_name: event, ...more },
        { HOLDFAST_PID: agent.pid, CLAUDECODE: '' },
      );
    at(first, 'UserPromptSubmit', { prompt: 'Paint the harbour', prompt_id: 'p1' });
    at(first, 'Stop', { last_assistant_message: 'Painted.' });
    at(first, 'PreCompact', { trigger: 'manual' });
    expect(contextIn(at(first, 'SessionStart', { source: 'compact' }))).toContain('after compaction');
    expect(at(first, 'UserPromptSubmit', { prompt: 'And the quay', prompt_id: 'p2' }).out).toBe('');
    await first.kill();
    at(second, 'SessionStart', { source: 'resume' });
    const again = contextIn(at(second, 'UserPromptSubmit', { prompt: 'And the pier', prompt_id: 'p3' }));
    expect(again).toContain('after compaction');
    expect(at(second, 'UserPromptSubmit', { prompt: 'And the mole', prompt_id: 'p4' }).out).toBe('');
    await second.kill();
  });

  it('finds the failure of a turn in the transcript when the client ends with it', () => {
    const folder = newRepository();
    const path = join(folder.path, 'c.jsonl');
    const line = {
      type: 'assistant',
      isApiErrorMessage: true,
      error: 'rate_limit',
      message: { content: [{ type: 'text', text: 'API Error: 429' }] },
    };
    writeFileSync(path, `${JSON.stringify(line)}\n${JSON.stringify({ type: 'last-prompt' })}\n`);
    const at = (event: string, more: object) =>
      hook(folder, 'claude', event, { ...startOf(folder), hook_event_name: event, transcript_path: path, ...more });
    at('UserPromptSubmit', { prompt: 'Paint the harbour' });
    at('SessionEnd', { reason: 'other' });
    const failure = { reason: 'rate-limit', message: 'rate_limit: API Error: 429' };
    expect(ofType(journal(folder), 'turn.ended')).toMatchObject([{ body: { outcome: 'failed', failure } }]);
  });

  it('records a stop by a rate limit as such', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const base = inputsOf('claude', folder)[1]?.input;
    hook(folder, 'claude', 'StopFailure', {
      ...base,
      hook_event_name: 'StopFailure',
      error: 'rate_limit',
      error_details: '429 Too Many Requests',
    });
    const failure = { reason: 'rate-limit', message: 'rate_limit: 429 Too Many Requests' };
    expect(ofType(journal(folder), 'turn.ended')).toMatchObject([{ body: { outcome: 'failed', failure } }]);
  });

  it('redacts secrets', () => {
    const folder = newRepository();
    play(folder, 'claude', 1);
    const base = inputsOf('claude', folder)[1]?.input;
    // Built here, so that no scanner reports this file as a leak.
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    hook(folder, 'claude', 'UserPromptSubmit', { ...base, prompt: `Use ${token} to push` });
    hook(folder, 'claude', 'PreToolUse', {
      ...base,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: `curl -H "Authorization: Bearer ${token}" https://api.example.com` },
      tool_use_id: 'toolu_secret',
    });
    const text = JSON.stringify(journal(folder));
    expect(text).not.toContain(token);
    expect(text).toContain('[redacted: github token]');
  });

  it('redacts the whole text before it shortens it, in every field that is captured', () => {
    const folder = newRepository();
    play(folder, 'claude', 1);
    const base = inputsOf('claude', folder)[1]?.input;
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    // The limits of the fields, all of which would cut this secret in two.
    const around = (limit: number): string =>
      `${'word '.repeat(limit / 5).slice(0, limit - 20)} ${token} mysql -phunter2x`;
    writeFileSync(join(folder.path, '.git', 'HEAD'), `ref: refs/heads/try-${token}\n`);
    hook(folder, 'claude', 'UserPromptSubmit', { ...base, prompt: around(8000) });
    const bash = {
      ...base,
      tool_name: 'Bash',
      tool_input: { command: `echo ${around(4000)}` },
      tool_use_id: 'toolu_s',
    };
    hook(folder, 'claude', 'PreToolUse', { ...bash, hook_event_name: 'PreToolUse' });
    const todos = [{ content: around(1200), status: 'in_progress', activeForm: 'x' }];
    const write = { file_path: join(folder.path, `${token}.txt`), content: 'x' };
    for (const [tool_name, tool_input] of [
      ['TodoWrite', { todos }],
      ['Write', write],
    ] as const) {
      const call = {
        ...base,
        tool_name,
        tool_input,
        tool_use_id: `toolu_${tool_name}`,
        tool_response: { success: true },
      };
      hook(folder, 'claude', 'PostToolUse', { ...call, hook_event_name: 'PostToolUse' });
    }
    hook(folder, 'claude', 'Stop', { ...base, hook_event_name: 'Stop', last_assistant_message: around(4000) });
    const text = JSON.stringify(journal(folder));
    expect(text).not.toMatch(/ghp_|a1B2c3D4|hunter2x/);
    expect(text).toContain('echo word word');
    expect(text).toContain('try-[redacted: github token]');
  });

  it('ignores files outside the workspace and what the settings exclude, and stops where capture is off', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    folder.person.data('capture', '--ignore-path', 'secret/**', '--ignore-command', 'vault *');
    const base = { ...inputsOf('claude', folder)[1]?.input, hook_event_name: 'PostToolUse' };
    const before = journal(folder).length;
    const written = (file_path: string, id: string) => ({
      ...base,
      tool_name: 'Write',
      tool_input: { file_path },
      tool_use_id: id,
    });
    hook(folder, 'claude', 'PostToolUse', written('/etc/hosts', 'o1'));
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, '../elsewhere.txt'), 'o2'));
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, 'secret/key.pem'), 'o3'));
    hook(folder, 'claude', 'PostToolUse', {
      ...base,
      tool_name: 'Bash',
      tool_input: { command: 'vault read x' },
      tool_use_id: 'o4',
    });
    expect(journal(folder)).toHaveLength(before);
    folder.person.data('capture', 'off');
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, 'login.ts'), 'o5'));
    expect(hook(folder, 'claude', 'SessionStart', startOf(folder)).out).toBe('');
    expect(journal(folder)).toHaveLength(before);
    folder.person.data('capture', 'on');
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, 'login.ts'), 'o6'));
    expect(journal(folder)).toHaveLength(before + 1);
    expect(folder.fault('capture', 'off', '--agent', 'claude')).toMatchObject({ code: 'not_allowed' });
  });

  it('records nothing when a client is opened, and joins the chosen run with its first prompt', () => {
    const folder = newWorkspace();
    const before = journal(folder, '--run', 'auth').length;
    const chosen = contextIn(hook(folder, 'claude', 'SessionStart', startOf(folder)));
    expect(chosen).toContain('the run chosen for this worktree');
    expect(journal(folder, '--run', 'auth')).toHaveLength(before);
    const ask = (prompt: string, session = 'conversation-1') =>
      hook(folder, 'claude', 'UserPromptSubmit', {
        ...startOf(folder, 'startup', session),
        hook_event_name: 'UserPromptSubmit',
        prompt,
        prompt_id: prompt,
      });
    expect(ask('/compact').out).toBe('');
    expect(journal(folder, '--run', 'auth')).toHaveLength(before);
    ask('Issue the tokens');
    expect(ofType(journal(folder, '--run', 'auth'), 'turn.began')).toMatchObject([{ body: { kind: 'request' } }]);
    expect(folder.data('runs')['runs']).toHaveLength(1);
    // Another run that is chosen later does not take the conversation away.
    folder.data('init', '--title', 'Other', '--id', 'other');
    ask('And the store');
    expect(ofType(journal(folder, '--run', 'auth'), 'turn.began')).toHaveLength(2);
    ask('Write a privacy page', 'conversation-2');
    expect(ofType(journal(folder, '--run', 'other'), 'turn.began')).toHaveLength(1);
  });
});

describe('a to-do list', () => {
  const list = (folder: Folder, id: string, ...entries: [string, string][]) => ({
    session_id: 'conversation-1',
    cwd: folder.path,
    hook_event_name: 'PostToolUse',
    tool_name: 'TodoWrite',
    tool_input: { todos: entries.map(([content, status]) => ({ content, status, activeForm: content })) },
    tool_response: {},
    tool_use_id: id,
  });
  const write = (folder: Folder, id: string, ...entries: [string, string][]) =>
    hook(folder, 'claude', 'PostToolUse', list(folder, id, ...entries));
  const steps = (folder: Folder) =>
    (folder.data('plan', 'show')['steps'] as { key: string; title: string; status: string }[]).map(
      ({ key, title, status }) => `${key} ${title}: ${status}`,
    );

  it('becomes the plan where there is none, and keeps its keys', () => {
    const folder = newRepository();
    write(folder, '1', ['Read', 'in_progress'], ['Write', 'pending'], ['Ship', 'pending']);
    write(folder, '2', ['Read', 'completed'], ['Write', 'in_progress'], ['Ship', 'pending']);
    expect(steps(folder)).toEqual(['todo-1 Read: completed', 'todo-2 Write: in_progress', 'todo-3 Ship: pending']);
    write(folder, '3', ['Read', 'completed'], ['Write', 'in_progress'], ['Ship it with care', 'pending']);
    expect(steps(folder)).toContain('todo-3 Ship it with care: pending');
    write(folder, '4', ['Read', 'completed'], ['Write', 'pending']);
    expect(steps(folder)).toEqual(['todo-1 Read: completed', 'todo-2 Write: pending']);
    write(folder, '5', ['Write', 'completed']);
    // Whether an ad hoc run is finished is derived, and its turn is still open.
    expect(folder.data('runs')['runs'][0]).toMatchObject({ status: 'active' });
    write(folder, '6', ['Write', 'completed'], ['One more', 'in_progress']);
    expect(steps(folder)).toEqual([
      'todo-1 Read: completed',
      'todo-2 Write: completed',
      'todo-3 One more: in_progress',
    ]);
  });

  it('adds nothing to a plan made on purpose: it moves the steps it names, the rest are checkpoints or a note', () => {
    const folder = newWorkspace();
    const plan = steps(folder);
    write(folder, '1', ['Look around', 'completed'], ['Think', 'in_progress']);
    expect(steps(folder)).toEqual(plan);
    expect(ofType(journal(folder), 'note.added')[0]?.body.text).toContain('- Look around\n- Think');
    write(folder, '2', ['Issue tokens', 'in_progress'], ['Look around', 'pending'], ['Think', 'pending']);
    expect(steps(folder)).toContain('t1 Issue tokens: in_progress');
    write(folder, '3', ['Issue tokens', 'in_progress'], ['Look around', 'completed'], ['Think', 'in_progress']);
    const [reached] = ofType(journal(folder), 'step.checkpointed');
    expect(reached?.body).toMatchObject({ step: 't1', name: 'Look around', next: 'Think' });
    write(folder, '4', ['Issue tokens', 'completed']);
    expect(steps(folder)).toContain('t1 Issue tokens: completed');
  });
});

// Run by hand over the hook input of real clients: HOOK_PAYLOADS=FOLDER npx vitest run test/hooks.test.ts
describe.runIf(process.env['HOOK_PAYLOADS'])('hook input of real clients', () => {
  it('is read, all of it', async () => {
    const root = process.env['HOOK_PAYLOADS'] ?? '';
    const counts: Record<string, Record<string, number>> = {};
    for (const name of readdirSync(root, { recursive: true }) as string[]) {
      if (!name.endsWith('hooks.jsonl')) continue;
      for (const line of readFileSync(join(root, name), 'utf8').trim().split('\n')) {
        const { client, label, payload } = JSON.parse(line);
        const moment = (await hooksOf(client)).read(payload.hook_event_name ?? label, payload);
        const kind = moment === null ? `nothing: ${label}` : moment.kind;
        counts[client] ??= {};
        counts[client][kind] = (counts[client][kind] ?? 0) + 1;
        if (moment && moment.kind !== 'session-end') expect(moment.conversation).toEqual(expect.any(String));
        if (moment?.kind === 'prompt') expect(moment.request).not.toContain('hook_context');
      }
    }
    console.log(JSON.stringify(counts, null, 1));
    for (const client of Object.keys(counts)) expect(counts[client]?.['session-start']).toBeGreaterThan(0);
  });
});
