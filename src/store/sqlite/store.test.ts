import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../core/fault.ts';
import type { Event } from '../../core/journal/event.ts';
import { storeSuite } from '../store.suite.ts';
import { at, batchOf, chainProblems, faultOf, headOf, newRun, note, put, row, withWords } from '../suite/fixture.ts';
import { openDatabase } from './driver.ts';
import { openRemains } from './remains.ts';
import { APPLICATION_ID, migrations, parts } from './schema.ts';
import { openSqliteStore } from './store.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'holdfast-sqlite-'));
  folders.push(folder);
  return folder;
}

function newFile(): string {
  return join(newFolder(), 'journal.db');
}

/** All bytes of the database on disk. */
function bytesOf(file: string): string {
  return ['', '-wal'].map((end) => (existsSync(file + end) ? readFileSync(file + end, 'latin1') : '')).join('|');
}

const shared = newFile();
storeSuite('sqlite', () => openSqliteStore({ file: shared }));

describe('a journal file', () => {
  it('has everything in the file once it is closed', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    await put(store, 'r', [note('a')]);
    await store.close();
    await store.close();
    expect(bytesOf(file)).toBe(`${readFileSync(file, 'latin1')}|`);
    const fault = await faultOf(store.journal.read('r', 0, 1));
    expect(fault.code).toBe('unavailable');
  });

  it('is refused when a newer program wrote it, and stays the same byte for byte', async () => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const newer = openDatabase(file, false);
    newer.exec(`PRAGMA user_version=${migrations.length + 1}; CREATE TABLE of_the_future (x)`);
    // The newer program still runs: its last write is only in the log.
    const before = bytesOf(file);
    const fault = await faultOf(openSqliteStore({ file }));
    expect(fault.code).toBe('newer_schema');
    expect(fault.hints.join()).toContain('Update');
    expect(bytesOf(file)).toBe(before);
    newer.close();
    const closed = bytesOf(file);
    expect((await faultOf(openSqliteStore({ file }))).code).toBe('newer_schema');
    expect(bytesOf(file)).toBe(closed);
  });

  it('A10: gives nobody a token, whatever an older version or someone else put into it', async () => {
    const file = newFile();
    const old = openDatabase(file, false);
    old.exec(
      `PRAGMA journal_mode=WAL; ${migrations[0]}; PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=1`,
    );
    old.exec(`INSERT INTO tokens (name, hash, actor_kind, actor_name, scope, made_at, used_at) VALUES
      ('ada', 'abcdef0123', 'person', 'ada', 'maintain', '${at(1)}', '${at(2)}')`);
    old.close();
    const store = await openSqliteStore({ file });
    expect(await store.presence.findToken('abcdef0123')).toBeNull();
    expect(await store.presence.listTokens({ revoked: true })).toEqual([]);
    await store.close();
  });

  it('has exactly the parts that are listed', async () => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const database = openDatabase(file, true);
    const rows = database.prepare("SELECT type || ' ' || name AS part FROM sqlite_schema").all() as { part: string }[];
    database.close();
    expect(rows.map(({ part }) => part).sort()).toEqual([...parts].sort());
  });

  it.each([
    'CREATE TRIGGER forge AFTER INSERT ON events BEGIN UPDATE runs SET title = 1; END',
    'CREATE VIEW extra AS SELECT 1',
    'CREATE TABLE extra (a)',
    'CREATE INDEX extra ON events (lower(run))',
    'ALTER TABLE beats RENAME TO beats_1; CREATE VIEW beats AS SELECT * FROM beats_1',
  ])('is refused with %s in it, and stays the same', async (sql) => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const hostile = openDatabase(file, false);
    hostile.exec(sql);
    hostile.close();
    const before = bytesOf(file);
    expect(await faultOf(openSqliteStore({ file }))).toMatchObject({ code: 'corrupt', data: { recorded: 'no' } });
    expect(await faultOf(openSqliteStore({ file, readonly: true }))).toMatchObject({ code: 'corrupt' });
    expect(bytesOf(file)).toBe(before);
  });

  it('keeps the events of version 0.1, which have no evidence, also where only remains can be read', async () => {
    const file = newFile();
    const old = openDatabase(file, false);
    old.exec(
      `PRAGMA journal_mode=WAL; ${migrations[0]}; PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=1`,
    );
    const { events, head } = batchOf('r', [note('before')], null);
    const { evidence: _, ...event } = events[0] as Event;
    const { run, version, type, session, key, basis, previous, hash, bodyHash, body } = event;
    old.exec(`INSERT INTO events (run, version, at, type, actor_kind, actor_name, session, key, basis, previous, hash,
      body_hash, body) VALUES ('${run}', ${version}, '${event.at}', '${type}', 'agent', 'tester', ${session}, ${key},
      '${basis}', '${previous}', '${hash}', '${bodyHash}', '${JSON.stringify(body)}');
      INSERT INTO runs VALUES ('r', 'w', 't', 'active', 1, '${hash}', '${event.at}', '${event.at}', 1, '{}')`);
    old.close();
    const remains = openRemains(file);
    const found: Event[] = [];
    expect(await remains.scan((one) => void found.push(one))).toEqual({ lost: 0 });
    remains.close();
    expect(found).toEqual([event]);

    const store = await openSqliteStore({ file });
    const next = batchOf('r', [note('after')], { version: 1, hash }, { head });
    expect(await store.journal.append([next])).toEqual({ outcome: 'appended' });
    expect(await store.journal.read('r', 0, 10)).toEqual([event, ...next.events]);
    await store.close();
  });

  it('is refused with its log unchanged when the newer program was killed', async () => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const script = `
      const { DatabaseSync } = require('@photostructure/sqlite');
      const database = new DatabaseSync(process.argv[1]);
      database.exec('PRAGMA user_version=${migrations.length + 1}');
      process.kill(process.pid, 'SIGKILL');`;
    await runNode(['-e', script, file], 'SIGKILL');
    const before = bytesOf(file);
    expect(before.length).toBeGreaterThan(readFileSync(file).length + 1);
    expect((await faultOf(openSqliteStore({ file }))).code).toBe('newer_schema');
    expect(bytesOf(file)).toBe(before);
  });

  it('is refused when it is something else', async () => {
    const text = newFile();
    writeFileSync(text, 'not a database, but long enough for a header. '.repeat(50));
    const notOne = await faultOf(openSqliteStore({ file: text }));
    expect(notOne.code).toBe('corrupt');
    expect(notOne.hints.join()).toContain('holdfast doctor');

    const foreign = newFile();
    const database = openDatabase(foreign, false);
    database.exec('CREATE TABLE customers (name TEXT)');
    database.close();
    const before = bytesOf(foreign);
    expect((await faultOf(openSqliteStore({ file: foreign }))).code).toBe('corrupt');
    expect(bytesOf(foreign)).toBe(before);
  });

  it('reports that it is damaged', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    for (let count = 0; count < 20; count++) await put(store, 'r', [note('x'.repeat(3000))]);
    await store.close();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, Math.floor(bytes.length / 2), bytes.length);
    writeFileSync(file, bytes);
    const damaged = await openSqliteStore({ file });
    const problems = await damaged.inspect().catch((fault: Fault) => [fault.code]);
    expect(problems.length).toBeGreaterThan(0);
    expect((await faultOf(damaged.journal.read('r', 0, 99))).code).toBe('corrupt');
    await damaged.close();
  });

  it('names a row that is damaged, wherever it is in a list', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    await put(store, 'r', [note('x')], { rows: ['N-1', 'N-2', 'N-3'].map((id) => row('r', id)) });
    const database = openDatabase(file, false);
    for (const doc of ['{', '1,2']) {
      database.exec(`UPDATE records SET doc = '${doc}' WHERE id = 'N-2'`);
      const fault = await faultOf(store.projection.rows('r', { kind: 'note', limit: 9 }));
      expect([fault.code, fault.message]).toEqual(['corrupt', expect.stringContaining('row N-2')]);
    }
    database.close();
    await store.close();
  });

  it('says where it cannot be opened, and where it can only be read', async () => {
    expect((await faultOf(openSqliteStore({ file: join(newFolder(), 'no', 'such', 'folder.db') }))).code).toBe(
      'unavailable',
    );
    const file = newFile();
    const store = await openSqliteStore({ file });
    await put(store, 'r', [note('a')]);
    const reader = await openSqliteStore({ file, readonly: true });
    expect(await reader.journal.read('r', 0, 9)).toHaveLength(1);
    const fault = await faultOf(reader.journal.append([batchOf('r', [note('b')], await headOf(store, 'r'))]));
    expect(fault.code).toBe('read_only');
    expect(fault.message).toContain('read-only');
    await reader.close();
    await store.close();
  });

  it('is refused in a read-only folder', async () => {
    const folder = newFolder();
    const file = join(folder, 'journal.db');
    await (await openSqliteStore({ file })).close();
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    // The superuser may write everywhere, so the test runs as another user.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    try {
      const opened = openSqliteStore({ file }).then(async (store) => {
        await put(store, 'r', [note('a')]).finally(() => store.close());
      });
      expect((await faultOf(opened)).code).toBe('read_only');
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(folder, 0o755);
    }
  });

  it('is unavailable when another process locks it for longer than the store waits', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file, patienceMs: 30 });
    const holder = openDatabase(file, false);
    holder.exec('BEGIN IMMEDIATE');
    const fault = await faultOf(put(store, 'r', [note('a')]));
    expect(fault.code).toBe('unavailable');
    expect(await store.journal.read('r', 0, 1)).toEqual([]);
    holder.exec('ROLLBACK');
    holder.close();
    await put(store, 'r', [note('a')]);
    await store.close();
  });

  it('keeps a write durable that runs beside a heartbeat', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const holder = openDatabase(file, false);
    holder.exec('BEGIN IMMEDIATE');
    const beating = store.presence.beat('r', 'S-1', at(1));
    const appending = put(store, 'r', [note('a')]);
    holder.exec('COMMIT');
    holder.close();
    await Promise.all([beating, appending]);
    expect(await store.presence.beats('r')).toEqual(new Map([['S-1', at(1)]]));
    await store.close();
  });

  it('holds no byte of what was erased', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const bystander = await openSqliteStore({ file });
    const run = newRun();
    const secret = 'zqxsecretzqx';
    const text = (version: number) =>
      `${'filler words around it '.repeat(40)} ${secret}${version} ${'and more of them '.repeat(40)}`;
    for (let version = 1; version <= 30; version++) {
      await put(store, run, [note(text(version))], {
        // Writing the same row again and again leaves old versions in the free space of the file.
        rows: [row(run, 'N-1', { text: text(version), doc: { text: text(version) }, version })],
        cache: { format: 1, state: text(version) },
      });
    }
    expect(bytesOf(file)).toContain(secret);
    const versions = Array.from({ length: 30 }, (_, index) => index + 1);
    await put(store, run, [{ type: 'text.erased', basis: 'verified', body: { versions, reason: 'leaked' } }], {
      erase: versions.map((version) => ({ version, body: { id: 'N-1', text: '[erased]', kind: 'worklog' } })),
      rows: [row(run, 'N-1', { text: '[erased]', doc: {}, version: 31 })],
      cache: { format: 1, state: '' },
    });
    expect(bytesOf(file)).not.toContain(secret);
    expect(bytesOf(file)).not.toContain('zqxsecret');
    expect(await withWords(bystander, [run], ['erased'], 9)).toHaveLength(1);
    expect(chainProblems(await bystander.journal.read(run, 0, 99))).toEqual([]);
    expect(await store.inspect()).toEqual([]);
    await bystander.close();
    await store.close();
    expect(bytesOf(file)).not.toContain(secret);
  });

  it('gives back the space of a dropped run, and holds no byte of it', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const secret = 'zqxsecretzqx';
    const text = `${secret} ${'filler words around it '.repeat(2000)}`;
    await put(store, 'kept', [note('small')]);
    for (let version = 1; version <= 40; version++) {
      const rows = [row('large', `N-${version}`, { text, doc: { text }, version })];
      await put(store, 'large', [note(text)], { rows, cache: { format: 1, state: text } });
    }
    const before = bytesOf(file).length;
    expect(bytesOf(file)).toContain(secret);
    const { version, hash } = (await headOf(store, 'large')) ?? expect.fail();
    const by = { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal' } as const;
    const tombstone = {
      run: 'large',
      workspace: 'w',
      version,
      hash,
      at: '2026-01-02T00:00:00.000Z',
      by,
      reason: 'over',
    };
    expect(await store.journal.drop(tombstone)).toBe(true);
    expect(bytesOf(file).length).toBeLessThan(before / 4);
    expect(bytesOf(file)).not.toContain(secret);
    expect(bytesOf(file)).not.toContain('zqxsecret');
    await store.close();
    const again = await openSqliteStore({ file });
    await put(again, 'next', [note('after')]);
    const numbers = openDatabase(file, true).prepare('SELECT run, seq FROM events ORDER BY seq').all();
    expect(numbers).toMatchObject([
      { run: 'kept', seq: 1 },
      { run: 'next', seq: 42 },
    ]);
    await again.close();
  });

  it('finds a command by its key without reading the events before it', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const texts = Array.from({ length: 400 }, (_, index) => note(`${index}: ${'x'.repeat(1000)}`));
    await put(store, 'r', texts);
    await put(store, 'r', [note('keyed')], { key: 'k' });
    await store.close();
    const bytes = readFileSync(file);
    // A page with only early events in it: a statement that reads it fails.
    const page = Math.floor(bytes.indexOf('100: xxx') / 8192) * 8192;
    writeFileSync(file, bytes.fill(0xff, page, page + 8192));
    const damaged = await openSqliteStore({ file });
    expect((await faultOf(damaged.journal.read('r', 0, 500))).code).toBe('corrupt');
    expect(await damaged.journal.recorded('r', 'k')).toHaveLength(1);
    expect(await damaged.journal.recorded('r', 'unknown')).toEqual([]);
    await damaged.close();
  });

  it('stays small', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const vocabulary = Array.from({ length: 3000 }, (_, index) => `word${(index * 7919) % 3000}`);
    for (let step = 1; step <= 1000; step++) {
      const text = Array.from({ length: 230 }, (_, index) => vocabulary[(step * 31 + index * 17) % 3000])
        .join(' ')
        .slice(0, 2048);
      const doc = { key: `p${step}`, status: 'completed', summary: text };
      await store.journal.append([
        batchOf('r', [note(text)], await headOf(store, 'r'), {
          rows: [row('r', `p${step}`, { kind: 'step', text, doc, version: step })],
        }),
      ]);
    }
    await store.close();
    expect(readFileSync(file).length).toBeLessThan(7_000_000);
  });
});

