import type { Event } from '../../core/journal/event.ts';
import {
  EVENT_COLUMNS,
  type EventRow,
  fromEventRow,
  fromHeadRow,
  fromTombstoneRow,
  HEAD_COLUMNS,
  type HeadRow,
  TOMBSTONE_COLUMNS,
  type TombstoneRow,
  toColumn,
  toEventRow,
} from '../columns.ts';
import { badCursor } from '../fault.ts';
import type { Appended, Batch, FeedPage, Head, HeadFilter, Journal, Tombstone, Within } from '../journal.ts';
import { findRefusal, START } from '../refusal.ts';
import { scrubAfter } from '../scrub.ts';
import type { Connection } from './connection.ts';
import { writeCache, writeRow } from './projection.ts';
import { mergeTerms, scrub } from './scrub.ts';
import { readValue, writeValues } from './values.ts';

export function openJournal(connection: Connection, announce: () => void): Journal {
  const { statement, read, write } = connection;
  return {
    async append(batches) {
      const secure = batches.some(({ erase }) => erase !== undefined && erase.length > 0);
      const appended = await write(() => append(connection, batches), { secure });
      if (appended.outcome === 'appended') announce();
      // After a replay too: the first try may have been interrupted before the bytes were gone.
      if (secure && appended.outcome !== 'conflict') await scrubAfter(() => scrub(connection));
      return appended;
    },
    recorded: (run, key) => read(() => recorded(connection, run, key)),
    read: (run, after, limit) =>
      read(() => {
        const rows = statement(
          `SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND version > ? ORDER BY version LIMIT ?`,
        ).all(toColumn(run), after, limit);
        return (rows as EventRow[]).map(fromEventRow);
      }),
    feed: (cursor, limit, within) => read(() => readFeed(connection, cursor, limit, within)),
    heads: (filter) => read(() => readHeads(connection, filter)),
    value: (run, sha256) => read(() => readValue(connection, toColumn(run), sha256)),
    async drop(tombstone) {
      // Loaded on first use: hardly any command drops a run.
      const { drop } = await import('./drop.ts');
      const isDropped = await drop(connection, tombstone);
      if (isDropped) announce();
      return isDropped;
    },
    dropped: (within) => read(() => readTombstones(connection, within)),
  };
}

function recorded({ statement }: Connection, run: string, key: string): Event[] {
  const rows = statement(`SELECT ${EVENT_COLUMNS} FROM events WHERE run = ? AND key = ? ORDER BY version`).all(
    toColumn(run),
    toColumn(key),
  );
  return (rows as EventRow[]).map(fromEventRow);
}

/** The columns of a head that an append reads and moves on. */
type KnownHead = Pick<HeadRow, 'version' | 'hash' | 'opened_at' | 'updated_at'>;

/** Inside a write transaction: nothing changes between the checks and the writes. */
function append(connection: Connection, batches: readonly Batch[]): Appended {
  const heads = new Map<string, KnownHead | undefined>();
  const refused = findRefusal(batches, {
    head(run) {
      if (!heads.has(run)) {
        const known = connection
          .statement('SELECT version, hash, opened_at, updated_at FROM runs WHERE run = ?')
          .get(toColumn(run));
        heads.set(run, known as KnownHead | undefined);
      }
      return heads.get(run) ?? START;
    },
    hashAt(run, version) {
      const row = connection
        .statement('SELECT hash FROM events WHERE run = ? AND version = ?')
        .get(toColumn(run), version) as { hash: string } | undefined;
      return row?.hash ?? null;
    },
    recorded: (run, key) => recorded(connection, run, key),
  });
  if (refused) return refused;
  for (const batch of batches) heads.set(batch.run, writeBatch(connection, batch, heads.get(batch.run)));
  return { outcome: 'appended' };
}

function writeBatch(connection: Connection, batch: Batch, known: KnownHead | undefined): KnownHead {
  const run = toColumn(batch.run);
  const touched = writeEvents(connection, run, batch.events);
  const last = batch.events.at(-1);
  const head = {
    version: last?.version ?? batch.expected,
    hash: last?.hash ?? known?.hash ?? '',
    opened_at: known?.opened_at ?? batch.events[0]?.at ?? '',
    updated_at: last?.at ?? known?.updated_at ?? '',
  };
  for (const row of batch.rows) writeRow(connection, row);
  writeHead(connection, run, head, touched, batch.head);
  if (batch.cache !== undefined) writeCache(connection, run, head, batch.cache);
  if (batch.values !== undefined) writeValues(connection, run, batch.values);
  if (batch.revives) connection.statement('DELETE FROM dropped WHERE run = ?').run(run);
  if (batch.erase !== undefined && batch.erase.length > 0) erase(connection, run, batch.erase);
  return head;
}

