import { indexTerms } from '../../core/search/words.ts';
import { fromColumn, parseColumn, ROW_COLUMNS, type RowColumns, toColumn, toRow } from '../columns.ts';
import type { CacheColumns, Cached, Derived, Projection, RowFilter, StoredRow } from '../projection.ts';
import { fromTextColumn, toTextColumn } from '../text-column.ts';
import type { Connection } from './connection.ts';
import type { Value } from './driver.ts';
import { searchRows } from './search.ts';
import { COLUMNS, type Row, textOf, toStored } from './stored-row.ts';

type Statements = Pick<Connection, 'statement'>;

export function openProjection(connection: Connection): Projection {
  const { statement, read, snapshot, write } = connection;
  return {
    cached: (run, format) =>
      read(() => {
        const row = statement('SELECT version, hash, state FROM cache WHERE run = ? AND format = ?').get(
          toColumn(run),
          format,
        );
        return row === undefined ? null : { ...(row as Cached) };
      }),
    recall: (run, references) => read(() => recallRows(connection, toColumn(run), references)),
    rows: (run, filter) => snapshot(() => listRows(connection, toColumn(run), filter)),
    count: (run, kind) =>
      read(() => {
        const counts = statement(
          'SELECT status, count(*) AS count FROM records WHERE run = ? AND kind = ? GROUP BY status',
        ).all(toColumn(run), toColumn(kind)) as { status: string; count: number }[];
        return Object.fromEntries(counts.map(({ status, count }) => [fromColumn(status), count]));
      }),
    search: (runs, query, filter) => snapshot(() => searchRows(connection, runs, query, filter)),
    replaceDerived: (run, version, derived) => write(() => replaceDerived(connection, toColumn(run), version, derived)),
  };
}

/** Inside a write transaction. */
export function writeRow({ statement }: Statements, stored: StoredRow): void {
  const row = toRow(stored);
  const text = toTextColumn(stored.text, stored.doc);
  const old = statement(`SELECT ${COLUMNS} FROM records WHERE run = ? AND id = ? AND kind = ?`).get(
    row.run,
    row.id,
    row.kind,
  ) as Row | undefined;
  const { number } = statement(
    `INSERT INTO records (${ROW_COLUMNS}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, id, kind) DO UPDATE SET alias = excluded.alias, status = excluded.status, version = excluded.version,
       at = excluded.at, tags = excluded.tags, doc = excluded.doc, text = excluded.text
     RETURNING number`,
  ).get(row.run, row.kind, row.id, row.alias, row.status, row.version, row.at, row.tags, row.doc, text) as {
    number: number;
  };

  for (const tag of old === undefined ? [] : tagsOf(old)) {
    statement(
      'DELETE FROM tags WHERE run = ? AND kind = ? AND tag = ? AND status = ? AND version = ? AND number = ?',
    ).run(row.run, row.kind, tag, (old as Row).status, (old as Row).version, number);
  }
  for (const tag of tagsOf(row)) {
    statement('INSERT INTO tags (run, kind, tag, status, version, number) VALUES (?, ?, ?, ?, ?, ?)').run(
      row.run,
      row.kind,
      tag,
      row.status,
      row.version,
      number,
    );
  }
  const oldText = old === undefined ? null : textOf(old)(parseColumn(old.doc, `row ${old.id}`));
  if (oldText === stored.text) return;
  if (oldText !== null) statement('DELETE FROM search WHERE rowid = ?').run(number);
  if (stored.text === null) return;
  statement('INSERT INTO search (rowid, terms) VALUES (?, ?)').run(number, indexTerms(stored.text).join(' '));
}

/** Inside a write transaction. */
function replaceDerived(connection: Connection, run: string, version: number, derived: Derived): boolean {
  const { statement } = connection;
  const head = statement('SELECT version, hash FROM runs WHERE run = ?').get(run) as
    | { version: number; hash: string }
    | undefined;
  if (head === undefined || head.version !== version) return false;
  dropRows(connection, run);
  for (const row of derived.rows) writeRow(connection, row);
  const { workspace, title, status, position } = derived.head;
  statement('UPDATE runs SET workspace = ?, title = ?, status = ?, position = ? WHERE run = ?').run(
    toColumn(workspace),
    toColumn(title),
    toColumn(status),
    JSON.stringify(position),
    run,
  );
  writeCache(connection, run, head, derived.cache);
  return true;
}

/** Inside a write transaction. */
export function writeCache(
  { statement }: Statements,
  run: string,
  { version, hash }: { version: number; hash: string },
  { format, state }: CacheColumns,
): void {
  statement(
    `INSERT INTO cache (run, version, hash, format, state) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (run) DO UPDATE SET version = excluded.version, hash = excluded.hash, format = excluded.format, state = excluded.state`,
  ).run(run, version, hash, format, state);
}

/** Inside a write transaction. */
export function dropRows({ statement }: Statements, run: string): void {
  statement('DELETE FROM search WHERE rowid IN (SELECT number FROM records WHERE run = ? AND text IS NOT NULL)').run(
    run,
  );
  for (const table of ['tags', 'records']) statement(`DELETE FROM ${table} WHERE run = ?`).run(run);
}

