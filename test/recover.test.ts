import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { type Folder, newFolder, program } from './command-line.ts';
import { journal, newAgent, ofType } from './hook-player.ts';

const ID = '6f1d0c52-0000-4000-8000-000000000001';

/** A folder with a file that a conversation of Claude wrote before it was cut off, and its transcript, an hour old. */
function newPlace(more: readonly object[] = []): { folder: Folder; transcript: string } {
  const folder = newFolder();
  mkdirSync(join(folder.path, 'src'));
  writeFileSync(join(folder.path, 'src/login.ts'), 'x');
  const place = join(folder.state(), '.claude/projects', folder.path.replace(/[^A-Za-z0-9]/g, '-'));
  mkdirSync(place, { recursive: true });
  const transcript = join(place, `${ID}.jsonl`);
  const told = readFileSync(new URL('fixtures/transcripts/claude/session.jsonl', import.meta.url), 'utf8');
  const lines = more.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(transcript, told.replaceAll('/repo/app', folder.path) + lines);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(transcript, hourAgo, hourAgo);
  return { folder, transcript };
}

function hook(folder: Folder, event: string, payload: object): void {
  const input = JSON.stringify({ session_id: ID, cwd: folder.path, hook_event_name: event, ...payload });
  spawnSync(process.execPath, [program, 'hook', 'claude', event], { cwd: folder.path, env: folder.env, input });
}

const versionOf = (folder: Folder): number =>
  folder.data('status')['version'] ?? folder.data('log')['events'].at(-1).version;