describe('several processes', () => {
  it('lose nothing on one run, with the bundled store and the modules', async () => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    // Inside the project, where the bundle finds the same packages as an installed one.
    const bundle = join(newFolder(join(process.cwd(), 'node_modules')), 'writer.cjs');
    const built = await rolldown({
      input: { writer: 'writer' },
      platform: 'node',
      plugins: [
        {
          name: 'writer',
          resolveId: (id: string) => (id === 'writer' ? `${process.cwd()}/writer.ts` : null),
          load: (id: string) => (id.endsWith('/writer.ts') ? WRITER : null),
        },
      ],
    });
    await built.write({ file: bundle, format: 'cjs', codeSplitting: false });
    await built.close();
    await Promise.all(Array.from({ length: 4 }, (_, index) => runNode([bundle, file, String(index)], 0)));
    const events = await store.journal.read('r', 0, 999);
    expect(chainProblems(events)).toEqual([]);
    expect(new Set(events.map(({ session }) => session)).size).toBe(4);
    expect(events).toHaveLength(4 * 15);
    await store.close();
  });
});

const WRITER = `
import { openSqliteStore } from '${process.cwd()}/src/store/sqlite/store.ts';
import { seal, GENESIS } from '${process.cwd()}/src/core/journal/chain.ts';
const [file, name] = process.argv.slice(2);
async function main() {
  for (let count = 0; count < 15; count++) {
    const store = await openSqliteStore({ file });
    for (;;) {
      const head = (await store.journal.heads({ run: 'r' }))[0] ?? { version: 0, hash: GENESIS };
      const stamp = { run: 'r', at: new Date().toISOString(), actor: { kind: 'agent', name: 'w' }, session: name, key: null };
      const events = seal([{ type: 'note.added', basis: 'declared', body: { id: 'N-1', text: name + '.' + count, kind: 'worklog' } }], stamp, head);
      const columns = { workspace: 'w', title: 't', status: 'active', position: {} };
      if ((await store.journal.append([{ run: 'r', expected: head.version, events, head: columns, rows: [] }])).outcome === 'appended') break;
    }
    await store.close();
  }
}
main();
`;

/** Runs Node with only the PATH of this process's environment. */
function runNode(words: string[], expected: number | string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    child.on('close', (code, signal) =>
      (code ?? signal) === expected ? resolve() : reject(new Error(`ended with ${code ?? signal}: ${said}`)),
    );
  });
}
