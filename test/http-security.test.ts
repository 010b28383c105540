import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';

const { Fault } = (await import('../dist/lib/core/index.js' as string)) as typeof import('../src/core/index.ts');
const { listen } = (await import('../dist/lib/http/server.js' as string)) as typeof import('../src/http/server.ts');

function versionOf(folder: ReturnType<typeof newWorkspace>): number {
  return folder.data('log', '--limit', '1')['version'];
}

async function codeOf(response: Response): Promise<[number, string | undefined]> {
  const body = (await response.json()) as { fault?: { code: string } };
  return [response.status, body.fault?.code];
}

describe('a request is refused', () => {
  it('without a token, with a wrong one, or with one in the wrong place', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const before = versionOf(folder);
    const secret = server.person;
    const tries: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${secret.slice(0, -1)}` },
      { authorization: `Bearer ${secret}x` },
      { authorization: `Basic ${secret}` },
      { authorization: 'Bearer ' },
      { cookie: `holdfast=${secret}` },
      { cookie: `holdfast_4177=${secret.slice(1)}` },
      { 'x-token': secret },
    ];
    for (const headers of tries) {
      const response = await server.post('note', { text: 'x' }, { headers });
      expect([headers, await codeOf(response)]).toEqual([headers, [401, 'not_allowed']]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect((await server.send(`/api/status?token=${secret}`)).status).toBe(401);
    expect((await server.send('/api/feed')).status).toBe(401);
    expect((await server.send('/api/no.such')).status).toBe(401);
    expect(versionOf(folder)).toBe(before);
    await server.close();
  });

  it('if its scope is too narrow, at every interface', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const reader = server.tokenFor('person', 'ada', 'read');
    const writer = server.tokenFor('person', 'bob', 'write');
    const agent = server.agent('codex');
    folder.data('plan', 'add', 'g', 'Gated', '--gate');
    const before = versionOf(folder);
    const tries: [string, string, unknown][] = [
      [reader, 'note', { text: 'x' }],
      [reader, 'gate', { key: 'g', state: 'open' }],
      [writer, 'gate', { key: 'g', state: 'open' }],
      [agent, 'gate', { key: 'g', state: 'open' }],
      [agent, 'skip', { key: 't3', reason: 'r' }],
      [writer, 'erase', { target: '1', reason: 'r' }],
      [writer, 'token.add', { name: 'eve', scope: 'maintain' }],
      [agent, 'token.list', {}],
      [writer, 'token.revoke', { name: 'eve' }],
    ];
    for (const [token, operation, input] of tries) {
      expect([operation, await codeOf(await server.post(operation, input, { token }))]).toEqual([
        operation,
        [403, 'not_allowed'],
      ]);
    }
    expect((await server.post('status', {}, { token: reader })).status).toBe(200);
    expect((await server.post('resume', {}, { token: reader })).status).toBe(200);
    expect(versionOf(folder)).toBe(before);
    expect((await server.post('gate', { key: 'g', state: 'open' }, { token: server.person })).status).toBe(200);
    expect(folder.person.fault('token', 'add', 'x', '--scope', 'maintain', '--agent').code).toBe('usage');
    folder.env['HOLDFAST_AGENT'] = 'claude';
    for (const words of [['add', 'x', '--scope', 'read'], ['list'], ['revoke', 'x']])
      expect(folder.person.fault('token', ...words).code).toBe('not_allowed');
    await server.close();
  });

  it('if it may write, but a rule leaves the action to maintainers', async () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'ada');
    const server = openTestServer(folder.path);
    // Anyone may call release, but only a person may release a step that another agent holds.
    const writer = server.tokenFor('person', 'bob', 'write');
    expect(await codeOf(await server.post('release', { key: 't1' }, { token: writer }))).toEqual([409, 'held']);
    expect((await server.post('release', { key: 't1' }, { token: server.person })).status).toBe(200);
    await server.close();
  });

  it('if its token was just revoked by another process', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const { secret: token } = folder.person.data('token', 'add', 'ada', '--scope', 'write');
    expect((await server.post('note', { text: 'before' }, { token })).status).toBe(200);
    expect(folder.person.data('token', 'list')['tokens']).toMatchObject([{ name: 'ada', usedAt: expect.any(String) }]);
    expect(folder.person.run('token', 'list', '--json').out).not.toMatch(/hft?_|hash/);
    folder.person.data('token', 'revoke', 'ada');
    expect((await server.post('note', { text: 'after' }, { token })).status).toBe(401);
    expect(folder.data('search', 'after')['results']).toEqual([]);
    expect(folder.person.fault('token', 'revoke', 'ada').code).toBe('not_found');
    await server.close();
  });

  it('from a page of another site, or for a host that is not ours', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const token = server.person;
    const before = versionOf(folder);
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'http://127.0.0.1:9999' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    ] as Record<string, string>[]) {
      const response = await server.post('note', { text: 'x' }, { token, headers });
      expect([headers, await codeOf(response)]).toEqual([headers, [403, 'not_allowed']]);
    }
    for (const name of ['evil.example:4177', 'localhost.evil.example', '10.0.0.1', '127.0.0.1.evil.example']) {
      const init = { method: 'POST', body: '{"text":"x"}' };
      const headers = { 'content-type': 'application/json' };
      const response = await server.send(`http://${name}/api/note`, init, { token, headers });
      expect([name, await codeOf(response)]).toEqual([name, [421, 'not_allowed']]);
    }
    expect(versionOf(folder)).toBe(before);
    for (const name of ['localhost:4177', '[::1]:4177', '127.0.0.1'])
      expect((await server.send(`http://${name}/api/status`, {}, { token })).status).toBe(200);
    const origin = { origin: 'http://127.0.0.1:4177', 'sec-fetch-site': 'same-origin' };
    expect((await server.post('note', { text: 'ours' }, { token, headers: origin })).status).toBe(200);
    const named = openTestServer(folder.path, { names: ['holdfast.example.com'] });
    expect((await named.send('http://holdfast.example.com/health')).status).toBe(200);
    await Promise.all([server.close(), named.close()]);
  });

  it('if its body is not a JSON object, too large, or too slow', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path, { limits: { bodyMs: 50 } });
    const token = server.person;
    const before = versionOf(folder);
    const post = (body: string | ReadableStream, type = 'application/json') =>
      server.send('/api/note', { method: 'POST', body, duplex: 'half' } as RequestInit, {
        token,
        headers: { 'content-type': type },
      });
    expect(await codeOf(await post('{"text":'))).toEqual([400, 'invalid']);
    expect(await codeOf(await post('[]'))).toEqual([400, 'invalid']);
    expect(await codeOf(await post('null'))).toEqual([400, 'invalid']);
    expect(await codeOf(await post('{"__proto__":{"text":"x"}}'))).toEqual([400, 'invalid']);
    expect(await codeOf(await post('text=x', 'application/x-www-form-urlencoded'))).toEqual([415, 'usage']);
    expect(await codeOf(await post('{"text":"x"}', 'text/plain'))).toEqual([415, 'usage']);
    const nested = (depth: number) => `{"text":"[[[[\\"{{","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(await (await post(nested(64))).text()).toContain('deeper than 64');
    // As deep as allowed: what is refused is the field that is not known.
    expect(await (await post(nested(63))).text()).toContain('is not known here');
    const large = JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) });
    expect(await codeOf(await post(large))).toEqual([413, 'invalid']);
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(256 * 1024).fill(32)),
    });
    expect(await codeOf(await post(endless))).toEqual([413, 'invalid']);
    const silent = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) });
    expect(await codeOf(await post(silent))).toEqual([408, 'unavailable']);
    expect(versionOf(folder)).toBe(before);
    await server.close();
  });

  it('above the rate limit', async () => {
    const folder = newWorkspace();
    const slow = { perSecond: 0.01, burst: 3 };
    const server = openTestServer(folder.path, { limits: { perToken: slow, strangers: slow } });
    const statuses = async (token: string | undefined) => {
      const all: number[] = [];
      for (let count = 0; count < 5; count++) all.push((await server.post('runs', {}, { token })).status);
      return all;
    };
    expect(await statuses(server.agent('ada'))).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(server.agent('bob'))).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(undefined)).toEqual([401, 401, 401, 429, 429]);
    const refused = await server.post('runs', {}, { token: server.agent('ada') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await server.close();
  });

  it('by its token first: what one token sends too much leaves others at the same address alone', async () => {
    const rare = { perSecond: 0.01, burst: 3 };
    const limits = { perToken: rare, perAddress: { perSecond: 0.01, burst: 6 } };
    const server = openTestServer(newWorkspace().path, { limits });
    const ask = async (name: string) => (await server.post('runs', {}, { token: server.agent(name) })).status;
    for (let count = 0; count < 20; count++) await ask('ada');
    expect([await ask('bob'), await ask('bob'), await ask('bob')]).toEqual([200, 200, 200]);
    expect(await ask('eve')).toBe(429);
    await server.close();
  });
});

describe('every response', () => {
  it('forbids what a page of the dashboard does not need, and is not cached', async () => {
    const server = openTestServer(newWorkspace().path);
    for (const path of ['/', '/api/status', '/health', '/no/such.js', '/login?token=x']) {
      const { headers } = await server.send(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      if (path.startsWith('/api')) expect(headers.get('cache-control')).toBe('no-store');
    }
    await server.close();
  });

  it('reveals no internals, and the log has no secrets', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const token = server.person;
    const { engine } = server.context;
    server.context.engine = () => Promise.reject(new TypeError('boom at /secret/place'));
    const broken = await server.post('status', {}, { token });
    expect([broken.status, await broken.text()]).toEqual([500, expect.not.stringMatching(/boom|secret|\bat\b.*:\d+/)]);
    server.context.engine = engine;
    await server.send(`/login?token=${token}`);
    await server.post('note', { text: 'hunter2' }, { token });
    const logged = JSON.stringify(server.lines);
    expect(logged).toContain('boom');
    expect(logged).toContain('"path":"/login"');
    expect(logged).not.toContain(token);
    expect(logged).not.toContain('hunter2');
    await server.close();
  });
});

describe('a path', () => {
  it('that nobody knows gets a 404 in JSON, and the health of process and store are apart', async () => {
    const server = openTestServer(newWorkspace().path);
    const kinds = async (path: string, method = 'GET') => {
      const { status, headers } = await server.send(path, { method });
      return [path, status, headers.get('content-type')?.split(';')[0]];
    };
    expect(await kinds('/')).toEqual(['/', 200, 'text/html']);
    for (const path of ['/runs', '/admin', '/.env', '/assets/no.js', '/../etc/passwd', '/%2e%2e/x', '/healthy']) {
      expect(await kinds(path)).toEqual([path, 404, 'application/json']);
      expect(await kinds(path, 'POST')).toEqual([path, 404, 'application/json']);
    }
    for (const path of ['/health', '/healthz', '/readyz'])
      expect(await kinds(path)).toEqual([path, 200, 'application/json']);
    server.context.engine = () => Promise.reject(new Fault('unavailable', 'The database is away.'));
    expect((await server.send('/health')).status).toBe(200);
    expect((await server.send('/healthz')).status).toBe(200);
    expect((await server.send('/readyz')).status).toBe(503);
    await server.close();
  });
});

describe('what a proxy says of its client', () => {
  it('counts only if the proxy was named', async () => {
    const folder = newWorkspace();
    const from = (address: string) => ({ incoming: { socket: { remoteAddress: address } } });
    const ask = async (proxies: string[], peer: string, headers: Record<string, string>) => {
      const server = openTestServer(folder.path, { proxies });
      const url = `http://127.0.0.1:4177/login?token=${server.person}`;
      const response = await server.app.fetch(new Request(url, { headers }), from(peer));
      await server.close();
      const facts = server.lines.at(-1)?.facts as { address: string } | undefined;
      return [facts?.address, response.headers.get('set-cookie')?.includes('; Secure')];
    };
    const said = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.0.0.7', 'x-forwarded-proto': 'https' };
    expect(await ask([], '10.0.0.1', said)).toEqual(['10.0.0.1', false]);
    expect(await ask(['10.0.0.0/24'], '10.0.1.1', said)).toEqual(['10.0.1.1', false]);
    // The last address that is no proxy of ours; those before it are what the client claims.
    expect(await ask(['10.0.0.0/24'], '10.0.0.1', said)).toEqual(['203.0.113.9', true]);
    expect(await ask(['10.0.0.1'], '::ffff:10.0.0.1', said)).toEqual(['10.0.0.7', true]);
    expect(await ask(['fd00::/8'], 'fd00::1', { 'x-forwarded-for': '2001:db8::5' })).toEqual(['2001:db8::5', false]);
    expect(await ask(['10.0.0.1'], '10.0.0.1', { 'x-forwarded-for': 'nonsense' })).toEqual(['10.0.0.1', false]);
    for (const wrong of ['10.0.0.0/33', 'proxy.example', '10.0.0.0/8/8', '10.0.0.0/']) {
      expect(() => openTestServer(folder.path, { proxies: [wrong] })).toThrow('is not a range');
    }
  });
});

