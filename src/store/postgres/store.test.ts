import { createServer } from 'node:net';
import postgres from 'postgres';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import {
  batchOf,
  codewalkRows,
  codewalkViews,
  faultOf,
  follow,
  headOf,
  newRun,
  note,
  put,
  row,
} from '../suite/fixture.ts';
import { migrations } from './schema.ts';
import { openPostgresStore } from './store.ts';

const url = inject('postgresUrl');
const sql = postgres(url, { max: 4, onnotice: () => {}, fetch_types: false });
afterAll(() => sql.end());

let schemas = 0;
/** The names need quoting. */
function newSchema(): string {
  schemas += 1;
  return `store "test" ${process.pid} ${schemas}`;
}

const shared = newSchema();
storeSuite('postgres', () => openPostgresStore({ url, schema: shared }));

describe('a schema', () => {
  it('is created once when many open it at the same time', async () => {
    const schema = newSchema();
    const stores = await Promise.all(
      Array.from({ length: 6 }, () => openPostgresStore({ url, schema, connections: 1 })),
    );
    await put(stores[0] ?? expect.fail(), 'r', [note('a')]);
    for (const store of stores) expect(await store.journal.read('r', 0, 9)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('keeps the tokens of version 0.1, for everything and without an end, but not those of its login links', async () => {
    const schema = newSchema();
    const name = `"${schema.replaceAll('"', '""')}"`;
    await sql.unsafe(`CREATE SCHEMA ${name};
      CREATE TABLE ${name}.meta (single boolean PRIMARY KEY DEFAULT true, version integer NOT NULL, xid_offset bigint NOT NULL);
      INSERT INTO ${name}.meta (version, xid_offset) VALUES (1, 0); ${migrations[0]?.(name)}
      INSERT INTO ${name}.tokens (name, hash, actor_kind, actor_name, scope, made_at, used_at) VALUES
        ('ada', 'abcdef0123', 'person', 'ada', 'maintain', 'a time', 'another'),
        ('link-abcdef01', 'abcdef01ff', 'person', 'ada', 'maintain', 'a time', NULL)`);
    const store = await openPostgresStore({ url, schema });
    const reach = { workspaces: '*', runs: null, madeBy: null, expiresAt: null, revoked: null };
    expect(await store.presence.listTokens()).toEqual([
      {
        name: 'ada',
        hash: 'abcdef0123',
        actor: { kind: 'person', name: 'ada' },
        scope: 'maintain',
        madeAt: 'a time',
        usedAt: 'another',
        ...reach,
      },
    ]);
    expect(await store.presence.findToken('abcdef01ff')).toBeNull();
    const [, link] = await store.presence.listTokens({ revoked: true });
    expect(link).toMatchObject({ name: 'link-abcdef01', revoked: { at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) } });
    await store.close();
  });

  it('is refused when a newer program wrote it', async () => {
    const schema = newSchema();
    await (await openPostgresStore({ url, schema })).close();
    await sql`UPDATE ${sql(schema)}.meta SET version = ${migrations.length + 1}`;
    expect((await faultOf(openPostgresStore({ url, schema }))).code).toBe('newer_schema');
    await sql`DROP TABLE ${sql(schema)}.events CASCADE`;
    expect((await faultOf(openPostgresStore({ url, schema }))).code).toBe('newer_schema');
    const tables =
      await sql`SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = ${schema} AND tablename = 'events'`;
    expect(tables[0]?.['count']).toBe(0);
  });
});

describe('appends', () => {
  it('to one run do not wait for appends to another', async () => {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema });
    await put(store, 'held', [note('a')]);
    const blocked = await sql.begin(async (transaction) => {
      await transaction`UPDATE ${transaction(schema)}.runs SET title = title WHERE run = 'held'`;
      await put(store, 'free', [note('a')]);
      await put(store, 'free', [note('b')], {
        rows: [row('free', 'N-1', { tags: ['t'], text: 'words' })],
        cache: { format: 1, state: '' },
      });
      const waiting = put(store, 'held', [note('b')]);
      return { waiting, seen: await store.journal.read('held', 0, 9) };
    });
    expect(blocked.seen).toHaveLength(1);
    await blocked.waiting;
    expect(await store.journal.read('held', 0, 9)).toHaveLength(2);
    await store.close();
  });

  it('survive a lost connection and are recorded once', async () => {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema, connections: 2 });
    await put(store, 'r', [note('a')]);
    for (let count = 0; count < 10; count++) {
      const head = await headOf(store, 'r');
      const appending = store.journal.append([batchOf('r', [note(`${count}`)], head)]);
      const killing = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND query LIKE ${`%"store ""test"" ${process.pid} ${schemas}"%`} AND pid <> pg_backend_pid()`;
      expect((await Promise.all([appending, killing]))[0]).toEqual({ outcome: 'appended' });
    }
    expect(await store.journal.read('r', 0, 99)).toHaveLength(11);
    await store.close();
  });

  it('whose answer was lost are not repeated', async () => {
    const { proxy, store, batch, direct, close } = await openThroughProxy();
    proxy.loseNextAnswer();
    expect(await store.journal.append([batch])).toEqual({ outcome: 'appended' });
    expect(proxy.lost()).toBe(1);
    expect(await direct.journal.read('r', 0, 9)).toHaveLength(2);
    await close();
  });

  it('of several batches whose answer was lost are not repeated', async () => {
    const { proxy, store, batch, direct, close } = await openThroughProxy();
    proxy.loseNextAnswer();
    const batches = [batch, batchOf('s', [note('beside it')], null)];
    expect(await store.journal.append(batches)).toEqual({ outcome: 'appended' });
    expect(proxy.lost()).toBe(1);
    expect(await direct.journal.read('r', 0, 9)).toHaveLength(2);
    expect(await direct.journal.read('s', 0, 9)).toHaveLength(1);
    await close();
  });

  it('whose outcome cannot be found out are neither confirmed nor denied', async () => {
    const { proxy, schema, batch, direct, close } = await openThroughProxy();
    const through = new URL(url);
    through.port = String(proxy.port);
    const store = await openPostgresStore({ url: through.href, schema, connections: 1, patienceMs: 100 });
    proxy.loseNextAnswer();
    proxy.refuseAfterLoss();
    const fault = await faultOf(store.journal.append([batch]));
    expect(fault).toMatchObject({ code: 'unavailable', data: { recorded: 'unknown' } });
    expect(fault.hints).not.toContain('Nothing was written.');
    expect(await direct.journal.read('r', 0, 9)).toHaveLength(2);
    await store.close();
    await close();
  });

  it('that never reached the server are known not to be recorded', async () => {
    const { proxy, store, batch, direct, close } = await openThroughProxy();
    await store.close();
    const fault = await faultOf(store.journal.append([batch]));
    expect(fault).toMatchObject({ code: 'unavailable', data: { recorded: 'no' } });
    expect(proxy.lost()).toBe(0);
    expect(await direct.journal.read('r', 0, 9)).toHaveLength(1);
    await close();
  });

  it('that the server still works on when the connection is lost are not repeated', async () => {
    const { schema, proxy, store, batch, direct, close } = await openThroughProxy();
    const waiting = async (count: number): Promise<void> => {
      const blocked = () =>
        sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%"${schema.replaceAll('"', '""')}".runs SET %`}`;
      while ((await blocked()).length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const appended = await sql.begin(async (held) => {
      await held.unsafe(`SELECT FROM "${schema.replaceAll('"', '""')}".runs WHERE run = 'r' FOR UPDATE`);
      const outcome = store.journal.append([batch]);
      await waiting(1);
      proxy.leave();
      await waiting(2);
      return { outcome };
    });
    expect(await appended.outcome).toEqual({ outcome: 'appended' });
    expect(await direct.journal.read('r', 0, 9)).toHaveLength(2);
    await close();
  });
});

