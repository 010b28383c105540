import type { Event } from '../../core/journal/event.ts';
import {
  badCursor,
  EVENT_COLUMNS,
  type EventRow,
  fromColumn,
  fromEventRow,
  fromHeadRow,
  HEAD_COLUMNS,
  type HeadRow,
  toColumn,
  toEventRow,
} from '../columns.ts';
import type { Appended, Batch, CacheColumns, Derived, Head, HeadFilter, Store } from '../store.ts';
import { type Connection, openConnection, patiently } from './connection.ts';
import type { Ears } from './listen.ts';
import { countRecords, dropRecords, listRecords, recallRecords, searchRecords, writeRecord } from './projection.ts';

export interface SqliteOptions {
  file: string;
  readonly?: boolean;
  /** How long to wait for other processes before `unavailable`. */
  patienceMs?: number;
  random?: () => number;
}

/** A journal in one file that many processes share. Its folder must exist. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const settings = { readonly: false, patienceMs: 10_000, random: Math.random, ...options };
  const connection = await openConnection(settings);
  const { statement } = connection;
  let ears: Ears | undefined;

  /** The pages that held the words are still in the file as free space, and in the log: both are written anew. */
  async function scrub(): Promise<void> {
    await connection.read(() => statement('VACUUM').run());
    await patiently(settings, () => {
      const { busy } = statement('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
      // Told as SQLite tells it elsewhere, so that it is waited for in the same way.
      if (busy !== 0) throw Object.assign(new Error('a reader still uses the log'), { errcode: 5 });
    });
  }

  return {
    place: settings.file,
    async append(batch) {
      if (batch.erase === undefined || batch.erase.length === 0) {
        const outcome = await connection.write(() => append(connection, batch));
        ears?.heard();
        return outcome;
      }
      const appended = await connection.write(() => append(connection, batch), { secure: true });
      ears?.heard();
      // A batch that is replayed may have been interrupted before the bytes were gone.
      if (appended.outcome !== 'conflict') await scrub();
      return appended;
    },
    recorded: (run, key) => connection.read(() => recorded(connection, toColumn(run), key)),
    read: (run, after, limit) =>
      connection.read(() =>
        (
          statement(`SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND version > ? ORDER BY version LIMIT ?`).all(
            toColumn(run),
            after,
            limit,
          ) as EventRow[]
        ).map(fromEventRow),
      ),
    feed: (cursor, limit) => connection.read(() => readFeed(connection, cursor, limit)),
    heads: (filter) => connection.read(() => readHeads(connection, filter)),
    cached: (run, format) =>
      connection.read(() => {
        const row = statement('SELECT version, hash, state FROM cache WHERE run = ? AND format = ?').get(
          toColumn(run),
          format,
        );
        return row === undefined ? null : { ...(row as { version: number; hash: string; state: string }) };
      }),
    recall: (run, references) => connection.read(() => recallRecords(connection, toColumn(run), references)),
    rows: (run, filter) => connection.snapshot(() => listRecords(connection, toColumn(run), filter)),
    count: (run, kind) =>
      connection.read(() => {
        const counts = countRecords(connection, toColumn(run), toColumn(kind));
        return Object.fromEntries([...counts].map(([status, count]) => [fromColumn(status), count]));
      }),
    search: (runs, words, limit) => connection.snapshot(() => searchRecords(connection, runs, words, limit)),
    async beat(run, session, at) {
      await connection.write(
        () =>
          statement(
            `INSERT INTO beats (run, session, at) VALUES (?, ?, ?)
             ON CONFLICT (run, session) DO UPDATE SET at = excluded.at WHERE excluded.at > at`,
          ).run(toColumn(run), toColumn(session), at),
        // A sign of life may be lost: it is not worth a wait for the disk.
        { relaxed: true },
      );
    },
    beats: (run) =>
      connection.read(() => {
        const rows = statement('SELECT session, at FROM beats WHERE run = ?').all(toColumn(run)) as {
          session: string;
          at: string;
        }[];
        return new Map(rows.map(({ session, at }) => [fromColumn(session), at]));
      }),
    async listen(wake) {
      const { openEars } = await import('./listen.ts');
      ears ??= openEars(connection);
      return ears.listen(wake);
    },
    async tokens() {
      const { openTokens } = await import('./tokens.ts');
      return openTokens(connection);
    },
    replaceDerived: (run, version, derived) =>
      connection.write(() => replaceDerived(connection, run, version, derived)),
    inspect: () =>
      connection.read(() => [
        ...(statement('PRAGMA integrity_check').all() as { integrity_check: string }[])
          .map((row) => row.integrity_check)
          .filter((line) => line !== 'ok'),
        ...(
          statement('SELECT DISTINCT run FROM events WHERE run NOT IN (SELECT run FROM runs)').all() as {
            run: string;
          }[]
        ).map(({ run }) => `run ${fromColumn(run)} has events and no head`),
      ]),
    close() {
      ears?.close();
      return connection.close();
    },
  };
}

function recorded({ statement }: Connection, run: string, key: string): Event[] {
  const rows = statement(`SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND key = ? ORDER BY version`).all(
    run,
    toColumn(key),
  );
  return (rows as EventRow[]).map(fromEventRow);
}