describe('the link', () => {
  it('sets a cookie that scripts cannot read and other sites cannot use, and leaves nothing in the address', async () => {
    const server = openTestServer(newWorkspace().path);
    const entered = await server.send(`/login?token=${server.person}`);
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    const cookie = entered.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^holdfast_4177=hft_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    const headers = { cookie: `other=1; ${cookie.split(';')[0]}` };
    const who = await server.send('/api/whoami', {}, { headers });
    expect(await who.json()).toMatchObject({ data: { actor: { kind: 'person', name: 'root' }, scope: 'maintain' } });
    const left = await server.send('/logout', { method: 'POST' }, { headers });
    expect(left.headers.get('set-cookie')).toMatch(/^holdfast_4177=; .*Max-Age=0$/);
    expect((await server.send('/login?token=hft_wrong')).status).toBe(401);
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ token: server.person });
    expect((await server.send('/login', { method: 'POST', body }, { headers: json })).status).toBe(200);
    expect((await server.send('/login', { method: 'POST', body: '{}' }, { headers: json })).status).toBe(401);
    await server.close();
  });
});

describe('on a port', () => {
  it('refuses the same, and cuts off a slow body', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path, { limits: { bodyMs: 100 } });
    const { port, stop } = await listen({
      fetch: (request, env) => server.app.fetch(request, env as never),
      host: '127.0.0.1',
      port: 0,
    });
    const before = versionOf(folder);
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}/api/status`)).status).toBe(401);
    const authorization = `Bearer ${server.person}`;
    expect((await fetch(`${url}/api/status`, { headers: { authorization } })).status).toBe(200);
    const rebound = await new Promise<number | undefined>((resolve) => {
      request(`${url}/api/status`, { headers: { host: 'evil.example', authorization } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(rebound).toBe(421);
    const trickled = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /api/note HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"te`,
        );
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    expect(trickled).toMatch(/^HTTP\/1\.1 408/);
    expect(versionOf(folder)).toBe(before);
    await stop();
    await server.close();
  });
});
