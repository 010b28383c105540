import {
  EVENT_COLUMNS,
  type EventRow,
  fromColumn,
  fromEventRow,
  fromHeadRow,
  fromRecordRow,
  HEAD_COLUMNS,
  type HeadRow,
  parseColumn,
  RECORD_COLUMNS,
  type RecordRow,
  toColumn,
} from '../columns.ts';
import { hasFragments, parseWords } from '../search-terms.ts';
import type { Cached, Derived, Head, HeadFilter, RowFilter, Store, StoredRow } from '../store.ts';
import { fromTextColumn } from '../text-column.ts';
import { append, cachePart, recordsPart } from './append.ts';
import { type Connection, openConnection, type Parameter } from './connection.ts';
import { readFeed } from './feed.ts';
import { openEars } from './listen.ts';
import { tagQuery, wordsQuery } from './terms.ts';
import { openTokens } from './tokens.ts';

export interface PostgresOptions {
  url: string;
  /** The schema that holds the tables; `holdfast` unless told. It is created if need be. */
  schema?: string;
  /** How long to go on trying while the server is away. */
  patienceMs?: number;
  /** How many statements may run at once. */
  connections?: number;
  random?: () => number;
}

type Row = RecordRow & { text: string | null };

const COLUMNS = `${RECORD_COLUMNS}, text`;

/** A journal on a PostgreSQL server. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const connection = await openConnection({
    schema: 'holdfast',
    patienceMs: 5000,
    connections: 8,
    random: Math.random,
    ...options,
  });
  const { query, name } = connection;
  const ears = openEars(connection);

  return {
    place: connection.place,
    async append(batch) {
      const appended = await append(connection, batch);
      if (appended.outcome === 'appended') ears.announce();
      if (batch.erase !== undefined && batch.erase.length > 0 && appended.outcome !== 'conflict')
        await scrub(connection);
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
    async cached(run, format) {
      const [row] = await query<Cached>(
        `SELECT version, hash, state FROM ${name}.cache WHERE run = $1 AND format = $2`,
        [toColumn(run), format],
      );
      return row === undefined ? null : { ...row };
    },
    async recall(run, references) {
      const rows = await query<Row>(
        `WITH wanted AS MATERIALIZED (SELECT json_array_elements_text($2::text::json) AS reference)
         SELECT ${COLUMNS} FROM ${name}.records WHERE run = $1 AND id IN (SELECT reference FROM wanted)
         UNION SELECT ${COLUMNS} FROM ${name}.records WHERE run = $1 AND alias IN (SELECT reference FROM wanted)`,
        [toColumn(run), JSON.stringify(references.map(toColumn))],
      );
      return rows.map(toRecord);
    },
    rows: (run, filter) => listRecords(connection, run, filter),
    async count(run, kind) {
      const rows = await query<{ status: string; count: number }>(
        `SELECT status, count(*)::integer AS count FROM ${name}.records WHERE run = $1 AND kind = $2 GROUP BY status`,
        [toColumn(run), toColumn(kind)],
      );
      return Object.fromEntries(rows.map(({ status, count }) => [fromColumn(status), count]));
    },
    search: (runs, words, limit) => searchRecords(connection, runs, words, limit),
    async beat(run, session, at) {
      // A sign of life may be lost: it is not worth a wait for the disk.
      await query(
        `WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO ${name}.beats AS known (run, session, at) SELECT $1, $2, $3 FROM relaxed
         ON CONFLICT (run, session) DO UPDATE SET at = excluded.at WHERE excluded.at > known.at`,
        [toColumn(run), toColumn(session), at],
      );
    },
    async beats(run) {
      const rows = await query<{ session: string; at: string }>(
        `SELECT session, at FROM ${name}.beats WHERE run = $1`,
        [toColumn(run)],
      );
      return new Map(rows.map(({ session, at }) => [fromColumn(session), at]));
    },
    listen: async (wake) => ears.listen(wake),
    tokens: async () => openTokens(connection),
    replaceDerived: (run, version, derived) => replaceDerived(connection, run, version, derived),
    inspect: () => inspect(connection),
    async close() {
      await ears.close();
      await connection.close();
    },
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

/** The last touched first. Records touched by one event stay together, even past the limit: the next page starts before it. */
async function listRecords({ query, name }: Connection, run: string, filter: RowFilter): Promise<StoredRow[]> {
  if (filter.limit <= 0) return [];
  const values: Parameter[] = [];
  const use = (value: Parameter) => `$${values.push(value)}`;
  const where = [`run = ${use(toColumn(run))}`, `kind = ${use(toColumn(filter.kind))}`];
  if (filter.status !== undefined) where.push(`status = ${use(toColumn(filter.status))}`);
  if (filter.before !== undefined) where.push(`version < ${use(filter.before)}`);
  if (filter.tag !== undefined) where.push(`terms @@ ${use(tagQuery(run, filter.kind, filter.tag))}::text::tsquery`);
  const rows = await query<Row>(
    `SELECT * FROM (
       SELECT ${COLUMNS} FROM ${name}.records WHERE ${where.join(' AND ')}
       ORDER BY version DESC FETCH FIRST (${use(filter.limit)}::bigint) ROWS WITH TIES
     ) AS page ORDER BY version DESC, id`,
    values,
  );
  return rows.map(toRecord);
}