function append(connection: Connection, batch: Batch): Appended {
  const { statement } = connection;
  const run = toColumn(batch.run);
  const key = batch.events[0]?.key ?? null;
  if (key !== null) {
    const events = recorded(connection, run, key);
    if (events.length > 0) return { outcome: 'replayed', events };
  }
  const known = statement('SELECT version, hash, opened_at, updated_at FROM runs WHERE run = ?').get(run);
  const head = (known ?? { version: 0 }) as Partial<HeadRow> & { version: number };
  if (head.version !== batch.expected) return { outcome: 'conflict', version: head.version };

  let touched: number | bigint = 0;
  for (const event of batch.events) {
    const row = toEventRow(event);
    touched = statement(`INSERT INTO events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
      run,
      row.version,
      row.at,
      row.type,
      row.actor_kind,
      row.actor_name,
      row.session,
      row.key,
      row.basis,
      row.previous,
      row.hash,
      row.body_hash,
      row.body,
    ).lastInsertRowid;
  }
  const last = batch.events.at(-1);
  const version = last?.version ?? head.version;
  const hash = last?.hash ?? head.hash ?? '';
  const updatedAt = last?.at ?? head.updated_at ?? '';
  for (const record of batch.rows) writeRecord(connection, record);
  if (batch.head === undefined) {
    statement('UPDATE runs SET version = ?, hash = ?, updated_at = ?, touched = max(touched, ?) WHERE run = ?').run(
      version,
      hash,
      updatedAt,
      Number(touched),
      run,
    );
  } else {
    const { workspace, title, status, position } = batch.head;
    statement(
      `INSERT INTO runs (run, workspace, title, status, version, hash, opened_at, updated_at, touched, position)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET workspace = excluded.workspace, title = excluded.title, status = excluded.status,
       version = excluded.version, hash = excluded.hash, updated_at = excluded.updated_at,
       touched = max(touched, excluded.touched), position = excluded.position`,
    ).run(
      run,
      toColumn(workspace),
      toColumn(title),
      toColumn(status),
      version,
      hash,
      head.opened_at ?? batch.events[0]?.at ?? '',
      updatedAt,
      Number(touched),
      JSON.stringify(position),
    );
  }
  if (batch.cache !== undefined) writeCache(connection, run, version, hash, batch.cache);
  if (batch.erase !== undefined && batch.erase.length > 0) erase(connection, run, batch.erase);
  return { outcome: 'appended' };
}

function erase({ statement }: Connection, run: string, bodies: NonNullable<Batch['erase']>): void {
  for (const { version, body } of bodies) {
    statement('UPDATE events SET body = ? WHERE run = ? AND version = ?').run(JSON.stringify(body), run, version);
  }
  // A term that is deleted stays in the index until its part of it is merged.
  statement("INSERT INTO search (search) VALUES ('optimize')").run();
}

function replaceDerived(connection: Connection, name: string, version: number, derived: Derived): boolean {
  const { statement } = connection;
  const run = toColumn(name);
  const head = statement('SELECT version, hash FROM runs WHERE run = ?').get(run) as
    | { version: number; hash: string }
    | undefined;
  if (head === undefined || head.version !== version) return false;
  dropRecords(connection, run);
  for (const record of derived.rows) writeRecord(connection, record);
  const { workspace, title, status, position } = derived.head;
  statement('UPDATE runs SET workspace = ?, title = ?, status = ?, position = ? WHERE run = ?').run(
    toColumn(workspace),
    toColumn(title),
    toColumn(status),
    JSON.stringify(position),
    run,
  );
  writeCache(connection, run, version, head.hash, derived.cache);
  return true;
}

function writeCache({ statement }: Connection, run: string, version: number, hash: string, cache: CacheColumns): void {
  statement(
    `INSERT INTO cache (run, version, hash, format, state) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET version = excluded.version, hash = excluded.hash, format = excluded.format, state = excluded.state`,
  ).run(run, version, hash, cache.format, cache.state);
}

function readFeed({ statement }: Connection, cursor: string | null, limit: number) {
  if (cursor === 'now') {
    const { end } = statement('SELECT coalesce(max(seq), 0) AS end FROM events').get() as { end: number };
    return { events: [], cursor: String(end) };
  }
  if (cursor !== null && !/^\d{1,15}$/.test(cursor)) throw badCursor(cursor);
  const rows = statement(`SELECT seq, ${EVENT_COLUMNS} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`).all(
    Number(cursor),
    limit,
  );
  const last = rows.at(-1) as { seq: number } | undefined;
  return {
    events: (rows as EventRow[]).map(fromEventRow),
    cursor: last === undefined ? (cursor ?? '0') : String(last.seq),
  };
}

function readHeads({ statement }: Connection, { run, workspace, status, limit }: HeadFilter): Head[] {
  const wanted = Object.entries({ run, workspace, status }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const where = wanted.map(([column]) => `${column} = ?`).join(' AND ');
  const rows = statement(
    `SELECT ${HEAD_COLUMNS} FROM runs
     ${where === '' ? '' : `WHERE ${where}`} ORDER BY touched DESC LIMIT ?`,
  ).all(...wanted.map(([, value]) => toColumn(value)), limit ?? -1);
  return (rows as HeadRow[]).map(fromHeadRow);
}