function recallRows({ statement }: Statements, run: string, references: readonly string[]): StoredRow[] {
  const wanted = JSON.stringify(references.map(toColumn));
  // A cross join keeps its order: otherwise the planner walks all rows of the run and looks each one up in the list.
  return (
    statement(
      `SELECT ${COLUMNS} FROM records WHERE number IN (
         SELECT number FROM json_each(?2) CROSS JOIN records WHERE run = ?1 AND records.id = value
         UNION SELECT number FROM json_each(?2) CROSS JOIN records WHERE run = ?1 AND alias = value)`,
    ).all(run, wanted) as Row[]
  ).map(toStored);
}

/**
 * Last changed first. Rows changed by one event stay together, even past the limit: the next page starts before it.
 * Inside a snapshot.
 */
function listRows(statements: Statements, run: string, filter: RowFilter): StoredRow[] {
  const { limit, before = Number.MAX_SAFE_INTEGER } = filter;
  if (limit <= 0) return [];
  const kind = toColumn(filter.kind);
  const tag = filter.tag === undefined ? null : toColumn(filter.tag);
  const statuses = filter.status === undefined ? statusesOf(statements, run, kind) : [toColumn(filter.status)];
  const found = (from: number, below: number, atMost: number): StoredRow[] =>
    statuses.flatMap((status) => {
      const range = [status, from, below, atMost] as const;
      const { where, values } =
        tag === null
          ? {
              where: `run = ? AND kind = ? AND status = ? AND version >= ? AND version < ?
                      ORDER BY version DESC LIMIT ?`,
              values: [run, kind, ...range],
            }
          : {
              where: `number IN (
                        SELECT number FROM tags
                        WHERE run = ? AND kind = ? AND tag = ? AND status = ? AND version >= ? AND version < ?
                        ORDER BY version DESC LIMIT ?)`,
              values: [run, kind, tag, ...range],
            };
      return selectRows(statements, where, values);
    });

  // One more than asked for: it shows whether the page ends between two rows of one event.
  const rows = found(0, before, limit + 1).sort(lastFirst);
  const last = rows[limit - 1];
  if (last === undefined || rows[limit]?.version !== last.version) return rows.slice(0, limit);
  const whole = rows.filter(({ version }) => version > last.version);
  return [...whole, ...found(last.version, last.version + 1, -1).sort(lastFirst)];
}

/** A row as one JSON text: the driver takes longer to hand over its columns than to read them. */
const ROW_AS_JSON = `'[' || json_quote(run) || ',' || json_quote(kind) || ',' || json_quote(id) || ',' ||
  json_quote(alias) || ',' || json_quote(status) || ',' || version || ',' || json_quote(at) || ',' ||
  tags || ',' || doc || ',' || coalesce(text, 'null') || ']'`;

type RowAsJson = [string, string, string, string | null, string, number, string, string[], unknown, unknown];

function selectRows({ statement }: Statements, where: string, values: readonly Value[]): StoredRow[] {
  const { list } = statement(
    `SELECT group_concat(row, ',') AS list FROM (SELECT ${ROW_AS_JSON} AS row FROM records WHERE ${where})`,
  ).get(...values) as { list: string | null };
  if (list === null) return [];
  const rows = parseRows(list);
  if (rows) return rows.map(storedFrom);
  // One of them is damaged; read one by one, the fault names it.
  return (statement(`SELECT ${COLUMNS} FROM records WHERE ${where}`).all(...values) as Row[]).map(toStored);
}

function parseRows(list: string): RowAsJson[] | null {
  try {
    const rows = JSON.parse(`[${list}]`) as RowAsJson[];
    return rows.every((row) => row.length === FIELDS) ? rows : null;
  } catch {
    return null;
  }
}

const FIELDS = 10;

function storedFrom([run, kind, id, alias, status, version, at, tags, doc, text]: RowAsJson): StoredRow {
  return {
    run: fromColumn(run),
    kind: fromColumn(kind),
    id: fromColumn(id),
    alias: alias === null ? null : fromColumn(alias),
    status: fromColumn(status),
    version,
    at,
    tags,
    get text() {
      return text === null ? null : fromTextColumn(text, doc);
    },
    doc,
  };
}

/** Looks up each one as the next in the index after the last: there are few of them, and very many rows. */
function statusesOf({ statement }: Statements, run: string, kind: string): string[] {
  const rows = statement(
    `WITH RECURSIVE found (status) AS (
       SELECT min(status) FROM records WHERE run = ?1 AND kind = ?2
       UNION ALL
       SELECT (SELECT min(status) FROM records WHERE run = ?1 AND kind = ?2 AND status > found.status)
       FROM found WHERE found.status IS NOT NULL
     ) SELECT status FROM found WHERE status IS NOT NULL`,
  ).all(run, kind) as { status: string }[];
  return rows.map(({ status }) => status);
}

function tagsOf(row: RowColumns): string[] {
  return [...new Set(parseColumn(row.tags, `row ${row.id}`) as string[])].map(toColumn);
}

function lastFirst(a: StoredRow, b: StoredRow): number {
  return b.version - a.version || (a.id < b.id ? -1 : 1);
}
