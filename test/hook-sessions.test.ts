import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientNames } from '../src/clients/index.ts';
import { type Folder, program } from './command-line.ts';
import {
  contextIn,
  hook,
  inputsOf,
  journal,
  newAgent,
  newRepository,
  ofType,
  play,
  startOf,
  turnOf,
} from './hook-player.ts';

/** A session whose client is killed in its turn. */
async function cutOff(folder: Folder, client: string): Promise<void> {
  const agent = newAgent();
  for (const { event, input } of inputsOf(client, folder).slice(0, 6))
    hook(folder, client, event, input, { HOLDFAST_PID: agent.pid });
  await agent.kill();
}

describe('a hook', () => {
  it('gives the brief again after a compaction, as a continuation', () => {
    const folder = newRepository();
    play(folder, 'codex');
    const input = inputsOf('codex', folder)[0]?.input;
    const compacted = contextIn(hook(folder, 'codex', 'SessionStart', { ...input, source: 'compact' }));
    expect(compacted).toContain('the work of this session, after compaction.');
    expect(compacted).toMatch(/^Run .*: this session \(S-1\), between turns\./m);
    expect(compacted).toContain('Remember the user');
    expect(ofType(journal(folder), 'session.started')).toHaveLength(1);
  });

  it('gives the brief with the next prompt after a compaction if the client accepts it only there', () => {
    const folder = newRepository();
    play(folder, 'copilot');
    const [, asked] = inputsOf('copilot', folder);
    const again = { ...asked?.input, timestamp: 1794771999000, prompt: 'And now?' };
    expect(hook(folder, 'copilot', 'userPromptSubmitted', again).out).toBe('');
    const compact = { ...again, timestamp: 1794771999100, trigger: 'auto' };
    expect(hook(folder, 'copilot', 'preCompact', compact).out).toBe('');
    const next = hook(folder, 'copilot', 'userPromptSubmitted', { ...again, timestamp: 1794771999200 });
    expect(next.answer).toEqual({ additionalContext: expect.stringContaining('after compaction') });
    expect(hook(folder, 'copilot', 'userPromptSubmitted', { ...again, timestamp: 1794771999300 }).out).toBe('');
  });

  it('detects a compaction of Gemini, which it announces before every request, in the transcript', () => {
    const folder = newRepository();
    let transcript = join(folder.path, 'session.jsonl');
    const tokens = { input: 50, output: 5, cached: 10, thoughts: 2, tool: 0, total: 57 };
    writeFileSync(transcript, `${JSON.stringify({ id: 'm1', type: 'gemini', content: 'x', tokens })}\n`);
    const tell = (event: string, timestamp: string, more: Record<string, unknown> = {}) => {
      const base = { session_id: 'gemini-1', cwd: folder.path, transcript_path: transcript, hook_event_name: event };
      return contextIn(hook(folder, 'gemini', event, { ...base, timestamp, ...more }));
    };
    expect(tell('BeforeAgent', '2026-11-15T20:00:01.000Z', { prompt: 'Begin' })).toBe('');
    tell('PreCompress', '2026-11-15T20:00:02.000Z', { trigger: 'auto' });
    tell('AfterAgent', '2026-11-15T20:00:03.000Z', { prompt: 'Begin', prompt_response: 'Yes' });
    expect(tell('BeforeAgent', '2026-11-15T20:00:09.000Z', { prompt: 'Go on' })).toBe('');
    appendFileSync(transcript, `${JSON.stringify({ $set: { messages: [] } })}\n`);
    tell('AfterAgent', '2026-11-15T20:00:10.000Z', { prompt: 'Go on', prompt_response: 'Yes' });
    expect(tell('BeforeAgent', '2026-11-15T20:00:19.000Z', { prompt: 'And on' })).toContain('after compaction');
    // A conversation that is resumed in another minute has another file at first.
    transcript = join(folder.path, 'session-later.jsonl');
    expect(tell('BeforeAgent', '2026-11-15T20:01:19.000Z', { prompt: 'Still on' })).toContain('after compaction');
    // One prompt that two hook files report at once is answered once.
    expect(tell('BeforeAgent', '2026-11-15T20:01:19.000Z', { prompt: 'Still on' })).toBe('');
    expect(tell('BeforeAgent', '2026-11-15T20:01:29.000Z', { prompt: 'Go on then' })).toBe('');
    expect(ofType(journal(folder), 'usage.added').map((one) => one.body)).toMatchObject([
      { input: 50, output: 7, cached: 10 },
    ]);
  });

  it('answers a client that is started again a moment later, and no process twice', async () => {
    const folder = newRepository();
    await cutOff(folder, 'codex');
    const begin = (pid: number): string =>
      contextIn(hook(folder, 'claude', 'SessionStart', startOf(folder), { HOLDFAST_PID: String(pid) }));
    expect(begin(process.pid)).toContain('Holdfast record of');
    expect(begin(process.pid)).toBe('');
    expect(begin(process.ppid)).toContain('Holdfast record of');
  });

  it('answers once when one client runs two hook files, and records one session', async () => {
    const folder = newRepository();
    await cutOff(folder, 'codex');
    const own = inputsOf('copilot', folder);
    const session = own[0]?.input['sessionId'] as string;
    const first = hook(folder, 'copilot', 'sessionStart', own[0]?.input);
    // The same moment through the file of Claude Code, which Copilot reads too.
    const second = hook(
      folder,
      'claude',
      'SessionStart',
      { ...startOf(folder, 'new', session) },
      { COPILOT_CLI: '1', CLAUDECODE: '' },
    );
    expect([first.answer !== null, second.out]).toEqual([true, '']);
    const tool = own.find(({ input }) => input['toolName'] === 'bash');
    hook(folder, 'copilot', 'postToolUse', tool?.input);
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
    const events = journal(folder).filter((one) => one.agent === 'copilot');
    expect(ofType(events, 'session.started')).toHaveLength(1);
    expect(ofType(events, 'effect.began')).toHaveLength(1);
  });

  it('leaves an effect without an end when the agent is killed, and shows it to the next agent, of another client', async () => {
    const folder = newRepository();
    const agent = newAgent();
    const env = { CLAUDE_PID: agent.pid };
    for (const { event, input } of inputsOf('claude', folder).slice(0, 6)) hook(folder, 'claude', event, input, env);
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
      ...inputsOf('claude', folder)[7]?.input,
      tool_input: { command: 'git push origin main' },
      tool_use_id: 'toolu_last',
    };
    hook(folder, 'claude', 'PreToolUse', deploy, env);
    await agent.kill();

    const brief = contextIn(hook(folder, 'codex', 'SessionStart', inputsOf('codex', folder)[0]?.input));
    expect(brief).toMatch(/^Uncertain: X-\d+ \(irreversible kind\) "git push origin main" began /m);
    expect(brief).toContain('no process of it was found on this machine now');
    expect(brief).toContain('Remember the user');
    expect(brief).toContain('A signed cookie');
    // Opening a client records nothing; its first prompt does.
    expect(ofType(journal(folder), 'session.ended')).toEqual([]);
    const prompt = { ...inputsOf('codex', folder)[1]?.input, prompt: 'continue' };
    expect(hook(folder, 'codex', 'UserPromptSubmit', prompt).out).toBe('');
    const events = journal(folder);
    expect(ofType(events, 'session.ended')).toMatchObject([{ body: { id: 'S-1', reason: 'crashed' } }]);
    expect(ofType(events, 'turn.began').at(-1)).toMatchObject({ session: 'S-2', body: { kind: 'continuation' } });
    expect(ofType(events, 'snapshot.taken').at(-1)?.body).toMatchObject({ session: 'S-1', reconstructed: true });
    expect(folder.data('runs')['runs']).toHaveLength(1);

    // The same entry on the next agent's list is the same step, taken over.
    hook(folder, 'codex', 'PostToolUse', inputsOf('codex', folder)[2]?.input);
    const [first] = folder.data('plan', 'show')['steps'];
    expect(first).toMatchObject({ key: 'todo-1', status: 'in_progress', holder: { agent: 'codex' } });
  });

  it.each(clientNames)(
    'treats a session of %s without a reported end as ended if its turn was over',
    async (client) => {
      const folder = newRepository();
      const agent = newAgent();
      const env = { HOLDFAST_PID: agent.pid };
      for (const { event, input } of turnOf(client, folder))
        hook(folder, client, event, 'pid' in input ? { ...input, pid: Number(agent.pid) } : input, env);
      await agent.kill();
      const other = client === 'codex' ? 'claude' : 'codex';
      const brief = contextIn(hook(folder, other, 'SessionStart', inputsOf(other, folder)[0]?.input));
      expect(brief).toContain('Remember the user');
      expect(brief).not.toContain('crashed');
      folder.data('supervise');
      expect(ofType(journal(folder), 'session.ended')).toMatchObject([
        { body: { id: 'S-1', reason: 'completed', unannounced: true } },
      ]);
      const { out } = folder.run('sessions');
      expect(out).toMatch(/ended (just now|.+ ago) \(no end reported\)/);
    },
  );

  it('gives a conversation one session when Copilot reports the request before the start, after a process that only compacted', async () => {
    const folder = newRepository();
    play(folder, 'copilot');
    const [start, prompt] = inputsOf('copilot', folder).map(({ input }) => input);
    hook(folder, 'copilot', 'sessionEnd', { ...start, reason: 'complete' });
    const compacting = newAgent();
    hook(folder, 'copilot', 'preCompact', { ...start, trigger: 'manual' }, { HOLDFAST_PID: compacting.pid });
    await compacting.kill();
    hook(folder, 'copilot', 'userPromptSubmitted', { ...prompt, timestamp: 1794771999000, prompt: 'And now?' });
    hook(folder, 'copilot', 'sessionStart', { ...start, source: 'resume', initialPrompt: 'And now?' });
    const events = journal(folder);
    expect(ofType(events, 'session.started').map(({ body }) => [body.id, body.continues ?? null])).toEqual([
      ['S-1', null],
      ['S-2', 'S-1'],
    ]);
    expect(ofType(events, 'session.ended').map(({ body }) => [body.id, body.reason])).toEqual([['S-1', 'completed']]);
    expect(ofType(events, 'turn.began').at(-1)).toMatchObject({ session: 'S-2', body: { request: 'And now?' } });
  });

  it('gives a conversation one session when two hooks of its client run at the same moment', async () => {
    for (let time = 0; time < 4; time++) {
      const folder = newRepository();
      folder.data('init', '--title', 'Race', '--id', 'race');
      const first = inputsOf('copilot', folder).slice(0, 2);
      const ran = first.map(async ({ event, input }) => {
        const child = spawn(process.execPath, [program, 'hook', 'copilot', event], {
          cwd: folder.path,
          env: { ...folder.env, COPILOT_CLI: '1' },
          stdio: ['pipe', 'ignore', 'ignore'],
        });
        child.stdin.end(JSON.stringify(input));
        await once(child, 'exit');
      });
      await Promise.all(ran);
      expect(ofType(journal(folder), 'session.started')).toHaveLength(1);
      expect(ofType(journal(folder), 'turn.began')).toMatchObject([{ session: 'S-1' }]);
    }
  });

  it('does not treat a session with an open request as ended', async () => {
    const folder = newRepository();
    const agent = newAgent();
    for (const { event, input } of inputsOf('gemini', folder).slice(0, 2))
      hook(folder, 'gemini', event, input, { HOLDFAST_PID: agent.pid });
    await agent.kill();
    expect(folder.data('supervise')).toMatchObject({ crashed: [{ session: 'S-1' }], ended: [] });
  });

  it('leaves a command in the background open when its turn ends, and names it', () => {
    const folder = newRepository();
    const [start, prompt] = inputsOf('claude', folder).map(({ input }) => input);
    hook(folder, 'claude', 'SessionStart', start);
    hook(folder, 'claude', 'UserPromptSubmit', prompt);
    const tool_input = { command: 'npm run dev', run_in_background: true };
    const dev = { ...prompt, tool_name: 'Bash', tool_input, tool_use_id: 'toolu_dev' };
    hook(folder, 'claude', 'PreToolUse', { ...dev, hook_event_name: 'PreToolUse' });
    const started = { stdout: '', backgroundTaskId: 'b1' };
    hook(folder, 'claude', 'PostToolUse', { ...dev, hook_event_name: 'PostToolUse', tool_response: started });
    const stop = { ...prompt, hook_event_name: 'Stop', last_assistant_message: 'It runs.' };
    hook(folder, 'claude', 'Stop', { ...stop, background_tasks: [{ id: 'b1' }] });
    const events = journal(folder);
    expect(ofType(events, 'effect.began')).toMatchObject([{ body: { id: 'X-1', background: true } }]);
    expect(ofType(events, 'effect.ended')).toEqual([]);
    expect(ofType(events, 'turn.ended')).toMatchObject([{ body: { outcome: 'done', background: ['X-1'] } }]);
    expect(folder.data('status')['standing']).toMatchObject({ word: 'open', why: 'a background command' });
  });

  it('shows the next session the last request, the last message and the next action, and no installed files', async () => {
    const folder = newRepository();
    const agent = newAgent();
    const env = { CLAUDE_PID: agent.pid };
    const inputs = inputsOf('claude', folder);
    for (const { event, input } of inputs) hook(folder, 'claude', event, input, env);
    const stop = inputs.at(-1)?.input;
    const asked = { hook_event_name: 'UserPromptSubmit', prompt: 'Now the tests, please.', prompt_id: 'another' };
    hook(folder, 'claude', 'UserPromptSubmit', { ...stop, ...asked }, env);
    writeFileSync(join(folder.path, 'left.ts'), 'half');
    await agent.kill();
    folder.data('install', 'codex', '--project');
    const brief = contextIn(hook(folder, 'codex', 'SessionStart', inputsOf('codex', folder)[0]?.input));
    expect(brief).toMatch(/^Asked last \(.*\): "Now the tests, please\."$/m);
    const said = String(stop?.['last_assistant_message']);
    expect(brief).toMatch(/^Said at the end of the turn before \(/m);
    expect(brief).toContain(said.slice(0, 40));
    expect(brief).toContain('in progress: "Remember the user"; left: "Run the tests".');
    expect(brief).toContain('not by a recorded edit: "left.ts" new, 1 line.');
    expect(brief).toContain('Next: "Remember the user" was in progress.');
    expect(brief).not.toMatch(/\.codex|\.agents|AGENTS\.md/);
    const [, prompt] = inputsOf('gemini', folder);
    const request = { ...prompt?.input, prompt: 'Go on.' };
    const other = contextIn(hook(folder, 'gemini', prompt?.event ?? '', request));
    expect(other).toContain('the work this session continues');
    expect(other).toContain('not by a recorded edit: "left.ts" new, 1 line.');
    expect(other).toMatch(/^Asked last \(.*\): "Now the tests, please\."$/m);
  });

  it('continues a conversation after its client died, with the steps it held', async () => {
    const folder = newRepository();
    const agent = newAgent();
    const inputs = inputsOf('claude', folder);
    for (const { event, input } of inputs.slice(0, 5)) hook(folder, 'claude', event, input, { CLAUDE_PID: agent.pid });
    await agent.kill();
    const news = contextIn(hook(folder, 'claude', 'SessionStart', { ...inputs[0]?.input, source: 'resume' }));
    expect(news).toContain('news since the last turn of this conversation');
    hook(folder, 'claude', 'UserPromptSubmit', { ...inputs[1]?.input, prompt: 'And the tests', prompt_id: 'p2' });
    const [, second] = ofType(journal(folder), 'session.started');
    expect(second?.body).toMatchObject({ id: 'S-2', continues: 'S-1', client: { name: 'claude' } });
    expect(folder.data('plan', 'show')['steps'][0]).toMatchObject({ key: 'todo-1', holder: { session: 'S-2' } });
  });

  it('ends a session with a snapshot, and starts another that continues it', () => {
    const folder = newRepository();
    play(folder, 'claude');
    const [first] = inputsOf('claude', folder);
    hook(folder, 'claude', 'SessionEnd', { ...first?.input, hook_event_name: 'SessionEnd', reason: 'other' });
    expect(folder.data('sessions')['sessions']).toMatchObject([{ id: 'S-1', status: 'completed' }]);
    // What the conversation did itself is still in its context.
    expect(hook(folder, 'claude', 'SessionStart', { ...first?.input, source: 'resume' }).out).toBe('');
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Something else', prompt_id: 'p2' };
    hook(folder, 'claude', 'UserPromptSubmit', { ...first?.input, ...prompt });
    const sessions = folder.data('sessions')['sessions'] as { id: string; continues: string | null; status: string }[];
    expect(sessions).toContainEqual(expect.objectContaining({ id: 'S-2', continues: 'S-1', status: 'active' }));
    hook(folder, 'claude', 'SessionEnd', { ...first?.input, hook_event_name: 'SessionEnd', reason: 'other' });
    expect(folder.data('sessions')['sessions']).toContainEqual(
      expect.objectContaining({ id: 'S-2', status: 'completed' }),
    );
  });

  it('records a subagent as a session of its own, with its parent and its tokens', () => {
    const folder = newRepository();
    play(folder, 'claude', 2);
    const base = {
      ...startOf(folder),
      session_id: inputsOf('claude', folder)[0]?.input['session_id'],
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
    // A helper without a reported start is ignored.
    hook(folder, 'claude', 'SubagentStop', {
      ...base,
      agent_id: 'a9',
      hook_event_name: 'SubagentStop',
      agent_transcript_path: '',
    });
    expect(ofType(journal(folder), 'session.started')).toHaveLength(2);
  });
});
