import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type Folder, newFolder, newWorkspace, program } from './command-line.ts';
import { followFeed } from './sse.ts';
import { startAtTerminal } from './terminal.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Serving {
  child: ChildProcess;
  url: string;
  token: string;
  data: { url: string; link: string; scope: string };
  warnings: string[];
  err(): string;
  post(operation: string, input: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Starts `holdfast serve` as a process and waits until it listens. */
async function serve(folder: Folder, ...words: string[]): Promise<Serving> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...words], {
    cwd: folder.path,
    env: folder.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let out = '';
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdout?.setEncoding('utf8');
  for await (const text of child.stdout ?? []) {
    out += text;
    if (out.includes('\n')) break;
  }
  if (!out.includes('\n')) throw new Error(`It did not start: ${out}${err}`);
  const { data, warnings = [] } = JSON.parse(out) as { data: Serving['data']; warnings?: string[] };
  const token = new URL(data.link ?? data.url).searchParams.get('token') ?? '';
  return {
    child,
    url: data.url,
    token,
    data,
    warnings,
    err: () => err,
    post: (operation, input, headers = {}) =>
      fetch(`${data.url}/api/${operation}`, {
        method: 'POST',
        body: JSON.stringify(input),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      }),
  };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  const closed = once(child, 'exit');
  child.kill(signal);
  return ((await closed) as [number | null])[0];
}