describe('recover', () => {
  it('creates a run for an unrecorded conversation, and records nothing the second time', () => {
    const { folder } = newPlace();
    const done = folder.data('recover');
    expect(done).toMatchObject({ client: 'claude', conversation: ID, session: 'S-1' });
    const brief = folder.data('resume');
    expect(brief['run'].goal).toBe('Add a login form');
    expect(brief['uncertain']).toMatchObject([
      { class: 'irreversible', name: expect.stringContaining('npm run deploy') },
    ]);
    expect(brief['freshness'].previous).toMatchObject({ id: 'S-1', status: 'crashed' });
    expect(brief['nextAction'].text).toContain('Now I deploy.');
    expect(brief['text']).toContain('src/login.ts');
    expect(brief['position']).toMatchObject({ interrupted: ['todo-2'] });
    expect(folder.data('usage')['total']).toEqual({ input: 600, output: 80, cached: 160 });
    expect(folder.data('decisions')['decisions']).toMatchObject([
      { decision: 'Keep the token in a cookie', reason: 'scripts cannot read it' },
    ]);
    const before = versionOf(folder);
    expect(folder.data('recover')).toMatchObject({ session: null, added: [] });
    expect(versionOf(folder)).toBe(before);
    expect(folder.run('doctor').code).toBe(0);
  });

  it('reads a copy of a database of OpenCode under any name, and lists its conversations', () => {
    const folder = newFolder();
    folder.run('init', '--title', 'T');
    const copy = join(folder.path, 'backup.db');
    const database = openDatabase(copy, false);
    database.exec(`
      CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_updated INTEGER);
      CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
      CREATE TABLE part (id TEXT, message_id TEXT, time_created INTEGER, data TEXT);
      CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER);
      INSERT INTO session VALUES ('ses_a', NULL, '/elsewhere', 1), ('ses_b', NULL, '/elsewhere', 2);
      INSERT INTO message VALUES ('m', 'ses_b', 1, '{"role":"assistant","tokens":{"input":5,"output":2}}');
      INSERT INTO part VALUES ('p', 'm', 1, '{"type":"text","text":"The build is green."}')`);
    database.close();
    const named = ['recover', '--client', 'opencode', '--transcript', copy];
    expect(folder.fault(...named).hints.join()).toContain('`ses_a`, `ses_b`');
    expect(folder.fault(...named, '--session', 'ses_c').message).toContain('has no conversation `ses_c`');
    const { added } = folder.data(...named, '--session', 'ses_b', '--dry-run');
    expect(added).toEqual(['Tokens: 5 in, 2 out, 0 cached.', 'Last message: The build is green.']);
  });

  it('reads the files of subagents, and counts their tokens under their names', () => {
    const total = { inputTokens: 1000, outputTokens: 200, cacheReadInputTokens: 400, cacheCreationInputTokens: 0 };
    const { folder, transcript } = newPlace([{ type: 'cost-state', modelUsage: { m: total } }]);
    writeFileSync(join(folder.path, 'src/helper.ts'), 'y');
    const below = join(transcript.replace(/\.jsonl$/, ''), 'subagents');
    mkdirSync(below, { recursive: true });
    const common = { isSidechain: true, cwd: folder.path, sessionId: ID, agentId: 'a1' };
    const at = (second: number) => `2026-03-01T10:05:${String(second).padStart(2, '0')}.000Z`;
    const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
    const usage = { input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 0, output_tokens: 30 };
    const lines = [
      { ...common, type: 'user', timestamp: at(1), message: { role: 'user', content: 'Write the helper' } },
      {
        ...common,
        type: 'assistant',
        timestamp: at(2),
        message: {
          id: 'm1',
          model: 'x',
          usage,
          content: [use('t1', 'Write', { file_path: join(folder.path, 'src/helper.ts'), content: 'y' })],
        },
      },
      {
        ...common,
        type: 'user',
        timestamp: at(3),
        toolUseResult: { type: 'create', filePath: join(folder.path, 'src/helper.ts') },
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
      },
      {
        ...common,
        type: 'assistant',
        timestamp: at(4),
        message: { id: 'm2', model: 'x', usage, content: [use('t2', 'Bash', { command: 'npm publish' })] },
      },
    ];
    writeFileSync(join(below, 'agent-a1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    writeFileSync(join(below, 'agent-a1.meta.json'), '{"agentType":"explorer"}');
    const done = folder.data('recover', '--session', ID);
    expect(done['found']).toMatchObject({
      // 1400 in all, 300 of them the subagent's.
      spent: { input: 1100, output: 140, cached: 300 },
      subagents: [
        {
          agent: 'explorer',
          spent: { input: 300, output: 60, cached: 100 },
          files: [{ change: 'created' }],
          commands: [{ command: 'npm publish', outcome: 'running' }],
        },
      ],
    });
    expect(folder.data('sessions')['sessions']).toMatchObject([
      { id: 'S-1', agent: 'claude', status: 'crashed' },
      { id: 'S-2', agent: 'claude.explorer', parent: 'S-1', status: 'crashed' },
    ]);
    expect(folder.data('usage')['total']).toEqual({ input: 1400, output: 200, cached: 400 });
    expect(JSON.stringify(folder.data('usage'))).toContain('claude.explorer');
    const brief = folder.data('resume');
    expect(brief['uncertain'].map((one: { name: string }) => one.name)).toContain('npm publish');
    expect(brief['freshness'].previous).toMatchObject({ id: 'S-1' });
    expect(brief['nextAction'].text).toContain('Now I deploy.');
    expect(folder.data('recover', '--session', ID)).toMatchObject({ session: null, added: [] });
  });

  it('leaves a snapshot that is marked as reconstructed, without secrets', () => {
    const { folder } = newPlace();
    folder.data('recover');
    const snapshot = readFileSync(folder.own('snapshots/claude-1.md'), 'utf8');
    expect(snapshot).toContain('reconstructed: true');
    expect(snapshot).toContain('src/login.ts');
    expect(folder.run('log', '--json').out).not.toContain('ghp_');
    expect(folder.run('log', '--json').out).toContain('[redacted: github token]');
  });

  it('shows what it would record without recording it', () => {
    const { folder } = newPlace();
    const shown = folder.run('recover', '--dry-run').out;
    expect(shown).toContain('src/login.ts');
    expect(shown).toContain('Now I deploy.');
    expect(folder.fault('log')).toMatchObject({ code: 'not_found' });
  });

  it('names a file once, however the tools of the conversation named it', () => {
    const folder = newFolder();
    const name = `rollout-2026-03-01T10-00-00-${ID.slice(0, -1)}2.jsonl`;
    const told = readFileSync(new URL(`fixtures/transcripts/codex/${name}`, import.meta.url), 'utf8');
    const patch = '*** Begin Patch\n*** Update File: src/login.ts\n@@\n-x\n+y\n*** End Patch';
    const call = { type: 'custom_tool_call', name: 'apply_patch', call_id: 'again', input: patch };
    const output = { type: 'custom_tool_call_output', call_id: 'again', output: 'Success.' };
    const lines = [call, output].map((payload) => `${JSON.stringify({ type: 'response_item', payload })}\n`);
    writeFileSync(join(folder.path, name), told + lines.join(''));
    const { files } = folder.data('recover', '--transcript', name, '--dry-run')['found'];
    expect(files.map((one: { path: string }) => one.path)).toEqual(['/repo/app/src/login.ts']);
  });

  it('ignores files outside the workspace', () => {
    const call = { type: 'tool_use', id: 'c9', name: 'Write', input: { file_path: '/etc/hosts', content: '' } };
    const { folder } = newPlace([
      { type: 'assistant', message: { id: 'm9', content: [call] } },
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'c9', content: 'ok' }] } },
    ]);
    folder.data('recover');
    const events: { type: string; body: { artifacts: { path: string }[] } }[] = folder.data('log')['events'];
    const seen = events.filter((event) => event.type === 'files.seen').flatMap((event) => event.body.artifacts);
    expect(seen.map((artifact) => artifact.path)).toEqual(['src/login.ts']);
  });

  it('adds to a crashed session what its hooks did not see, and nothing that they saw', async () => {
    const { folder, transcript } = newPlace();
    folder.data('init', '--title', 'Login');
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    hook(folder, 'SessionStart', { source: 'startup', transcript_path: transcript });
    const write = { file_path: join(folder.path, 'src/login.ts'), content: 'x' };
    hook(folder, 'PostToolUse', { tool_name: 'Write', tool_use_id: 'c2', tool_input: write, tool_response: {} });
    hook(folder, 'PreToolUse', { tool_name: 'Bash', tool_use_id: 'c4', tool_input: { command: 'npm run deploy' } });
    delete folder.env['HOLDFAST_PID'];
    expect(folder.fault('recover', '--transcript', transcript)).toMatchObject({
      code: 'held',
      data: { session: 'S-1' },
    });

    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    const done = folder.data('recover');
    expect(done['session']).toBe('S-2');
    expect(done['added'].join('\n')).not.toContain('Files changed');
    const brief = folder.data('resume');
    expect(brief['uncertain']).toHaveLength(1);
    expect(brief['nextAction'].text).toContain('Now I deploy.');
    const events: { type: string }[] = folder.data('log')['events'];
    expect(events.filter((event) => event.type === 'files.seen')).toHaveLength(1);
    expect(folder.data('sessions')['sessions']).toMatchObject([
      { id: 'S-2', continues: 'S-1', status: 'crashed' },
      { id: 'S-1', status: 'crashed' },
    ]);
    expect(folder.data('recover', '--session', 'S-1')).toMatchObject({ session: null, added: [] });
  });

  it('counts tokens once, whether hooks or the transcript reported them', async () => {
    const { folder, transcript } = newPlace();
    const lines = readFileSync(transcript, 'utf8').trimEnd().split('\n');
    // A message may have several lines with the same figures.
    const ends = new Map<string, number>();
    for (const [index, line] of lines.entries()) {
      const { message } = JSON.parse(line);
      if (message?.usage) ends.set(message.id, index + 1);
    }
    const writeUpTo = (count: number) => writeFileSync(transcript, `${lines.slice(0, count).join('\n')}\n`);
    const agent = newAgent();
    folder.env['HOLDFAST_PID'] = agent.pid;
    folder.data('init', '--title', 'Login');
    const [first = 0, , third = 0] = ends.values();
    hook(folder, 'UserPromptSubmit', { prompt: 'Begin' });
    for (const count of [first, third]) {
      writeUpTo(count);
      hook(folder, 'Stop', { transcript_path: transcript });
    }
    hook(folder, 'UserPromptSubmit', { transcript_path: transcript, prompt: 'Deploy it' });
    delete folder.env['HOLDFAST_PID'];
    expect(folder.data('usage')['total']).toEqual({ input: 450, output: 60, cached: 120 });
    await agent.kill();
    writeUpTo(lines.length);
    expect(folder.data('recover')['added']).toContain('Tokens: 150 in, 20 out, 40 cached.');
    expect(folder.data('usage')['total']).toEqual({ input: 600, output: 80, cached: 160 });
    expect(ofType(journal(folder), 'usage.added')).toHaveLength(3);
  });

  it('does not recover a conversation that may be active unless it is named', () => {
    const { folder, transcript } = newPlace();
    utimesSync(transcript, new Date(), new Date());
    expect(folder.fault('recover')).toMatchObject({ code: 'held', data: { conversation: ID } });
    expect(folder.data('recover', '--session', ID)).toMatchObject({ session: 'S-1' });
  });

  it('lists where it looked if it finds nothing', () => {
    const folder = newFolder();
    expect(folder.fault('recover')).toMatchObject({
      code: 'not_found',
      hints: [expect.stringContaining('.claude'), expect.any(String)],
    });
    writeFileSync(join(folder.path, 'notes.txt'), 'nothing of the kind');
    expect(folder.fault('recover', '--transcript', 'notes.txt')).toMatchObject({ code: 'invalid' });
  });
});
