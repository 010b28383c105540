import {
  EVENT_COLUMNS,
  type EventRow,
  fromEventRow,
  RECORD_COLUMNS,
  toColumn,
  toEventRow,
  toRecordRow,
} from '../columns.ts';
import type { Appended, Batch, StoredRow } from '../store.ts';
import { toTextColumn } from '../text-column.ts';
import type { Connection, Parameter } from './connection.ts';
import { termsOf } from './terms.ts';

type Use = (value: Parameter, type: string) => string;

const EVENT_TYPES = {
  version: 'integer',
  at: 'text',
  type: 'text',
  actor_kind: 'text',
  actor_name: 'text',
  session: 'text',
  key: 'text',
  basis: 'text',
  previous: 'text',
  hash: 'text',
  body_hash: 'text',
  body: 'text',
} as const;

const RECORD_TYPES = {
  kind: 'text',
  id: 'text',
  alias: 'text',
  status: 'text',
  version: 'integer',
  at: 'text',
  tags: 'text',
  doc: 'text',
  text: 'text',
  terms: 'text',
} as const;

/**
 * One statement, so one round trip and no transaction that waits for the program. The row of the run is its lock: who
 * comes second waits for it, then finds the version changed and writes nothing. Appends to other runs never meet it.
 */
export async function append(connection: Connection, batch: Batch): Promise<Appended> {
  const { text, values } = render(connection.name, batch);
  return connection.patiently(async (tries) => {
    // The answer to an earlier try may have been lost on its way, after the server had done it.
    if (tries > 0 && (await hasLanded(connection, batch))) return { outcome: 'appended' };
    const [row] = await connection.once<{ appended: boolean }>(text, values);
    if (row?.appended === true) return { outcome: 'appended' };
    // Or the server was still at it: then this try waited for it, and was second to itself.
    return tries > 0 && (await hasLanded(connection, batch)) ? { outcome: 'appended' } : explain(connection, batch);
  });
}

async function hasLanded({ once, name }: Connection, { run, expected, events }: Batch): Promise<boolean> {
  const rows = await once(`SELECT FROM ${name}.events WHERE run = $1 AND version = $2 AND hash = $3`, [
    toColumn(run),
    expected + 1,
    events[0]?.hash ?? '',
  ]);
  return rows.length > 0;
}

