import { fromColumn, toColumn } from '../columns.ts';
import type { Cached, Derived, Projection, RowFilter, StoredRow } from '../projection.ts';
import { cachePart, rowsPart } from './append.ts';
import type { Connection, Parameter } from './connection.ts';
import { searchRows } from './search.ts';
import { COLUMNS, type Row, toStored } from './stored-row.ts';
import { tagQuery } from './terms.ts';

export function openProjection(connection: Connection): Projection {
  const { query, name } = connection;
  return {
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
      return rows.map(toStored);
    },
    rows: (run, filter) => listRows(connection, run, filter),
    async count(run, kind) {
      const rows = await query<{ status: string; count: number }>(
        `SELECT status, count(*)::integer AS count FROM ${name}.records WHERE run = $1 AND kind = $2 GROUP BY status`,
        [toColumn(run), toColumn(kind)],
      );
      return Object.fromEntries(rows.map(({ status, count }) => [fromColumn(status), count]));
    },
    search: (runs, query, filter) => searchRows(connection, runs, query, filter),
    replaceDerived: (run, version, derived) => replaceDerived(connection, run, version, derived),
  };
}

/** Last changed first. Rows changed by one event stay together, even past the limit: the next page starts before it. */
async function listRows({ query, name }: Connection, run: string, filter: RowFilter): Promise<StoredRow[]> {
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
  return rows.map(toStored);
}

/** One statement, which is tried again if the connection is lost: a transaction of the driver's would end the process then. */
async function replaceDerived(
  { query, name }: Connection,
  run: string,
  version: number,
  derived: Derived,
): Promise<boolean> {
  const { workspace, title, status, position } = derived.head;
  const values: Parameter[] = [];
  const use = (value: Parameter, type: string): string => `$${values.push(value)}::${type}`;
  const kept = derived.rows.map(({ kind, id }) => ({ kind: toColumn(kind), id: toColumn(id) }));
  const parts = [
    `head0 AS (
  UPDATE ${name}.runs SET workspace = ${use(toColumn(workspace), 'text')}, title = ${use(toColumn(title), 'text')},
    status = ${use(toColumn(status), 'text')}, position = ${use(JSON.stringify(position), 'text')}
  WHERE run = ${use(toColumn(run), 'text')} AND version = ${use(version, 'integer')} RETURNING run, version, hash)`,
    `kept AS MATERIALIZED (
  SELECT kind, id FROM json_to_recordset(${use(JSON.stringify(kept), 'text')}::json) AS k (kind text, id text))`,
    // One statement cannot delete a row and write it again: those that are written again are not deleted.
    `dropped AS (
  DELETE FROM ${name}.records AS r USING head0 AS head
  WHERE r.run = head.run AND NOT EXISTS (SELECT FROM kept WHERE kept.kind = r.kind AND kept.id = r.id))`,
    rowsPart(name, derived.rows, use, 0),
    cachePart(name, use(derived.cache.format, 'integer'), use(derived.cache.state, 'text'), 0),
  ];
  const text = `WITH ${parts.join(',\n')}\nSELECT EXISTS (SELECT FROM head0) AS replaced`;
  const [answer] = await query<{ replaced: boolean }>(text, values);
  return answer?.replaced === true;
}