describe('holdfast serve', () => {
  it('prints a sign-in link whose secret is in no file and ends with the server', async () => {
    const folder = newWorkspace();
    const first = await serve(folder);
    expect(first.data).toMatchObject({ scope: 'write', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    const entered = await fetch(first.data.link, { redirect: 'manual' });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    const who = await fetch(`${first.url}/api/whoami`, { headers: { authorization: `Bearer ${first.token}` } });
    const { data } = (await who.json()) as { data: { expiresAt: string; workspaces: string[] } };
    expect(data.workspaces).toEqual([expect.any(String)]);
    expect(Date.parse(data.expiresAt) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const { parentPath, name } of files) {
      expect([name, readFileSync(join(parentPath, name)).includes(first.token)]).toEqual([name, false]);
    }
    expect(folder.person.data('token', 'list')['tokens']).toEqual([]);
    expect(await stop(first.child)).toBe(0);
    expect(first.err()).not.toContain(first.token);
    for (const line of first.err().trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: 'info' });

    const second = await serve(folder);
    expect(second.token).not.toBe(first.token);
    const old = { authorization: `Bearer ${first.token}` };
    expect((await second.post('status', {}, old)).status).toBe(401);
    expect((await second.post('status', {})).status).toBe(200);
  });

  it('gives the rights of a maintainer to the person at whose terminal it was started, and to nobody else', async () => {
    const folder = newWorkspace();
    const words = [process.execPath, program, 'serve', '--port', '0', '--json'];
    for (const [env, scope] of [
      [folder.env, 'maintain'],
      [{ ...folder.env, CLAUDECODE: '1' }, 'write'],
    ] as const) {
      const { line, stop } = await startAtTerminal(words, { cwd: folder.path, env });
      expect(JSON.parse(line)).toMatchObject({ data: { scope } });
      stop();
    }
  });

  it('A10, D3: signs nobody in with a token that came with the folder', async () => {
    const [folder, hostile] = [newWorkspace(), newWorkspace()];
    // The journal of someone who made tokens for it, in place of our own, and token files as version 0.1 had them.
    const planted = hostile.person.data('token', 'add', 'mallory', '--scope', 'maintain')['secret'] as string;
    for (const name of ['token', 'token-claude']) writeFileSync(folder.own(name), `${planted}\n`);
    for (const end of ['-wal', '-shm']) rmSync(folder.own(`journal.db${end}`), { force: true });
    copyFileSync(hostile.own('journal.db'), folder.own('journal.db'));
    const serving = await serve(folder);
    expect(serving.token).not.toBe(planted);
    const headers = { authorization: `Bearer ${planted}` };
    expect((await serving.post('runs', {}, headers)).status).toBe(401);
    expect((await fetch(`${serving.url}/login?token=${planted}`, { redirect: 'manual' })).status).toBe(401);
    expect((await serving.post('runs', {})).status).toBe(200);
    // For the one who made it, it is valid.
    const other = await serve(hostile);
    expect((await other.post('runs', {}, headers)).status).toBe(200);
    expect(readdirSync(hostile.state('tokens'))).toHaveLength(1);
  });

  it('ends all streams of a token when it is revoked, and sends nothing more', async () => {
    const folder = newWorkspace();
    const { url } = await serve(folder);
    const { secret } = folder.person.data('token', 'add', 'ada', '--scope', 'write');
    const kept = folder.person.data('token', 'add', 'bob', '--scope', 'read')['secret'];
    const as = (token: string, headers = {}) => ({ headers: { authorization: `Bearer ${token}`, ...headers } });
    const feed = (token: string) => fetch(`${url}/api/feed`, as(token));
    const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const mcp = (method: string, params: object, headers: Record<string, string>) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        ...as(secret, { ...types, ...headers }),
      });
    const clientInfo = { name: 'somebody', version: '1' };
    const old = { 'mcp-protocol-version': '2025-11-25' };
    const greeting = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const met = await mcp('initialize', greeting, old);
    await met.text();
    const session = { ...old, 'mcp-session-id': met.headers.get('mcp-session-id') ?? '' };
    await (await mcp('resources/subscribe', { uri: 'holdfast://status' }, session)).text();
    const listened = {
      notifications: { resourceSubscriptions: ['holdfast://status'] },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': clientInfo,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    };
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const streams = [
      await feed(secret),
      await fetch(`${url}/mcp`, as(secret, { ...session, accept: 'text/event-stream' })),
      await mcp('subscriptions/listen', listened, modern),
    ];
    expect(streams.map((stream) => stream.status)).toEqual([200, 200, 200]);
    const others = followFeed(await feed(kept));
    await others.next();
    folder.person.data('token', 'revoke', 'ada');
    const said = await Promise.all(streams.map((stream) => stream.text()));
    expect(said.join('')).not.toContain('updated');
    folder.data('note', 'for those who still listen');
    expect((await others.next()).value?.data).toContain('for those who still listen');
    expect((await feed(secret)).status).toBe(401);
    await others.return(undefined);
  });

  it('gives no maintainer rights when an agent started it', async () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_AGENT'] = 'claude';
    const serving = await serve(folder);
    expect(serving.data.scope).toBe('write');
    expect((await serving.post('note', { text: 'mine' })).status).toBe(200);
    expect((await serving.post('skip', { key: 't3', reason: 'r' })).status).toBe(403);
    expect(folder.data('log', '--limit', '1')['events']).toMatchObject([{ agent: 'claude' }]);
  });

  it('refuses another address without tokens, and warns that traffic is not encrypted', async () => {
    const folder = newWorkspace();
    expect(folder.fault('serve', '--host', '0.0.0.0', '--port', '0')).toMatchObject({ code: 'usage', exit: 2 });
    const { secret } = folder.person.data('token', 'add', 'ada', '--scope', 'read');
    const child = spawn(process.execPath, [program, 'serve', '--host', '0.0.0.0', '--port', '0'], {
      cwd: folder.path,
      env: folder.env,
    });
    started.push(child);
    let out = '';
    let err = '';
    child.stderr.on('data', (text) => {
      err += text;
    });
    for await (const text of child.stdout) {
      out += text;
      if (out.includes('Stop with')) break;
    }
    expect(out).not.toContain('token=');
    const port = /:(\d+)/.exec(out)?.[1];
    const look = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: { authorization: `Bearer ${secret}` } });
    expect(look.status).toBe(200);
    await stop(child);
    expect(err).toContain('NO TLS');
  });

  it('names the port that is in use, and finds another when none was given', async () => {
    const folder = newWorkspace();
    const first = await serve(folder);
    const port = new URL(first.url).port;
    expect(folder.fault('serve', '--port', port)).toMatchObject({ code: 'unavailable', exit: 3 });
    expect(folder.fault('serve', '--port', '70000')).toMatchObject({ code: 'invalid' });
  });

  it('needs a workspace or a store', () => {
    expect(newFolder().fault('serve', '--port', '0').code).toBe('not_found');
  });

  it('stops on a signal: feeds close, requests in progress finish', async () => {
    const serving = await serve(newWorkspace());
    const feed = followFeed(
      await fetch(`${serving.url}/api/feed`, { headers: { authorization: `Bearer ${serving.token}` } }),
    );
    await feed.next();
    const waiting = serving.post('wait', { for: 't1', timeout: 60 });
    const ready = serving.post('note', { text: 'last' });
    await ready;
    const code = stop(serving.child, 'SIGINT');
    expect((await feed.next()).value?.data).toContain('last');
    while (!(await feed.next()).done);
    expect((await waiting).status).toBeGreaterThan(0);
    expect(await code).toBe(0);
    expect(serving.err()).toContain('"message":"stopped"');
  });
});