/** Why nothing was written. Looked at anew: the statement saw the moment before it waited. */
async function explain({ once, name }: Connection, { run, events }: Batch): Promise<Appended> {
  const key = events[0]?.key ?? null;
  if (key !== null) {
    const rows = await once<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM ${name}.events WHERE run = $1 AND key = $2 ORDER BY version`,
      [toColumn(run), toColumn(key)],
    );
    if (rows.length > 0) return { outcome: 'replayed', events: rows.map(fromEventRow) };
  }
  const [head] = await once<{ version: number }>(`SELECT version FROM ${name}.runs WHERE run = $1`, [toColumn(run)]);
  return { outcome: 'conflict', version: head?.version ?? 0 };
}

function render(name: string, batch: Batch): { text: string; values: Parameter[] } {
  const values: Parameter[] = [];
  const use: Use = (value, type) => `$${values.push(value)}::${type}`;
  const last = batch.events.at(-1);
  const key = batch.events[0]?.key ?? null;
  const run = use(toColumn(batch.run), 'text');
  const expected = use(batch.expected, 'integer');
  const version = use(last?.version ?? batch.expected, 'integer');
  const asItWas = (column: string): string => `(SELECT ${column} FROM ${name}.runs WHERE run = ${run})`;
  const hash = last === undefined ? asItWas('hash') : use(last.hash, 'text');
  const updatedAt = last === undefined ? asItWas('updated_at') : use(last.at, 'text');
  const { head } = batch;
  const workspace = head === undefined ? asItWas('workspace') : use(toColumn(head.workspace), 'text');
  const title = head === undefined ? asItWas('title') : use(toColumn(head.title), 'text');
  const status = head === undefined ? asItWas('status') : use(toColumn(head.status), 'text');
  const position = head === undefined ? asItWas('position') : use(JSON.stringify(head.position), 'text');
  const isNew =
    key === null
      ? 'true'
      : `NOT EXISTS (SELECT FROM ${name}.events WHERE run = ${run} AND key = ${use(toColumn(key), 'text')})`;
  const parts = [
    `head AS (
  INSERT INTO ${name}.runs AS known (run, workspace, title, status, version, hash, opened_at, updated_at, touched, position)
  SELECT ${run}, ${workspace}, ${title}, ${status}, ${version}, ${hash},
    ${use(batch.events[0]?.at ?? '', 'text')}, ${updatedAt}, nextval('${name.replaceAll("'", "''")}.touches'), ${position}
  WHERE ${isNew} AND (${expected} = 0 OR EXISTS (SELECT FROM ${name}.runs WHERE run = ${run}))
  ON CONFLICT (run) DO UPDATE SET workspace = excluded.workspace, title = excluded.title, status = excluded.status, version = excluded.version,
    hash = excluded.hash, updated_at = excluded.updated_at, touched = excluded.touched, position = excluded.position
  WHERE known.version = ${expected}
  RETURNING run, version, hash)`,
    `recorded AS (
  INSERT INTO ${name}.events (${EVENT_COLUMNS}, tx)
  SELECT head.run, e.version, e.at, e.type, e.actor_kind, e.actor_name, e.session, e.key, e.basis, e.previous, e.hash, e.body_hash, e.body,
    (SELECT xid_offset FROM ${name}.meta) + pg_current_xact_id()::text::bigint
  FROM head, ${rowsOf('e', EVENT_TYPES, batch.events.map(toEventRow), use)})`,
  ];
  if (batch.rows.length > 0) parts.push(recordsPart(name, batch.rows, use));
  if (batch.cache !== undefined)
    parts.push(cachePart(name, use(batch.cache.format, 'integer'), use(batch.cache.state, 'text')));
  if (batch.erase !== undefined && batch.erase.length > 0) {
    const bodies = batch.erase.map((erased) => ({ version: erased.version, body: JSON.stringify(erased.body) }));
    parts.push(`erased AS (
  UPDATE ${name}.events AS e SET body = n.body
  FROM head, json_to_recordset(${use(JSON.stringify(bodies), 'text')}::json) AS n (version integer, body text)
  WHERE e.run = head.run AND e.version = n.version)`);
  }
  return { text: `WITH ${parts.join(',\n')}\nSELECT EXISTS (SELECT FROM head) AS appended`, values };
}

/** Puts records in place once there is a row in `head`. */
export function recordsPart(name: string, records: readonly StoredRow[], use: Use): string {
  // Of a record that is there twice the later counts: one statement cannot write a row twice.
  const latest = new Map(records.map((record) => [JSON.stringify([record.kind, record.id]), record]));
  const rows = [...latest.values()].map((record) => {
    const terms = termsOf(record);
    return {
      ...toRecordRow(record),
      text: toTextColumn(record.text, record.doc),
      terms: terms === null ? null : JSON.stringify(terms),
    };
  });
  return `projected AS (
  INSERT INTO ${name}.records (${RECORD_COLUMNS}, text, terms)
  SELECT head.run, r.kind, r.id, r.alias, r.status, r.version, r.at, r.tags, r.doc, r.text,
    CASE WHEN r.terms IS NOT NULL THEN array_to_tsvector(ARRAY(SELECT json_array_elements_text(r.terms::json))) END
  FROM head, ${rowsOf('r', RECORD_TYPES, rows, use)}
  ON CONFLICT (run, id, kind) DO UPDATE SET alias = excluded.alias, status = excluded.status, version = excluded.version, at = excluded.at,
    tags = excluded.tags, doc = excluded.doc, text = excluded.text, terms = excluded.terms)`;
}

/**
 * Few rows as parameters, which costs the server least; many as one JSON text, so that there is not a statement to
 * prepare for every number of rows.
 */
function rowsOf<Column extends string>(
  alias: string,
  types: Readonly<Record<Column, string>>,
  rows: readonly Readonly<Record<NoInfer<Column>, Parameter>>[],
  use: Use,
): string {
  const columns = Object.entries(types) as [Column, string][];
  if (rows.length === 0 || rows.length > 3) {
    return `json_to_recordset(${use(JSON.stringify(rows), 'text')}::json) AS ${alias} (${columns.map((column) => column.join(' ')).join(', ')})`;
  }
  const tuples = rows.map((row) => `(${columns.map(([column, type]) => use(row[column], type)).join(', ')})`);
  return `(VALUES ${tuples.join(', ')}) AS ${alias} (${columns.map(([column]) => column).join(', ')})`;
}

export function cachePart(name: string, format: string, state: string): string {
  return `saved AS (
  INSERT INTO ${name}.cache (run, version, hash, format, state) SELECT run, version, hash, ${format}, ${state} FROM head
  ON CONFLICT (run) DO UPDATE SET version = excluded.version, hash = excluded.hash, format = excluded.format, state = excluded.state)`;
}
