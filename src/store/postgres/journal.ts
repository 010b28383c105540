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
import { scrubAfter } from '../scrub.ts';
import { append } from './append.ts';
import type { Connection, Parameter } from './connection.ts';
import { drop, readTombstones } from './drop.ts';
import { readFeed, whereWithin } from './feed.ts';
import { openGroups } from './group.ts';
import { readValue } from './values.ts';

export function openJournal(connection: Connection, announce: () => void): Journal {
  const { query, name } = connection;
  const groups = openGroups(connection);
  return {
    async append(batches) {
      const appended = await append(connection, groups, batches);
      if (appended.outcome === 'appended') announce();
      const erases = batches.some(({ erase }) => erase !== undefined && erase.length > 0);
      // After a replay too: the first try may have been interrupted before the bytes were gone.
      if (erases && appended.outcome !== 'conflict') await scrubAfter(() => scrub(connection));
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
    feed: (cursor, limit, within) => readFeed(connection, cursor, limit, within),
    heads: (filter) => readHeads(connection, filter),
    value: (run, sha256) => readValue(connection, run, sha256),
    async drop(tombstone) {
      const isDropped = await drop(connection, tombstone);
      if (isDropped) announce();
      return isDropped;
    },
    dropped: (within) => readTombstones(connection, within),
  };
}

async function readHeads({ query, name }: Connection, filter: HeadFilter): Promise<Head[]> {
  const { run, workspace, status, limit, ...within } = filter;
  const values: Parameter[] = [];
  const use = (value: Parameter): string => `$${values.push(value)}`;
  const where = whereWithin(within, use);
  for (const [column, value] of Object.entries({ run, workspace, status })) {
    if (value !== undefined)
      where.push(
        `${column} IN (${[value]
          .flat()
          .map((one) => use(toColumn(one)))
          .join(', ')})`,
      );
  }
  const rows = await query<HeadRow>(
    `SELECT ${HEAD_COLUMNS} FROM ${name}.runs
     ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY touched DESC LIMIT ${use(limit ?? null)}`,
    values,
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
      await reserved.unsafe(`VACUUM ${name}.events, ${name}.records, ${name}.cache, ${name}.runs, ${name}."values"`);
      await reserved.unsafe('RESET statement_timeout');
    } finally {
      reserved.release();
    }
  });
}