describe('derived data', () => {
  it('is replaced although connections are lost, and never by half', async () => {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema, connections: 2 });
    const { head } = batchOf('r', [], null);
    await store.journal.append([batchOf('r', [note('a')], null, { rows: [row('r', 'old')] })]);
    const quoted = `%${schema.replaceAll('"', '""')}%`;
    for (let count = 0; count < 12; count++) {
      const rows = Array.from({ length: 300 }, (_, index) => row('r', `${count}-${index}`, { text: `words ${index}` }));
      const derived = { head: { ...head, title: `${count}` }, rows, cache: { format: 1, state: `${count}` } };
      const replacing = store.projection.replaceDerived('r', 1, derived);
      const killing = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND query LIKE ${quoted} AND pid <> pg_backend_pid()`;
      expect((await Promise.all([replacing, killing]))[0]).toBe(true);
      const found = await store.projection.rows('r', { kind: 'note', limit: 999 });
      expect(new Set(found.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
      expect(await store.projection.cached('r', 1)).toMatchObject({ version: 1, state: `${count}` });
      expect(await headOf(store, 'r')).toMatchObject({ version: 1, title: `${count}` });
    }
    expect(await store.projection.replaceDerived('r', 2, { head, rows: [], cache: { format: 1, state: '' } })).toBe(
      false,
    );
    await store.close();
  });
});

/** A run with one event, a store on it whose connection can be lost, and a batch to append. */
async function openThroughProxy() {
  const schema = newSchema();
  const direct = await openPostgresStore({ url, schema });
  await put(direct, 'r', [note('a')]);
  const proxy = await openProxy(Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(proxy.port);
  const store = await openPostgresStore({ url: through.href, schema, connections: 1 });
  const batch = batchOf('r', [note('once')], await headOf(store, 'r'));
  const close = async (): Promise<void> => {
    await store.close();
    await direct.close();
    proxy.close();
  };
  return { schema, proxy, store, batch, direct, close };
}

describe('the feed', () => {
  it('waits for an earlier transaction that is not committed yet', async () => {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema });
    await put(store, 'early', [note('a')]);
    await put(store, 'late', [note('a')]);
    const { cursor } = await follow(store, null, 10, (events) => events.length === 2);
    const during = await sql.begin(async (transaction) => {
      // This event has its number already and is committed after the next one.
      await transaction`
        INSERT INTO ${transaction(schema)}.events (run, version, tx, at, type, actor_kind, actor_name, basis, previous, hash, body_hash, body)
        SELECT run, 2, pg_current_xact_id()::text::bigint, at, type, actor_kind, actor_name, basis, previous, hash, body_hash, body
        FROM ${transaction(schema)}.events WHERE run = 'early'`;
      await put(store, 'late', [note('b')]);
      return store.journal.feed(cursor, 10);
    });
    expect(during).toEqual({ events: [], cursor });
    const { events } = await follow(store, cursor, 1, (seen) => seen.length === 2);
    expect(events.map(({ run }) => run)).toEqual(['early', 'late']);
    await store.close();
  });

  it('continues after the database was restored into a younger cluster', async () => {
    const schema = newSchema();
    const before = await openPostgresStore({ url, schema });
    await put(before, 'r', [note('a'), note('b')]);
    const { id, epoch } = await before.identity();
    await before.close();
    // As in a dump from an old cluster.
    await sql`UPDATE ${sql(schema)}.events SET tx = tx + 5000000000`;
    const store = await openPostgresStore({ url, schema });
    const now = await store.identity();
    expect([now.id, now.epoch === epoch]).toEqual([id, false]);
    const { cursor } = await follow(store, null, 10, (events) => events.length === 2);
    expect(Number(cursor.split(':')[0])).toBeGreaterThan(5_000_000_000);
    await put(store, 'r', [note('c')]);
    const { events } = await follow(store, cursor, 10, (seen) => seen.length === 1);
    expect(events[0]?.version).toBe(3);
    await store.close();
  });

  it('continues after a restore although the last events were dropped', async () => {
    const schema = newSchema();
    const before = await openPostgresStore({ url, schema });
    await put(before, 'r', [note('a'), note('b')]);
    const { version, hash } = (await headOf(before, 'r')) ?? expect.fail();
    const by = { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal' } as const;
    await before.journal.drop({
      run: 'r',
      workspace: 'w',
      version,
      hash,
      at: '2026-01-02T00:00:00.000Z',
      by,
      reason: 'over',
    });
    await before.close();
    await sql`UPDATE ${sql(schema)}.dropped SET tx = tx + 5000000000`;
    const store = await openPostgresStore({ url, schema });
    await put(store, 'next', [note('c')]);
    const { cursor } = await follow(store, null, 10, (events) => events.length === 1);
    expect(Number(cursor.split(':')[0])).toBeGreaterThan(5_000_000_000);
    await store.close();
  });
});

describe('a server', () => {
  it('E2: that cannot be reached is unavailable', async () => {
    const away = new URL(url);
    away.port = '1';
    const fault = await faultOf(openPostgresStore({ url: away.href, patienceMs: 20 }));
    expect(fault.code).toBe('unavailable');
    expect(fault.message).not.toContain('postgres:postgres');
    expect(fault.hints).not.toEqual([]);
  });

  it('E2: that refuses the login is unavailable at once, and the fault does not show the password', async () => {
    const wrong = new URL(url);
    wrong.password = 'zq-secret';
    const fault = await faultOf(openPostgresStore({ url: wrong.href, patienceMs: 60_000 }));
    expect(fault.code).toBe('unavailable');
    expect(JSON.stringify([fault.message, fault.hints, fault.data])).not.toContain('zq-secret');
    wrong.password = 'postgres';
    wrong.pathname = '/nowhere';
    expect((await faultOf(openPostgresStore({ url: wrong.href, patienceMs: 60_000 }))).code).toBe('unavailable');
    expect((await faultOf(openPostgresStore({ url: 'not a url' }))).code).toBe('invalid');
  });

  it('is disconnected when the store is closed', async () => {
    const store = await openPostgresStore({ url, schema: shared });
    await store.close();
    await store.close();
    expect((await faultOf(store.journal.read('r', 0, 1))).code).toBe('unavailable');
  });
});

describe('views', () => {
  it('have the names and columns of the Codewalk tables, whatever a document holds', async () => {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema });
    const run = newRun();
    await put(store, run, [note('a')], { rows: codewalkRows(run, 'c\u0000\u0000 \\u0000 \ud800') });
    await store.close();
    const views = codewalkViews(run, {
      context: 'c\ufffd\ufffd \\u0000 \ufffd',
      time: String,
      progress: '{"done": 1}',
      no: false,
    });
    for (const [view, shown] of Object.entries(views)) {
      expect([...(await sql`SELECT * FROM ${sql(schema)}.${sql(view)}`)]).toEqual([shown]);
    }
  });
});

/** A proxy between a store and the server that can drop one answer together with its connection. */
async function openProxy(target: number) {
  const { connect } = await import('node:net');
  let isArmed = false;
  let isRefusing = false;
  let lost = 0;
  const leave = new Set<() => void>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let isLosing = false;
    let isLeft = false;
    leave.add(() => {
      isLeft = true;
      client.destroy();
    });
    client.on('data', (chunk) => {
      if (isArmed && chunk.includes('INSERT INTO')) {
        isArmed = false;
        isLosing = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      // The server sends this when the command is complete: only then has it committed.
      if (isLosing && chunk.includes('SELECT 1')) {
        lost += 1;
        client.destroy();
        if (isRefusing) server.close();
      } else client.write(chunk);
    });
    // Without a client the server still finishes what it has started.
    client.on('close', () => isLeft || upstream.destroy());
    upstream.on('close', () => client.destroy());
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    loseNextAnswer: () => {
      isArmed = true;
    },
    /** No connection is accepted after the lost answer. */
    refuseAfterLoss: () => {
      isRefusing = true;
    },
    /** The store loses its connections, and the server does not notice. */
    leave: () => {
      for (const one of leave) one();
    },
    lost: () => lost,
    close: () => server.close(),
  };
}
