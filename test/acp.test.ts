import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Folder, newFolder, program } from './command-line.ts';
import { hook, journal, ofType, startOf } from './hook-player.ts';

const agent = fileURLToPath(new URL('./fixtures/acp/agent.mjs', import.meta.url));
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** An editor that has started the proxy in front of the agent. */
function startEditor(folder: Folder, session: string, env: Record<string, string> = {}) {
  const received = join(folder.path, `received-${session}`);
  writeFileSync(received, '');
  const child = spawn(process.execPath, [program, 'acp', '--', process.execPath, agent], {
    cwd: folder.path,
    env: { ...folder.env, RECEIVED: received, SESSION: session, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  open.push(() => child.kill('SIGKILL'));
  let out = '';
  let sent = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
    for (const look of waiting) look();
  });
  const send = (text: string): void => {
    sent += text;
    child.stdin.write(text);
  };
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (out.includes(text)) resolve();
      };
      waiting.add(look);
      child.on('close', () => reject(new Error(`The proxy ended before ${text}: ${out}`)));
      look();
    });
  const request = (id: number, method: string, params: object): void =>
    send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return {
    child,
    send,
    until,
    output: () => out,
    sent: () => sent,
    received: () => readFileSync(received, 'utf8'),
    async begin() {
      request(1, 'initialize', { protocolVersion: 1 });
      await until('"potter"');
      request(2, 'session/new', { cwd: folder.path, mcpServers: [] });
      await until('"sessionId"');
    },
    prompt: (text: string, id = 3) =>
      request(id, 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] }),
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}

/** The text that the agent got before the words of the prompt. */
function briefIn(received: string): string | null {
  const line = received.split('\n').find((one) => one.includes('"session/prompt"')) ?? '{}';
  const blocks = (JSON.parse(line) as { params: { prompt: { text: string }[] } }).params.prompt;
  return blocks.length > 1 ? (blocks[0]?.text ?? null) : null;
}

describe('the proxy', () => {
  it('passes every byte on and records the work', async () => {
    const folder = newFolder();
    const editor = startEditor(folder, 'a');
    await editor.begin();
    const odd = '{"jsonrpc":"2.0",   "method":"_x/y", "params":{"n":12345678901234567890}}\nno json ü\n';
    editor.send(odd);
    editor.prompt('Make a bowl');
    await editor.until('end_turn');
    await editor.close();
    expect(editor.child.exitCode).toBe(0);
    expect(editor.received()).toBe(editor.sent());
    expect(editor.output()).toContain('{ "jsonrpc":"2.0",  "id":1, "result":');
    expect(editor.output()).toContain('not JSON é\n{"jsonrpc":"2.0","method":"x/unknown","params":{"big":1}}\n');
    const events = journal(folder);
    expect(ofType(events, 'session.started')).toMatchObject([
      { body: { agent: 'potter', client: { name: 'acp', id: 'a' } } },
    ]);
    expect(ofType(events, 'turn.began')).toMatchObject([{ body: { kind: 'request', request: 'Make a bowl' } }]);
    expect(ofType(events, 'files.seen')).toMatchObject([
      { body: { artifacts: [{ path: 'bowl.txt', change: 'created' }] } },
    ]);
    expect(ofType(events, 'effect.began')).toMatchObject([{ body: { name: 'kiln fire --to 1060' } }]);
    expect(ofType(events, 'effect.ended')).toMatchObject([{ body: { outcome: 'succeeded', exitCode: 0 } }]);
    expect(ofType(events, 'turn.ended')).toMatchObject([{ body: { said: 'The bowl is fired.' } }]);
    expect(ofType(events, 'usage.added')).toMatchObject([{ body: { input: 120, output: 10, cached: 100 } }]);
    expect(ofType(events, 'step.completed')).toHaveLength(1);
    expect(ofType(events, 'session.ended')).toHaveLength(1);
  });

  it('gives the brief to the next session after a kill in a command, and to one only', async () => {
    const folder = newFolder();
    const first = startEditor(folder, 'a');
    await first.begin();
    first.prompt('Make a bowl, hang');
    await first.until('kiln fire');
    // Recorded beside the messages: wait for what this test is about.
    while (!folder.run('log').out.includes('kiln fire')) await new Promise((resolve) => setImmediate(resolve));
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    expect(briefIn(first.received())).toBeNull();

    const second = startEditor(folder, 'b');
    await second.begin();
    second.prompt('continue');
    await second.until('end_turn');
    second.prompt('And now a cup', 4);
    await second.until('"id":4');
    await second.close();
    expect(briefIn(second.received())).toContain('Uncertain: X-1 "kiln fire --to 1060" began');
    const prompts = second
      .received()
      .split('\n')
      .filter((line) => line.includes('session/prompt'));
    expect(prompts[1]).toBe(
      second
        .sent()
        .split('\n')
        .find((line) => line.includes('And now a cup')),
    );
  });

  it('records nothing where a hook of the client reports the same conversation', async () => {
    const folder = newFolder();
    hook(folder, 'claude', 'SessionStart', startOf(folder, 'startup', 'a'));
    const editor = startEditor(folder, 'a');
    await editor.begin();
    editor.prompt('Make a bowl');
    await editor.until('end_turn');
    await editor.close();
    expect(folder.data('runs', '--all')['runs']).toEqual([]);
  });

  it('passes messages on while the store is away, and ends with the code of the agent', async () => {
    const folder = newFolder();
    const editor = startEditor(folder, 'a', { HOLDFAST_STORE: 'postgres://nobody@127.0.0.1:1/none' });
    await editor.begin();
    editor.prompt('Make a bowl');
    await editor.until('end_turn');
    expect(editor.received()).toBe(editor.sent());
    await editor.close();
    const refused = folder.run('acp', '--', 'no-such-agent-here');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('could not be started')]);
  });
});