/** Returns the number of the last event in the order of recording; 0 without events. */
function writeEvents({ statement }: Connection, run: string, events: readonly Event[]): number {
  if (events.length === 0) return 0;
  let { number } = statement(
    'SELECT max(coalesce((SELECT max(seq) FROM events), 0), coalesce((SELECT reserved FROM meta), 0)) AS number',
  ).get() as { number: number };
  for (const event of events) {
    const row = toEventRow(event);
    number += 1;
    statement(`INSERT INTO events (seq, ${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
      number,
      run,
      row.version,
      row.at,
      row.type,
      row.actor_kind,
      row.actor_name,
      row.evidence,
      row.session,
      row.key,
      row.basis,
      row.previous,
      row.hash,
      row.body_hash,
      row.body,
    );
  }
  return number;
}

function writeHead(
  { statement }: Connection,
  run: string,
  { version, hash, opened_at, updated_at }: KnownHead,
  touched: number,
  columns: Batch['head'],
): void {
  if (columns === undefined) {
    statement('UPDATE runs SET version = ?, hash = ?, updated_at = ?, touched = max(touched, ?) WHERE run = ?').run(
      version,
      hash,
      updated_at,
      touched,
      run,
    );
    return;
  }
  const { workspace, title, status, position } = columns;
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
    opened_at,
    updated_at,
    touched,
    JSON.stringify(position),
  );
}

function erase(connection: Connection, run: string, bodies: NonNullable<Batch['erase']>): void {
  for (const { version, body } of bodies) {
    connection
      .statement('UPDATE events SET body = ? WHERE run = ? AND version = ?')
      .run(JSON.stringify(body), run, version);
  }
  mergeTerms(connection);
}

function readFeed({ statement }: Connection, cursor: string | null, limit: number, within: Within = {}): FeedPage {
  if (cursor === 'now') {
    const { end } = statement('SELECT coalesce(max(seq), 0) AS end FROM events').get() as { end: number };
    return { events: [], cursor: String(end) };
  }
  if (cursor !== null && !/^\d{1,15}$/.test(cursor)) throw badCursor(cursor);
  const from = Number(cursor);
  // The end of the page counts events of all runs: a reader of few runs does not read the others again at each look.
  const { end } = statement(
    'SELECT max(seq) AS end FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)',
  ).get(from, limit) as { end: number | null };
  if (end === null) return { events: [], cursor: cursor ?? '0' };
  const { where, values } = whereWithin(within);
  const isSeen = where.length === 0 ? '' : `AND run IN (SELECT run FROM runs WHERE ${where.join(' AND ')})`;
  const rows = statement(`SELECT ${EVENT_COLUMNS} FROM events WHERE seq > ? AND seq <= ? ${isSeen} ORDER BY seq`).all(
    from,
    end,
    ...values,
  );
  return { events: (rows as EventRow[]).map(fromEventRow), cursor: String(end) };
}

function readHeads({ statement }: Connection, { run, workspace, status, limit, ...within }: HeadFilter): Head[] {
  const { where, values } = whereWithin(within);
  for (const [column, value] of Object.entries({ run, workspace, status })) {
    if (value === undefined) continue;
    where.push(`${column} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify([value].flat().map(toColumn)));
  }
  const rows = statement(
    `SELECT ${HEAD_COLUMNS} FROM runs
     ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY touched DESC LIMIT ?`,
  ).all(...values, limit ?? -1);
  return (rows as HeadRow[]).map(fromHeadRow);
}

function readTombstones({ statement }: Connection, within: Within): Tombstone[] {
  const { where, values } = whereWithin(within);
  const rows = statement(
    `SELECT ${TOMBSTONE_COLUMNS} FROM dropped ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY at DESC`,
  ).all(...values);
  return (rows as TombstoneRow[]).map(fromTombstoneRow);
}

/** Conditions on the tables `runs` and `dropped`. */
function whereWithin({ workspaces, runs }: Within): { where: string[]; values: string[] } {
  const where: string[] = [];
  const values: string[] = [];
  for (const [column, list] of [
    ['workspace', workspaces],
    ['run', runs],
  ] as const) {
    if (list === undefined) continue;
    where.push(`${column} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(list.map(toColumn)));
  }
  return { where, values };
}