/** What the terms find is a little too much where a word has no spaces around it; then more is read until it is enough. */
async function searchRecords(
  { query, name }: Connection,
  runs: readonly string[],
  words: readonly string[],
  limit: number,
): Promise<StoredRow[]> {
  const wanted = parseWords(words);
  if (wanted === null || limit <= 0) return [];
  const match = wordsQuery(wanted);
  const found: StoredRow[] = [];
  for (let offset = 0, size = limit; ; offset += size, size = limit * 8) {
    const rows = await query<Row>(
      `SELECT ${COLUMNS} FROM ${name}.records
       WHERE run IN (SELECT json_array_elements_text($1::text::json)) AND terms @@ $2::text::tsquery
       ORDER BY at DESC, version DESC, run, id, kind LIMIT $3 OFFSET $4`,
      [JSON.stringify(runs.map(toColumn)), match, size, offset],
    );
    found.push(...rows.map(toRecord).filter(({ text }) => hasFragments(text ?? '', wanted)));
    if (rows.length < size || found.length >= limit || wanted.fragments.length === 0) return found.slice(0, limit);
  }
}

function toRecord(row: Row): StoredRow {
  return fromRecordRow(row, (doc) =>
    row.text === null ? null : fromTextColumn(parseColumn(row.text, `record ${row.id}`), doc),
  );
}

async function replaceDerived(
  { patiently, sql, name }: Connection,
  run: string,
  version: number,
  derived: Derived,
): Promise<boolean> {
  const { workspace, title, status, position } = derived.head;
  const column = toColumn(run);
  return patiently(async () => {
    const replaced = await sql.begin(async (transaction) => {
      const heads = await transaction.unsafe(
        `UPDATE ${name}.runs SET workspace = $3, title = $4, status = $5, position = $6 WHERE run = $1 AND version = $2 RETURNING run`,
        [column, version, toColumn(workspace), toColumn(title), toColumn(status), JSON.stringify(position)],
      );
      if (heads.length === 0) return false;
      await transaction.unsafe(`DELETE FROM ${name}.records WHERE run = $1`, [column]);
      const values: Parameter[] = [column, derived.cache.format, derived.cache.state];
      const parts = [
        `head AS (SELECT run, version, hash FROM ${name}.runs WHERE run = $1::text)`,
        cachePart(name, '$2::integer', '$3::text'),
        recordsPart(name, derived.rows, (value, type) => `$${values.push(value)}::${type}`),
      ];
      await transaction.unsafe(`WITH ${parts.join(',\n')} SELECT`, values);
      return true;
    });
    return replaced;
  });
}

/**
 * Takes the old row versions out of the tables. What the server keeps elsewhere (its write-ahead log, archives, replicas,
 * backups) is beyond the reach of a client.
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

/** PostgreSQL checks its own pages; what can be told from here is whether heads and journal agree. */
async function inspect({ query, name }: Connection): Promise<string[]> {
  const rows = await query<{ run: string; version: number; events: number; last: number }>(
    `SELECT r.run, r.version, e.events, e.last FROM ${name}.runs AS r LEFT JOIN LATERAL (
       SELECT count(*)::integer AS events, coalesce(max(version), 0) AS last FROM ${name}.events WHERE run = r.run) AS e ON true
     WHERE r.version <> e.events OR r.version <> e.last`,
  );
  const headless = await query<{ run: string }>(
    `SELECT DISTINCT run FROM ${name}.events AS e WHERE NOT EXISTS (SELECT 1 FROM ${name}.runs WHERE run = e.run)`,
    [],
  );
  return [
    ...rows.map(
      ({ run, version, events, last }) =>
        `run ${run} is at version ${version} but has ${events} events, the last of them ${last}`,
    ),
    ...headless.map(({ run }) => `run ${fromColumn(run)} has events and no head`),
  ];
}
