import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { clientNames } from '../src/core/client.ts';
import { dialectOf } from '../src/hooks/client.ts';
import { type Folder, newFolder, newWorkspace, program } from './command-line.ts';
import { contextIn, hook, journal, newRepository, ofType, payloadsOf, play } from './hook-player.ts';

describe('a hook', () => {
  const start = (folder: Folder, source = 'startup', session = 'conversation-1') => ({
    session_id: session,
    cwd: folder.path,
    hook_event_name: 'SessionStart',
    source,
  });

  it('exits 0 and says nothing, whatever it is given', () => {
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
    for (const [client, event, payload] of inputs) {
      const said = hook(folder, client, event, payload, client === 'claude' ? {} : { CLAUDECODE: '' });
      expect([client, event, said.code, said.out, said.err]).toEqual([client, event, 0, '', '']);
    }
  });

  it('stays silent where there is neither a workspace nor a repository', () => {
    const folder = newFolder();
    const said = hook(folder, 'claude', 'SessionStart', start(folder));
    expect([said.code, said.out, said.err, readdirSync(folder.path)]).toEqual([0, '', '', []]);
  });

  it('lets the agent go on where nothing can be written', () => {
    const folder = newRepository();
    hook(folder, 'claude', 'SessionStart', start(folder));
    const inside = join(folder.path, '.holdfast');
    // As another user would find it: for the superuser a folder is always writable, a broken journal is not.
    writeFileSync(join(inside, 'journal.db'), 'this is no database');
    for (const name of ['journal.db-wal', 'journal.db-shm']) rmSync(join(inside, name), { force: true });
    chmodSync(inside, 0o555);
    const said = hook(folder, 'claude', 'UserPromptSubmit', {
      ...start(folder),
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go on',
    });
    chmodSync(inside, 0o755);
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
  });

  it('keeps what went wrong in a file that only its owner reads, without secrets', () => {
    const folder = newRepository();
    hook(folder, 'claude', 'SessionStart', start(folder));
    const inside = join(folder.path, '.holdfast');
    writeFileSync(join(inside, 'config.json'), '{"workspace":"w","store":"mysql://root:hunter2secret@db/x"}');
    const said = hook(folder, 'claude', 'Stop', { ...start(folder), hook_event_name: 'Stop' });
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
    const file = join(inside, 'hook.log');
    expect(readFileSync(file, 'utf8')).toContain('There is no store');
    expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is given up when the journal is held by somebody else for too long', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const database = new DatabaseSync(join(folder.path, '.holdfast', 'journal.db'));
    database.exec('BEGIN IMMEDIATE');
    const written = payloadsOf('claude', folder)[5]?.payload;
    const said = hook(folder, 'claude', 'PostToolUse', written);
    database.exec('ROLLBACK');
    database.close();
    expect([said.code, said.out, said.err]).toEqual([0, '', '']);
    expect(readFileSync(join(folder.path, '.holdfast', 'hook.log'), 'utf8')).toContain('took too long');
    hook(folder, 'claude', 'PostToolUse', written);
    expect(ofType(journal(folder), 'files.seen')).toHaveLength(1);
  });

  it('gives the brief again after a compaction, as a continuation', () => {
    const folder = newRepository();
    play(folder, 'codex');
    const payload = payloadsOf('codex', folder)[0]?.payload;
    const compacted = contextIn(hook(folder, 'codex', 'SessionStart', { ...payload, source: 'compact' }));
    expect(compacted).toContain('was compacted and session S-1 goes on');
    expect(compacted).not.toContain('Holdfast brief of');
    expect(compacted).toContain('Remember the user');
    expect(ofType(journal(folder), 'session.started')).toHaveLength(1);
  });

  it('waits for the next prompt after a compaction where the client takes nothing before', () => {
    const folder = newRepository();
    play(folder, 'copilot');
    const [, asked] = payloadsOf('copilot', folder);
    const again = { ...asked?.payload, timestamp: 1794771999000, prompt: 'And now?' };
    expect(hook(folder, 'copilot', 'userPromptSubmitted', again).out).toBe('');
    const compact = { ...again, timestamp: 1794771999100, trigger: 'auto' };
    expect(hook(folder, 'copilot', 'preCompact', compact).out).toBe('');
    const next = hook(folder, 'copilot', 'userPromptSubmitted', { ...again, timestamp: 1794771999200 });
    expect(next.answer).toEqual({ additionalContext: expect.stringContaining('was compacted') });
    expect(hook(folder, 'copilot', 'userPromptSubmitted', { ...again, timestamp: 1794771999300 }).out).toBe('');
  });

  it('sees in the transcript of Gemini that a compaction took place, which it announces before every request', () => {
    const folder = newRepository();
    const transcript = join(folder.path, 'session.jsonl');
    const tokens = { input: 50, output: 5, cached: 10, thoughts: 2, tool: 0, total: 57 };
    writeFileSync(transcript, `${JSON.stringify({ id: 'm1', type: 'gemini', content: 'x', tokens })}\n`);
    const tell = (event: string, timestamp: string, more: Record<string, unknown> = {}) => {
      const base = { session_id: 'gemini-1', cwd: folder.path, transcript_path: transcript, hook_event_name: event };
      return contextIn(hook(folder, 'gemini', event, { ...base, timestamp, ...more }));
    };
    expect(tell('BeforeAgent', '2026-11-15T20:00:01.000Z', { prompt: 'Begin' })).toContain('Holdfast brief of');
    tell('PreCompress', '2026-11-15T20:00:02.000Z', { trigger: 'auto' });
    tell('AfterAgent', '2026-11-15T20:00:03.000Z', { prompt: 'Begin', prompt_response: 'Yes' });
    expect(tell('BeforeAgent', '2026-11-15T20:00:09.000Z', { prompt: 'Go on' })).toBe('');
    appendFileSync(transcript, `${JSON.stringify({ $set: { messages: [] } })}\n`);
    tell('AfterAgent', '2026-11-15T20:00:10.000Z', { prompt: 'Go on', prompt_response: 'Yes' });
    // As if some time had passed: within seconds one prompt is answered once.
    for (const name of readdirSync(join(folder.path, '.holdfast', 'hooks'))) {
      if (name.endsWith('.said')) rmSync(join(folder.path, '.holdfast', 'hooks', name));
    }
    expect(tell('BeforeAgent', '2026-11-15T20:00:19.000Z', { prompt: 'And on' })).toContain('was compacted');
    expect(ofType(journal(folder), 'usage.added').map((one) => one.body)).toMatchObject([
      { input: 50, output: 7, cached: 10 },
    ]);
  });

  it('speaks once when one client runs two hook files, and records one session', () => {
    const folder = newRepository();
    const own = payloadsOf('copilot', folder);
    const session = own[0]?.payload['sessionId'] as string;
    const first = hook(folder, 'copilot', 'sessionStart', own[0]?.payload);
    // The same moment through the file of Claude Code, which Copilot reads too.
    const second = hook(
      folder,
      'claude',
      'SessionStart',
      { ...start(folder, 'new', session) },
      { COPILOT_CLI: '1', CLAUDECODE: '' },
    );
    expect([first.answer !== null, second.out]).toEqual([true, '']);
    const tool = own.find(({ payload }) => payload['toolName'] === 'bash');
    hook(folder, 'copilot', 'postToolUse', tool?.payload);
    const other = {
      session_id: session,
      hook_event_name: 'PostToolUse',
      cwd: folder.path,
      timestamp: '2026-11-15T20:00:00.000Z',
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
      tool_result: 'ok',
    };
    hook(folder, 'claude', 'PostToolUse', other, { COPILOT_CLI: '1', CLAUDECODE: '' });
    const events = journal(folder);
    expect(ofType(events, 'session.started')).toHaveLength(1);
    expect(ofType(events, 'effect.began')).toHaveLength(1);
  });

  it('leaves an effect without an end when the agent is killed, and tells the next agent, of another client', async () => {
    const folder = newRepository();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(agent, 'spawn');
    const env = { CLAUDE_PID: String(agent.pid) };
    for (const { event, payload } of payloadsOf('claude', folder).slice(0, 6))
      hook(folder, 'claude', event, payload, env);
    folder.env['HOLDFAST_AGENT'] = 'claude';
    folder.data(
      'decide',
      '--context',
      'Where to keep it',
      '--decision',
      'A signed cookie',
      '--reason',
      'No table',
      '--irreversible',
    );
    delete folder.env['HOLDFAST_AGENT'];
    const deploy = {
      ...payloadsOf('claude', folder)[7]?.payload,
      tool_input: { command: 'git push origin main' },
      tool_use_id: 'toolu_last',
    };
    hook(folder, 'claude', 'PreToolUse', deploy, env);
    agent.kill('SIGKILL');
    await once(agent, 'exit');

    const brief = contextIn(hook(folder, 'codex', 'SessionStart', payloadsOf('codex', folder)[0]?.payload));
    expect(brief).toContain('UNCERTAIN');
    expect(brief).toContain('git push origin main');
    expect(brief).toContain('irreversible');
    expect(brief).toContain('Remember the user');
    expect(brief).toContain('A signed cookie');
    const events = journal(folder);
    expect(ofType(events, 'session.ended')).toMatchObject([{ body: { id: 'S-1', reason: 'crashed' } }]);
    expect(ofType(events, 'snapshot.taken').at(-1)?.body).toMatchObject({ session: 'S-1', reconstructed: true });
    expect(folder.data('runs')['runs']).toHaveLength(1);

    // The same entry on the next agent's list is the same step, taken over.
    hook(folder, 'codex', 'PostToolUse', payloadsOf('codex', folder)[2]?.payload);
    const [first] = folder.data('plan', 'show')['steps'];
    expect(first).toMatchObject({ key: 'todo-1', status: 'in_progress', holder: { agent: 'codex' } });
  });

  it.each(clientNames)('takes a session of %s that tells no end for ended when its turn was over', async (client) => {
    const folder = newRepository();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(agent, 'spawn');
    const env = { HOLDFAST_PID: String(agent.pid) };
    for (const { event, payload } of payloadsOf(client, folder))
      hook(folder, client, event, 'pid' in payload ? { ...payload, pid: agent.pid } : payload, env);
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    const other = client === 'codex' ? 'claude' : 'codex';
    const brief = contextIn(hook(folder, other, 'SessionStart', payloadsOf(other, folder)[0]?.payload));
    expect(brief).toContain('Remember the user');
    expect(brief).not.toContain('crashed');
    expect(ofType(journal(folder), 'session.ended')).toMatchObject([
      { body: { id: 'S-1', reason: 'completed', unannounced: true } },
    ]);
    const { out } = folder.run('sessions');
    expect(out).toContain('completed (its end was not told)');
  });

  it('gives a conversation one session when Copilot tells the request before the start, after a process that only compacted', async () => {
    const folder = newRepository();
    play(folder, 'copilot');
    const [start, prompt] = payloadsOf('copilot', folder).map(({ payload }) => payload);
    hook(folder, 'copilot', 'sessionEnd', { ...start, reason: 'complete' });
    const compacting = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(compacting, 'spawn');
    hook(folder, 'copilot', 'preCompact', { ...start, trigger: 'manual' }, { HOLDFAST_PID: String(compacting.pid) });
    compacting.kill('SIGKILL');
    await once(compacting, 'exit');
    hook(folder, 'copilot', 'userPromptSubmitted', { ...prompt, timestamp: 1794771999000, prompt: 'And now?' });
    hook(folder, 'copilot', 'sessionStart', { ...start, source: 'resume', initialPrompt: 'And now?' });
    const events = journal(folder);
    expect(ofType(events, 'session.started').map(({ body }) => [body.id, body.continues ?? null])).toEqual([
      ['S-1', null],
      ['S-2', 'S-1'],
      ['S-3', 'S-2'],
    ]);
    expect(ofType(events, 'session.ended').map(({ body }) => [body.id, body.reason])).toEqual([
      ['S-1', 'completed'],
      ['S-2', 'completed'],
    ]);
    expect(ofType(events, 'note.added').at(-1)).toMatchObject({ session: 'S-3', body: { text: 'Asked: And now?' } });
  });

  it('gives a conversation one session when two hooks of its client run at the same moment', async () => {
    for (let time = 0; time < 4; time++) {
      const folder = newRepository();
      folder.data('init', '--title', 'Race', '--id', 'race');
      const first = payloadsOf('copilot', folder).slice(0, 2);
      const ran = first.map(async ({ event, payload }) => {
        const child = spawn(process.execPath, [program, 'hook', 'copilot', event], {
          cwd: folder.path,
          env: { ...folder.env, COPILOT_CLI: '1' },
          stdio: ['pipe', 'ignore', 'ignore'],
        });
        child.stdin.end(JSON.stringify(payload));
        await once(child, 'exit');
      });
      await Promise.all(ran);
      expect(ofType(journal(folder), 'session.started')).toHaveLength(1);
      expect(ofType(journal(folder), 'note.added')).toMatchObject([{ session: 'S-1' }]);
    }
  });

  it('takes no session for ended that had begun and was asked something', async () => {
    const folder = newRepository();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(agent, 'spawn');
    for (const { event, payload } of payloadsOf('gemini', folder).slice(0, 2))
      hook(folder, 'gemini', event, payload, { HOLDFAST_PID: String(agent.pid) });
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    expect(folder.data('supervise')).toMatchObject({ crashed: [{ session: 'S-1' }], ended: [] });
  });

  it('takes the quotes off a request that OpenCode puts around it', () => {
    const folder = newRepository();
    for (const { event, payload } of payloadsOf('opencode', folder).slice(0, 2)) {
      const parts = [{ type: 'text', text: '"Say \\"hello\\" to the harbour"' }];
      const quoted = { ...payload, output: { message: { id: 'msg_q' }, parts } };
      hook(folder, 'opencode', event, event === 'chat.message' ? quoted : payload);
    }
    expect(folder.data('status')['run']).toMatchObject({ goal: 'Say "hello" to the harbour' });
  });

  it('does not take a session for ended while something of it runs in the background', () => {
    const folder = newRepository();
    play(folder, 'claude');
    const stop = payloadsOf('claude', folder).at(-1);
    expect(stop?.event).toBe('Stop');
    const before = ofType(journal(folder), 'snapshot.taken').at(-1);
    expect(before?.body.atRest).toBe(true);
    hook(folder, 'claude', 'UserPromptSubmit', {
      ...stop?.payload,
      prompt_id: 'another',
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go on.',
    });
    hook(folder, 'claude', 'Stop', { ...stop?.payload, prompt_id: 'another', background_tasks: [{ id: 'b1' }] });
    expect(ofType(journal(folder), 'snapshot.taken').at(-1)?.body.atRest).toBeUndefined();
  });

  it('tells whoever goes on what was asked and said last and what comes after, and nothing of what was installed', async () => {
    const folder = newRepository();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(agent, 'spawn');
    const env = { CLAUDE_PID: String(agent.pid) };
    const payloads = payloadsOf('claude', folder);
    for (const { event, payload } of payloads) hook(folder, 'claude', event, payload, env);
    const stop = payloads.at(-1)?.payload;
    const asked = { hook_event_name: 'UserPromptSubmit', prompt: 'Now the tests, please.', prompt_id: 'another' };
    hook(folder, 'claude', 'UserPromptSubmit', { ...stop, ...asked }, env);
    writeFileSync(join(folder.path, 'left.ts'), 'half');
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    folder.data('install', 'codex');
    const brief = contextIn(hook(folder, 'codex', 'SessionStart', payloadsOf('codex', folder)[0]?.payload));
    expect(brief).toMatch(/Asked last \(S-1, .*\): "Now the tests, please\."/);
    const said = String(stop?.['last_assistant_message']);
    expect(brief).toMatch(/Said at the end of the last turn \(S-1, /);
    expect(brief).toContain(said.slice(0, 40));
    expect(brief.indexOf('Said at the end')).toBeLessThan(brief.indexOf('Asked last'));
    expect(brief).toContain('After it: todo-2 "Run the tests".');
    expect(brief).toContain('go on from the files that were changed for it');
    expect(brief).toContain('left.ts half-changed');
    expect(brief).not.toMatch(/\.codex|\.agents|AGENTS\.md/);
    const [, prompt] = payloadsOf('gemini', folder);
    const request = { ...prompt?.payload, prompt: 'Go on.' };
    const other = contextIn(hook(folder, 'gemini', prompt?.event ?? '', request));
    expect(other).toMatch(/Asked before \(S-1, .*\): "Now the tests, please\."\n- Asked last \(S-3, .*\): "Go on\."/);
  });

  it('takes a conversation up again after its client died, with the steps it held', async () => {
    const folder = newRepository();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    await once(agent, 'spawn');
    const payloads = payloadsOf('claude', folder);
    for (const { event, payload } of payloads.slice(0, 5))
      hook(folder, 'claude', event, payload, { CLAUDE_PID: String(agent.pid) });
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    hook(folder, 'claude', 'SessionStart', { ...payloads[0]?.payload, source: 'resume' });
    const [, second] = ofType(journal(folder), 'session.started');
    expect(second?.body).toMatchObject({ id: 'S-2', continues: 'S-1', client: { name: 'claude' } });
    expect(folder.data('plan', 'show')['steps'][0]).toMatchObject({ key: 'todo-1', holder: { session: 'S-2' } });
  });

  it('ends a session with a snapshot, and begins another that continues it', () => {
    const folder = newRepository();
    play(folder, 'claude');
    const [first] = payloadsOf('claude', folder);
    hook(folder, 'claude', 'SessionEnd', { ...first?.payload, hook_event_name: 'SessionEnd', reason: 'other' });
    expect(folder.data('sessions')['sessions']).toMatchObject([{ id: 'S-1', status: 'completed' }]);
    const brief = contextIn(hook(folder, 'claude', 'SessionStart', { ...first?.payload, source: 'resume' }));
    expect(brief).toContain('Remember the user');
    const sessions = folder.data('sessions')['sessions'] as { id: string; continues: string | null; status: string }[];
    expect(sessions).toContainEqual(expect.objectContaining({ id: 'S-2', continues: 'S-1', status: 'active' }));
    hook(folder, 'claude', 'SessionEnd', { ...first?.payload, hook_event_name: 'SessionEnd', reason: 'other' });
    expect(folder.data('sessions')['sessions']).toContainEqual(
      expect.objectContaining({ id: 'S-2', status: 'completed' }),
    );
  });

  it('records a subagent as a session of its own, with its parent and its tokens', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const base = {
      ...start(folder),
      session_id: payloadsOf('claude', folder)[0]?.payload['session_id'],
      agent_id: 'a1',
      agent_type: 'Explore',
    };
    hook(folder, 'claude', 'SubagentStart', { ...base, hook_event_name: 'SubagentStart' });
    hook(folder, 'claude', 'PostToolUse', {
      ...base,
      hook_event_name: 'PostToolUse',
      tool_name: 'Read',
      tool_input: { file_path: join(folder.path, 'notes.md') },
      tool_use_id: 'toolu_sub',
    });
    const transcript = join(folder.path, 'agent.jsonl');
    const message = (id: string) =>
      JSON.stringify({
        type: 'assistant',
        message: {
          id,
          model: 'm',
          usage: { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 7 },
        },
      });
    writeFileSync(transcript, `${message('one')}\n${message('one')}\n${message('two')}\n`);
    hook(folder, 'claude', 'SubagentStop', {
      ...base,
      hook_event_name: 'SubagentStop',
      agent_transcript_path: transcript,
      last_assistant_message: 'Found it.',
    });
    const events = journal(folder);
    expect(ofType(events, 'session.started')[1]?.body).toMatchObject({
      id: 'S-2',
      agent: 'claude.Explore',
      parent: 'S-1',
    });
    expect(ofType(events, 'files.seen')[0]?.session).toBe('S-2');
    expect(ofType(events, 'usage.added')[0]?.body).toMatchObject({
      agent: 'claude.Explore',
      input: 210,
      output: 14,
      cached: 180,
    });
    expect(folder.data('sessions')['sessions']).toContainEqual(
      expect.objectContaining({ id: 'S-2', status: 'completed' }),
    );
    // A helper that nobody announced is none of ours.
    hook(folder, 'claude', 'SubagentStop', {
      ...base,
      agent_id: 'a9',
      hook_event_name: 'SubagentStop',
      agent_transcript_path: '',
    });
    expect(ofType(journal(folder), 'session.started')).toHaveLength(2);
  });

  it('says once that the context is nearly full, and counts tokens as the client does', () => {
    const folder = newRepository();
    play(folder, 'qwen');
    const [first, asked] = payloadsOf('qwen', folder);
    const prompt = (timestamp: string) => ({ ...asked?.payload, timestamp, prompt: 'Go on', prompt_id: timestamp });
    expect(contextIn(hook(folder, 'qwen', 'UserPromptSubmit', prompt('t1')))).toContain('78 % of the context');
    expect(hook(folder, 'qwen', 'UserPromptSubmit', prompt('t2')).out).toBe('');
    const codex = newRepository();
    play(codex, 'codex', 8);
    const rollout = join(codex.path, 'rollout.jsonl');
    const count = (input: number) =>
      `${JSON.stringify({ type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: { input_tokens: input, cached_input_tokens: 40, output_tokens: 9 }, last_token_usage: { total_tokens: 950 }, model_context_window: 1000 } } })}\n`;
    writeFileSync(rollout, count(100) + count(300));
    const stop = { ...payloadsOf('codex', codex)[8]?.payload, transcript_path: rollout };
    hook(codex, 'codex', 'Stop', stop);
    hook(codex, 'codex', 'Stop', { ...stop, turn_id: 'another' });
    expect(ofType(journal(codex), 'usage.added').map((one) => one.body)).toMatchObject([
      { agent: 'codex', input: 300, output: 9, cached: 40 },
    ]);
    const tool = { ...payloadsOf('codex', codex)[5]?.payload, tool_use_id: 'call_new', transcript_path: rollout };
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
    hook(folder, 'claude', 'SessionStart', { ...start(folder), cwd: tree }, { HOLDFAST_AGENT: 'ada' });
    expect(existsSync(join(tree, '.holdfast'))).toBe(false);
    const [session] = ofType(journal(folder), 'session.started');
    expect(session?.body).toMatchObject({ agent: 'ada', client: { name: 'claude' }, mark: { tree: 'tree' } });
  });

  it('records a stop by a rate limit as such', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const base = payloadsOf('claude', folder)[1]?.payload;
    hook(folder, 'claude', 'StopFailure', {
      ...base,
      hook_event_name: 'StopFailure',
      error: 'rate_limit',
      error_details: '429 Too Many Requests',
    });
    const [note] = ofType(journal(folder), 'note.added').filter((one) => one.body.kind === 'deviation');
    expect(note?.body.text).toContain('Stopped by a rate limit: rate_limit: 429');
  });

  it('takes secrets out of what it records', () => {
    const folder = newRepository();
    play(folder, 'claude', 1);
    const base = payloadsOf('claude', folder)[1]?.payload;
    // Put together here, so that no scanner takes this file for a leak.
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

  it('ignores files outside the workspace and what the settings leave out, and stops where capture is off', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    folder.data('capture', '--ignore-path', 'secret/**', '--ignore-command', 'vault *');
    const base = { ...payloadsOf('claude', folder)[1]?.payload, hook_event_name: 'PostToolUse' };
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
    folder.data('capture', 'off');
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, 'login.ts'), 'o5'));
    expect(hook(folder, 'claude', 'SessionStart', start(folder)).out).toBe('');
    expect(journal(folder)).toHaveLength(before);
    folder.data('capture', 'on');
    hook(folder, 'claude', 'PostToolUse', written(join(folder.path, 'login.ts'), 'o6'));
    expect(journal(folder)).toHaveLength(before + 1);
    expect(folder.fault('capture', 'off', '--agent', 'claude')).toMatchObject({ code: 'not_allowed' });
  });

  it('opens a second run only where several are active, and joins the one its session is in', () => {
    const folder = newWorkspace();
    hook(folder, 'claude', 'SessionStart', start(folder));
    expect(folder.data('runs')['runs']).toHaveLength(1);
    folder.data('init', '--title', 'Other', '--id', 'other');
    hook(folder, 'claude', 'UserPromptSubmit', {
      ...start(folder),
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go on',
    });
    expect(folder.data('runs')['runs']).toHaveLength(2);
    expect(ofType(journal(folder, '--run', 'auth'), 'note.added')).toHaveLength(1);
    hook(folder, 'codex', 'SessionStart', start(folder, 'startup', 'conversation-2'), { CLAUDECODE: '' });
    expect(folder.data('runs')['runs']).toHaveLength(3);
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

  it('is the plan where there is none, and its keys stay', () => {
    const folder = newRepository();
    write(folder, '1', ['Read', 'in_progress'], ['Write', 'pending'], ['Ship', 'pending']);
    write(folder, '2', ['Read', 'completed'], ['Write', 'in_progress'], ['Ship', 'pending']);
    expect(steps(folder)).toEqual(['todo-1 Read: completed', 'todo-2 Write: in_progress', 'todo-3 Ship: pending']);
    write(folder, '3', ['Read', 'completed'], ['Write', 'in_progress'], ['Ship it with care', 'pending']);
    expect(steps(folder)).toContain('todo-3 Ship it with care: pending');
    write(folder, '4', ['Read', 'completed'], ['Write', 'pending']);
    expect(steps(folder)).toEqual(['todo-1 Read: completed', 'todo-2 Write: pending']);
    write(folder, '5', ['Write', 'completed']);
    expect(folder.data('runs')['runs'][0]).toMatchObject({ status: 'completed' });
    write(folder, '6', ['Write', 'completed'], ['One more', 'in_progress']);
    expect(folder.data('runs')['runs'][0]).toMatchObject({ status: 'active' });
  });

  it('adds nothing to a plan that somebody made: it moves the steps it names, the rest are checkpoints or a note', () => {
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

// Run by hand over payloads that real clients have sent: HOOK_PAYLOADS=FOLDER npx vitest run test/hooks.test.ts
describe.runIf(process.env['HOOK_PAYLOADS'])('payloads of real clients', () => {
  it('are read, all of them', () => {
    const root = process.env['HOOK_PAYLOADS'] ?? '';
    const counts: Record<string, Record<string, number>> = {};
    for (const name of readdirSync(root, { recursive: true }) as string[]) {
      if (!name.endsWith('hooks.jsonl')) continue;
      for (const line of readFileSync(join(root, name), 'utf8').trim().split('\n')) {
        const { client, label, payload } = JSON.parse(line);
        const moment = dialectOf(client).read(payload.hook_event_name ?? label, payload);
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
