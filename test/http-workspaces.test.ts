import { describe, expect, it } from 'vitest';
import { penFor } from '../src/cli/terminal.ts';
import type { Token } from '../src/store/presence.ts';
import { newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';
import { followFeed } from './sse.ts';

const { openMemoryStore } = (await import(
  '../dist/lib/store/index.js' as string
)) as typeof import('../src/store/index.ts');
const { createMcpHandler } = (await import('../dist/lib/mcp/http.js' as string)) as typeof import('../src/mcp/http.ts');
const { loadOffered } = (await import('../dist/lib/http/call.js' as string)) as typeof import('../src/http/call.ts');

const OURS = 'ours';
const THEIRS = 'theirs';
const SECRET = 'xylophone';

/** One store with two workspaces, each with a run; the server was started in neither. */
async function open() {
  const store = openMemoryStore();
  const server = openTestServer(newWorkspace().path, { store, mcp: createMcpHandler({ version: '0.0.0' }) });
  const make = (name: string, rest: Record<string, unknown>) =>
    server
      .post('token.add', { name, scope: 'write', ...rest }, { token: server.person })
      .then(dataOf<{ secret: string }>);
  const ours = (await make('ours', { workspaces: ['w-ours'] })).secret;
  const theirs = (await make('theirs', { workspaces: ['w-theirs'] })).secret;
  for (const [token, id, words] of [
    [ours, OURS, 'trumpet'],
    [theirs, THEIRS, SECRET],
  ] as const) {
    await dataOf(await server.post('init', { title: `Play the ${words}`, id }, { token }));
    await dataOf(await server.post('plan.add', { key: 't1', title: `Buy a ${words}` }, { token }));
    await dataOf(await server.post('note', { text: `The ${words} is loud` }, { token }));
  }
  return { store, server, make, ours, theirs };
}

async function dataOf<Data>(response: Response): Promise<Data> {
  const body = (await response.json()) as { ok: boolean; data: Data };
  if (!body.ok) throw new Error(JSON.stringify(body));
  return body.data;
}

const values: Record<string, unknown> = {
  key: 't1',
  name: 'x',
  text: 'Words',
  title: 'Words',
  id: 'N-1',
  ids: ['N-1'],
  target: '1',
  reason: 'r',
  words: [SECRET],
  kind: 'question',
  to: 'ada',
  type: 'info',
  subject: 's',
  body: 'b',
  for: 't1',
  timeout: 0,
  message: 'm',
  decision: 'd',
  resolution: 'r',
  state: 'open',
  input: 1,
  output: 1,
  steps: [{ key: 't9', title: 'More' }],
  paths: ['src/**'],
  session: 'S-1',
};

describe('a token', () => {
  it('D2: gets for a run of another workspace what it gets for one that does not exist, from every operation', async () => {
    const { server, ours, make } = await open();
    const maintainer = (await make('boss', { scope: 'maintain', workspaces: ['w-ours'] })).secret;
    let refused = 0;
    for (const operation of await loadOffered()) {
      const input = Object.fromEntries(Object.entries(values).filter(([field]) => field in operation.input.entries));
      for (const token of [ours, maintainer]) {
        const ask = async (run: string) => {
          const own = 'run' in operation.input.entries ? { ...input, run } : input;
          const response = await server.post(operation.name, own, { token, run });
          const text = (await response.text()).replaceAll(run, 'RUN').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
          return { operation: operation.name, status: response.status, text };
        };
        const other = await ask(THEIRS);
        // These make or list something that is not part of a run.
        if (['init', 'token.add', 'token.list', 'token.revoke', 'runs', 'board'].includes(operation.name)) continue;
        expect(other).toEqual(await ask('nobody'));
        expect(other.text).not.toContain(SECRET);
        if (other.status === 404) refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(80);
    await server.close();
  });

  it('finds, lists and searches only runs of its workspaces', async () => {
    const { server, ours, theirs, make } = await open();
    const both = (await make('both', { workspaces: ['w-ours', 'w-theirs'] })).secret;
    const all = (await make('all', { workspaces: ['*'] })).secret;
    const one = (await make('one', { workspaces: ['w-ours', 'w-theirs'], runs: [THEIRS] })).secret;
    const idsOf = async (token: string) => {
      const { runs } = await dataOf<{ runs: { id: string }[] }>(await server.post('runs', {}, { token }));
      const board = await dataOf<{ runs: { id: string }[] }>(await server.post('board', {}, { token }));
      expect(board.runs.map(({ id }) => id)).toEqual(runs.map(({ id }) => id));
      return runs.map(({ id }) => id).sort();
    };
    expect(await idsOf(ours)).toEqual([OURS]);
    expect(await idsOf(theirs)).toEqual([THEIRS]);
    expect(await idsOf(both)).toEqual([OURS, THEIRS]);
    expect(await idsOf(one)).toEqual([THEIRS]);
    // This one reaches the workspace the server was started in, which it lists by default.
    expect(await idsOf(all)).toEqual([]);
    const found = async (token: string) =>
      (
        await dataOf<{ results: { run: string }[] }>(
          await server.post('search', { words: [SECRET], allRuns: true }, { token }),
        )
      ).results.length;
    const metrics = async (token: string) => (await server.send('/metrics', {}, { token })).text();
    expect(await metrics(ours)).toMatch(/^holdfast_runs\{status="active"\} 1$/m);
    expect(await metrics(both)).toMatch(/^holdfast_runs\{status="active"\} 2$/m);
    expect(await metrics(both)).toMatch(/^holdfast_http_requests_total\{status="2xx"\} [1-9]\d*$/m);
    expect(await metrics(both)).not.toContain(SECRET);
    expect((await server.send('/metrics')).status).toBe(401);
    expect(await found(ours)).toBe(0);
    expect(await found(theirs)).toBeGreaterThan(0);
    expect((await server.post('status', {}, { token: all, run: THEIRS })).status).toBe(200);
    expect((await server.post('status', {}, { token: one, run: OURS })).status).toBe(404);
    await server.close();
  });

  it('opens runs in its workspace only, and under an id that is free', async () => {
    const { server, store, ours, make } = await open();
    const other = (await make('both', { workspaces: ['w-ours', 'w-theirs'] })).secret;
    const bound = (await make('bound', { workspaces: ['w-ours'], runs: [OURS] })).secret;
    expect((await server.post('init', { title: 'New' }, { token: ours })).status).toBe(200);
    expect((await store.journal.heads({ workspace: 'w-ours' })).length).toBe(2);
    const taken = await server.post('init', { title: 'New', id: THEIRS }, { token: ours });
    expect([taken.status, await taken.text()]).toEqual([409, expect.not.stringContaining('Play')]);
    expect((await server.post('init', { title: 'Where?' }, { token: other })).status).toBe(403);
    expect((await server.post('init', { title: 'Bound' }, { token: bound })).status).toBe(403);
    await server.close();
  });

  it('makes, sees and revokes only tokens that reach no further', async () => {
    const { server, make } = await open();
    const boss = (await make('boss', { scope: 'maintain', workspaces: ['w-ours'] })).secret;
    const add = (input: object) => server.post('token.add', { name: 'new', scope: 'read', ...input }, { token: boss });
    expect((await add({ workspaces: ['*'] })).status).toBe(403);
    expect((await add({ workspaces: ['w-ours', 'w-theirs'] })).status).toBe(403);
    expect(await dataOf(await add({}))).toMatchObject({
      workspaces: ['w-ours'],
      madeBy: { actor: { kind: 'person', name: 'boss' }, evidence: 'token:boss' },
    });
    const listed = await dataOf<{ tokens: { name: string }[] }>(await server.post('token.list', {}, { token: boss }));
    expect(listed.tokens.map(({ name }) => name)).toEqual(['boss', 'new', 'ours']);
    expect((await server.post('token.revoke', { name: 'theirs' }, { token: boss })).status).toBe(404);
    expect((await server.post('token.revoke', { name: 'new' }, { token: boss })).status).toBe(200);
    const all = await dataOf(await server.post('token.list', { all: true }, { token: boss }));
    expect(all).toMatchObject({
      tokens: [{ name: 'boss' }, { name: 'new', revoked: { actor: { name: 'boss' }, evidence: 'token:boss' } }, {}],
    });
    await server.close();
  });

  it('follows only the events of its workspaces', async () => {
    const { server, ours, theirs } = await open();
    const feed = async (token: string, query: string) =>
      followFeed(await server.send(`/api/feed?after=beginning${query}`, {}, { token }));
    const seen = async (token: string, query: string, words: string) => {
      const messages = await feed(token, query);
      let text = '';
      while (!text.includes(words)) text += (await messages.next()).value?.data ?? '';
      await messages.return(undefined);
      return text;
    };
    await server.post('note', { text: 'the end' }, { token: theirs });
    await server.post('note', { text: 'the end' }, { token: ours });
    expect(await seen(ours, '', 'the end')).not.toContain(THEIRS);
    expect(await seen(theirs, '', 'the end')).not.toContain('trumpet');
    // A run outside is like one that does not exist: nothing comes.
    const outside = await feed(ours, `&run=${THEIRS}`);
    await outside.next();
    const next = outside.next();
    await server.post('note', { text: SECRET }, { token: theirs });
    expect(await Promise.race([next, seen(theirs, '', SECRET).then(() => 'nothing')])).toBe('nothing');
    void outside.return(undefined);
    await server.close();
  });

  it('hears over MCP only of runs it reaches', async () => {
    const { server, ours, theirs } = await open();
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const send = (method: string, params: object, more = {}) =>
      server.send(
        '/mcp',
        { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) },
        { token: ours, headers: { ...headers, ...more } },
      );
    const uri = `holdfast://run/${THEIRS}`;
    expect(await (await send('tools/call', { name: 'resume', arguments: { run: THEIRS } })).text()).toContain(
      'not_found',
    );
    expect(await (await send('resources/read', { uri })).text()).toContain('not_found');
    expect(await (await send('resources/list', {})).text()).not.toContain(THEIRS);
    const ref = { type: 'ref/resource', uri: 'holdfast://run/{id}' };
    const completion = await send('completion/complete', { ref, argument: { name: 'id', value: '' } });
    expect(await completion.text()).not.toContain(THEIRS);
    const clientInfo = { name: 'somebody', version: '1' };
    const met = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await met.text();
    const session = { 'mcp-session-id': met.headers.get('mcp-session-id') ?? '' };
    for (const one of [uri, `holdfast://run/${OURS}`])
      await (await send('resources/subscribe', { uri: one }, session)).text();
    const stream = followFeed(
      await server.send('/mcp', {}, { token: ours, headers: { ...headers, accept: 'text/event-stream', ...session } }),
    );
    await server.post('note', { text: 'unheard' }, { token: theirs });
    await server.post('note', { text: 'heard' }, { token: ours });
    let text = '';
    while (!text.includes(`run/${OURS}`)) text += (await stream.next()).value?.data ?? '';
    expect(text).not.toContain(THEIRS);
    await stream.return(undefined);
    await server.close();
  });
});

describe('a token that has expired', () => {
  it('is refused with words, and its streams end', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const { secret } = folder.person.data('token', 'add', 'ada', '--scope', 'read', '--expires', '1h');
    expect((await server.send('/api/status', {}, { token: secret })).status).toBe(200);
    const feed = followFeed(await server.send('/api/feed', {}, { token: secret }));
    await feed.next();
    const later = new Date(Date.now() + 2 * 3_600_000).toISOString();
    server.clock.now = () => later;
    expect((await feed.next()).done).toBe(true);
    const refused = await server.send('/api/status', {}, { token: secret });
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringMatching(/`ada` expired at .*token add/s),
    ]);
    const body = JSON.stringify({ token: secret });
    const json = { 'content-type': 'application/json' };
    expect(await (await server.send('/login', { method: 'POST', body }, { headers: json })).text()).toContain(
      'expired',
    );
    expect((await server.send(`/login?token=${secret}`)).status).toBe(401);
    await server.close();
  });

  it('lasts 90 days unless told otherwise, and never longer than ten years', () => {
    const folder = newWorkspace();
    const days = (token: Record<string, string>) =>
      Math.round((Date.parse(token['expiresAt'] ?? '') - Date.now()) / 86_400_000);
    const add = (name: string, ...words: string[]) =>
      folder.person.data('token', 'add', name, '--scope', 'read', ...words);
    expect(days(add('a'))).toBe(90);
    expect(days(add('b', '--expires', '2w'))).toBe(14);
    expect(add('c', '--expires', '2030-01-31')['expiresAt']).toBe('2030-01-31T00:00:00.000Z');
    for (const wrong of ['never', '0d', '2020-01-01', '99999d', '']) {
      expect([wrong, folder.person.fault('token', 'add', 'x', '--scope', 'read', '--expires', wrong).code]).toEqual([
        wrong,
        'invalid',
      ]);
    }
    expect(folder.person.run('token', 'list').out).toMatch(
      /^a read person, the workspace \S+, expires \S+, made by \S+, never used/m,
    );
  });
});

