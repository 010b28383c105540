import {
  EVENT_COLUMNS,
  type EventRow,
  fromEventRow,
  fromHeadRow,
  HEAD_COLUMNS,
  type HeadRow,
  toColumn,
} from '../columns.ts';
import type { Head, HeadFilter, Journal } from '../journal.ts';
import { append } from './append.ts';
import type { Connection } from './connection.ts';
import { readFeed } from './feed.ts';

export function openJournal(connection: Connection, announce: () => void): Journal {
  const { query, name } = connection;
  return {
    async append(batches) {
      const appended = await append(connection, batches);
      if (appended.outcome === 'appended') announce();
      const erases = batches.some(({ erase }) => erase !== undefined && erase.length > 0);
      // After a replay too: the first try may have been interrupted before the bytes were gone.
      if (erases && appended.outcome !== 'conflict') await scrub(connection);
      return appended;
    },
    async recorded(run, key) {
      const rows = await query<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM ${name}.events WHERE run = $1 AND key = $2 ORDER BY version`,
        [toColumn(run), toColumn(key)],
      );
      return rows.map(fromEventRow);
    },
    async read(run, after, limit) {
      const rows = await query<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM ${name}.events WHERE run = $1 AND version > $2 ORDER BY version LIMIT $3`,
        [toColumn(run), after, limit],
      );
      return rows.map(fromEventRow);
    },
    feed: (cursor, limit) => readFeed(connection, cursor, limit),
    heads: (filter) => readHeads(connection, filter),
  };
}

async function readHeads({ query, name }: Connection, { run, workspace, status, limit }: HeadFilter): Promise<Head[]> {
  const wanted = Object.entries({ run, workspace, status }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const where = wanted.map(([column], index) => `${column} = $${index + 1}`).join(' AND ');
  const rows = await query<HeadRow>(
    `SELECT ${HEAD_COLUMNS} FROM ${name}.runs
     ${where === '' ? '' : `WHERE ${where}`} ORDER BY touched DESC LIMIT $${wanted.length + 1}`,
    [...wanted.map(([, value]) => toColumn(value)), limit ?? null],
  );
  return rows.map(fromHeadRow);
}

/**
 * Removes the old row versions from the tables. A client cannot reach what the server keeps elsewhere: its write-ahead
 * log, archives, replicas and backups.
 */
async function scrub({ patiently, sql, name }: Connection): Promise<void> {
  await patiently(async () => {
    const reserved = await sql.reserve();
    try {
      await reserved.unsafe('SET statement_timeout = 0');
      await reserved.unsafe(`VACUUM ${name}.events, ${name}.records, ${name}.cache, ${name}.runs`);
      await reserved.unsafe('RESET statement_timeout');
    } finally {
      reserved.release();
    }
  });
}
