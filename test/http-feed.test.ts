import { describe, expect, inject, it } from 'vitest';
import { newFolder, newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';
import { followFeed } from './sse.ts';

type Server = ReturnType<typeof openTestServer>;

function open(server: Server, after: string | null, query = ''): Promise<Response> {
  const path = `/api/feed${query || (after === null ? '?after=beginning' : '')}`;
  return server.send(
    path,
    {},
    { token: server.person, ...(after === null ? {} : { headers: { 'last-event-id': after } }) },
  );
}

/** A reader that is cut off repeatedly, after a random number of messages, and continues from the last id it saw. */
async function readBrokenly(server: Server, after: string | null, isEnough: (seen: string[]) => boolean) {
  const seen: string[] = [];
  let last = after;
  for (let cuts = 0; !isEnough(seen); cuts++) {
    let left = 1 + (cuts % 4);
    for await (const { id, event, data } of followFeed(await open(server, last))) {
      if (id !== null) last = id;
      if (event === 'events') {
        for (const one of (JSON.parse(data) as { events: { run: string; version: number }[] }).events)
          seen.push(`${one.run} ${one.version}`);
      }
      left -= 1;
      if (left <= 0 || isEnough(seen)) break;
    }
  }
  return seen;
}

describe('the feed', () => {
  it('starts at the given cursor and sends events of this and other processes', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const messages = followFeed(await open(server, null, '?after=now'));
    const ready = (await messages.next()).value;
    expect(ready).toMatchObject({ event: 'ready', id: expect.any(String) });
    await server.post('note', { text: 'here' }, { token: server.agent('ada') });
    const here = (await messages.next()).value;
    expect(JSON.parse(here?.data ?? '')).toMatchObject({
      events: [{ run: 'auth', type: 'note.added', agent: 'ada', body: { text: 'here' } }],
    });
    folder.data('note', 'elsewhere');
    expect((await messages.next()).value?.data).toContain('elsewhere');
    await messages.return(undefined);
    await server.close();
  });

  it('leaves out other runs when one is named', async () => {
    const folder = newWorkspace();
    folder.data('init', '--title', 'Other', '--id', 'other');
    const server = openTestServer(folder.path);
    const messages = followFeed(await open(server, null, '?run=other&after=now'));
    await messages.next();
    await server.post('note', { text: 'not for us' }, { token: server.person, run: 'auth' });
    await server.post('note', { text: 'for us' }, { token: server.person, run: 'other' });
    expect((await messages.next()).value?.data).toMatch(/for us/);
    await messages.return(undefined);
    await server.close();
  });

  it('refuses an invalid cursor', async () => {
    const server = openTestServer(newWorkspace().path);
    const response = await open(server, 'nowhere');
    expect([response.status, await response.json()]).toMatchObject([400, { fault: { code: 'invalid' } }]);
    await server.close();
  });

  it('ends when the token is revoked', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const { secret: token } = folder.person.data('token', 'add', 'ada', '--scope', 'read');
    const messages = followFeed(await server.send('/api/feed', {}, { token }));
    await messages.next();
    folder.person.data('token', 'revoke', 'ada');
    expect((await messages.next()).done).toBe(true);
    await server.close();
  });

  it('ends when the server stops, and so does a wait', async () => {
    const folder = newWorkspace();
    const stopping = new AbortController();
    const server = openTestServer(folder.path, { stopped: stopping.signal });
    const messages = followFeed(await open(server, null, '?after=now'));
    await messages.next();
    const waiting = server.post('wait', { for: 'mail' }, { token: server.agent('ada') });
    stopping.abort();
    expect((await messages.next()).done).toBe(true);
    expect((await waiting).status).toBe(503);
    await server.close();
  });

  it('limits the number of readers', async () => {
    const server = openTestServer(newWorkspace().path, { limits: { feeds: { perToken: 2, total: 1, reserved: 0 } } });
    const first = followFeed(await open(server, null, '?after=now'));
    await first.next();
    expect((await open(server, null, '?after=now')).status).toBe(503);
    await first.return(undefined);
    expect((await open(server, null, '?after=now')).status).toBe(200);
    await server.close();
  });

  it('D1: lets no token take the places of the others', async () => {
    const limits = { feeds: { perToken: 2, total: 4, reserved: 1 } };
    const server = openTestServer(newWorkspace().path, { limits });
    const feeds: Response[] = [];
    const statusOf = async (token: string) => {
      const response = await server.send('/api/feed', {}, { token });
      feeds.push(response);
      return response.status;
    };
    const [ada, bob] = [server.agent('ada'), server.agent('bob')];
    expect(await Promise.all([1, 2, 3, 4].map(() => statusOf(ada)))).toEqual([200, 200, 429, 429]);
    expect([await statusOf(bob), await statusOf(bob)]).toEqual([200, 503]);
    expect(await statusOf(server.person)).toBe(200);
    expect(await statusOf(server.person)).toBe(503);
    // An invalid cursor takes no place.
    const mine = feeds.filter(({ status }) => status === 200);
    for (const index of [0, 2]) await mine[index]?.body?.cancel();
    expect((await server.send('/api/feed?after=nonsense', {}, { token: ada })).status).toBe(400);
    expect(await statusOf(ada)).toBe(200);
    expect(await statusOf(ada)).toBe(429);
    for (const { body } of feeds) if (body && !body.locked) await body.cancel().catch(() => undefined);
    await server.close();
  });

  for (const kind of ['SQLite', 'PostgreSQL']) {
    it(`misses nothing and repeats nothing, across reconnects and with two writers, on ${kind}`, async () => {
      const folder = newFolder();
      const store = kind === 'SQLite' ? `${folder.path}/journal.db` : inject('postgresUrl');
      const servers = [openTestServer(folder.path, { store }), openTestServer(folder.path, { store })] as const;
      const runs = servers.map((_, index) => `feed-${process.pid}-${Date.now()}-${index}`);
      const [first, second] = servers;
      for (const id of runs) await first.post('init', { title: 'Feed', id }, { token: first.person });
      const start = followFeed(await open(first, null, '?after=now'));
      const place = (await start.next()).value?.id ?? null;
      await start.return(undefined);
      const each = 60;
      const mine = (seen: string[]) => seen.filter((one) => runs.includes(one.split(' ')[0] ?? ''));
      const isEnough = (seen: string[]) => mine(seen).length >= each * 2;
      const readers = [readBrokenly(first, place, isEnough), readBrokenly(second, place, isEnough)];
      const writers = servers.map(async (server, index) => {
        for (let count = 0; count < each; count++)
          await server.post('note', { text: `note ${count}` }, { token: server.person, run: runs[index] });
      });
      await Promise.all(writers);
      const expected = runs.flatMap((run) => Array.from({ length: each }, (_, index) => `${run} ${index + 2}`));
      for (const seen of await Promise.all(readers)) {
        expect(mine(seen).sort()).toEqual([...expected].sort());
        for (const run of runs) {
          const versions = seen.filter((one) => one.startsWith(`${run} `)).map((one) => Number(one.split(' ')[1]));
          expect(versions).toEqual([...versions].sort((a, b) => a - b));
        }
      }
      await Promise.all(servers.map((server) => server.close()));
    });
  }
});