describe('a token of version 0.1', () => {
  it('stays valid for everything until it is revoked, and the list says so', async () => {
    const { server, store } = await open();
    const { createHash } = await import('node:crypto');
    const secret = `hf_${'a'.repeat(43)}`;
    const old: Token = {
      name: 'old',
      hash: createHash('sha256').update(secret).digest('hex'),
      actor: { kind: 'person', name: 'old' },
      scope: 'read',
      workspaces: '*',
      runs: null,
      madeAt: '2026-01-01T00:00:00.000Z',
      madeBy: null,
      expiresAt: null,
      usedAt: null,
      revoked: null,
    };
    await store.presence.addToken(old);
    for (const run of [OURS, THEIRS])
      expect((await server.post('status', {}, { token: secret, run })).status).toBe(200);
    const { tokenList } = (await import(
      '../dist/lib/operations/admin/token-list.js' as string
    )) as typeof import('../src/operations/admin/token-list.ts');
    const identity = { ...server.context.identity, evidence: 'terminal' as const };
    const { data } = await tokenList.run({ ...server.context, identity }, {});
    expect(tokenList.say(data, penFor(false))).toContain(
      'old read person, all workspaces, does not expire, made by version 0.1',
    );
    await server.post('token.revoke', { name: 'old' }, { token: server.person });
    expect((await server.post('runs', {}, { token: secret })).status).toBe(401);
    await server.close();
  });
});