describe('a notification that something needs a person', () => {
  it('is sent once to the address in the settings, for what is new', async () => {
    const notices: { run: string; text: string; waiting: { kind: string; id: string }[] }[] = [];
    const signed: [signature: string, body: string][] = [];
    let arrived = () => {};
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        notices.push(JSON.parse(text));
        signed.push([String(request.headers['holdfast-signature']), text]);
        response.end();
        arrived();
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const folder = newWorkspace();
    folder.data('raise', 'question', 'An old one');
    folder.data('plan', 'add', 'g', 'Deploy', '--gate', '--after', 't3');
    folder.person.data('config', 'notify', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
    await serve(folder);
    const next = () =>
      new Promise<void>((resolve) => {
        arrived = resolve;
      });
    const notified = async (...words: string[]) => {
      const arrival = next();
      folder.data(...words);
      await arrival;
      return notices.at(-1)?.waiting;
    };
    folder.data('note', 'nothing to see');
    expect(await notified('raise', 'question', 'Which <region>?\u001b[31m', '--agent', 'ada')).toEqual([
      { kind: 'question', id: 'Q-2', text: 'Which <region>?\u001b[31m' },
    ]);
    expect(notices[0]?.text).not.toContain('\u001b');
    folder.data('start', 't3', '--agent', 'ada');
    expect(await notified('complete', 't3', '--agent', 'ada')).toMatchObject([{ kind: 'gate', id: 'g' }]);
    folder.data('start', 't1', '--agent', 'ada');
    expect(await notified('fail', 't1', '--message', 'no', '--agent', 'ada')).toMatchObject([{ kind: 'failure' }]);
    expect(notices).toHaveLength(3);
    const secret = readFileSync(folder.state('notice-secret'), 'utf8').trim();
    expect(statSync(folder.state('notice-secret')).mode & 0o777).toBe(0o600);
    for (const [signature, body] of signed) {
      const [, seconds = '', hash] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
      expect(hash).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
      expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(60);
    }
    receiver.close();
  });

  it('A3: runs the program in the settings, which nothing in the working tree can name', async () => {
    const folder = newWorkspace();
    const script = "process.stdin.pipe(require('fs').createWriteStream('notified.json'))";
    expect(folder.person.run('config', 'notify', '--', process.execPath, '-e', script).code).toBe(0);
    const planted = { notify: [process.execPath, '-e', "require('fs').writeFileSync('planted', '')"] };
    mkdirSync(join(folder.path, '.holdfast'));
    for (const name of ['.holdfast/config.json', 'holdfast.json', '.git/holdfast/config.json'])
      writeFileSync(join(folder.path, name), JSON.stringify({ workspace: 'w-1', ...planted }));
    const serving = await serve(folder);
    folder.data('raise', 'question', 'Now?');
    await untilLogged(serving, 'notification sent');
    expect(JSON.parse(readFileSync(join(folder.path, 'notified.json'), 'utf8'))).toMatchObject({
      run: 'auth',
      waiting: [{ kind: 'question', id: 'Q-1', text: 'Now?' }],
    });
    await stop(serving.child);
    expect(existsSync(join(folder.path, 'planted'))).toBe(false);
  });
});

async function untilLogged(serving: Serving, text: string): Promise<void> {
  while (!serving.err().includes(text)) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('several servers on one PostgreSQL', () => {
  it('act as one: each sends what the other records, and nothing acknowledged is lost when one is killed under load', async () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_STORE'] = inject('postgresUrl');
    const run = `team-${process.pid}-${Date.now()}`;
    folder.data('init', '--title', 'Team', '--id', run);
    const servers = [await serve(folder), await serve(folder)] as const;
    const [doomed, lasting] = servers;
    const { secret } = folder.person.data('token', 'add', run, '--scope', 'write');
    const headers = { 'holdfast-run': run, authorization: `Bearer ${secret}` };
    const acknowledged = new Set<string>();
    let isOver = false;
    const end = 'the end';

    // Writers switch to the other server when theirs is gone, and retry what was not acknowledged.
    const write = async (writer: number): Promise<void> => {
      let at = writer % 2;
      for (let count = 0; !isOver; count++) {
        const text = `w${writer}-${count}`;
        for (;;) {
          try {
            const server = servers[at] as Serving;
            const response = await server.post('note', { text }, { ...headers, 'idempotency-key': text });
            if (response.status === 200) {
              acknowledged.add(text);
              break;
            }
            await response.text();
          } catch {
            at = 1;
          }
        }
      }
    };
    const read = async (seen: string[]): Promise<void> => {
      let at = 0;
      let last = 'beginning';
      while (!seen.includes(end)) {
        try {
          const server = servers[at] as Serving;
          const query = last === 'beginning' ? '?after=beginning&' : '?';
          const response = await fetch(`${server.url}/api/feed${query}run=${run}`, {
            headers: {
              authorization: `Bearer ${secret}`,
              ...(last === 'beginning' ? {} : { 'last-event-id': last }),
            },
          });
          for await (const { id, event, data } of followFeed(response)) {
            if (id !== null) last = id;
            if (event !== 'events') continue;
            for (const one of JSON.parse(data).events) if (one.type === 'note.added') seen.push(one.body.text);
            if (seen.includes(end)) break;
          }
        } catch {
          at = 1;
        }
      }
    };
    const seen: string[] = [];
    const reader = read(seen);
    const writers = [0, 1, 2, 3].map(write);
    while (acknowledged.size < 60) await new Promise((resolve) => setTimeout(resolve, 5));
    doomed.child.kill('SIGKILL');
    const atDeath = acknowledged.size;
    while (acknowledged.size < atDeath + 60) await new Promise((resolve) => setTimeout(resolve, 5));
    isOver = true;
    await Promise.all(writers);
    expect((await lasting.post('note', { text: end }, headers)).status).toBe(200);
    await reader;

    const recorded = folder
      .data('log', '--run', run, '--limit', '100000')
      ['events'].filter((event: { type: string }) => event.type === 'note.added')
      .map((event: { body: { text: string } }) => event.body.text);
    expect(new Set(recorded).size).toBe(recorded.length);
    for (const text of acknowledged) expect(recorded).toContain(text);
    expect(seen.slice().sort()).toEqual(recorded.slice().sort());
    expect(folder.data('doctor', '--run', run)).toMatchObject({ findings: [] });
  });
});
