import type { Event } from '../../core/journal/event.ts';
import { EVENT_COLUMNS, type EventRow, fromEventRow, ROW_COLUMNS, toColumn, toEventRow, toRow } from '../columns.ts';
import type { Appended, Batch, Refused } from '../journal.ts';
import type { StoredRow } from '../projection.ts';
import { continuedHash, continues, endOf, findRefusal, type Position, START } from '../refusal.ts';
import { toTextColumn } from '../text-column.ts';
import type { Connection, Parameter } from './connection.ts';
import { mayHaveRun, withOutcome } from './fault.ts';
import { termsOf } from './terms.ts';

type Use = (value: Parameter, type: string) => string;

const EVENT_TYPES = {
  version: 'integer',
  at: 'text',
  type: 'text',
  actor_kind: 'text',
  actor_name: 'text',
  evidence: 'text',
  session: 'text',
  key: 'text',
  basis: 'text',
  previous: 'text',
  hash: 'text',
  body_hash: 'text',
  body: 'text',
} as const;

const ROW_TYPES = {
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
 * One statement for all batches: one round trip, and no transaction that waits for the program. The row of a run is its
 * lock: a second append to the run waits for it, then finds the head changed and writes nothing. Appends to other runs
 * never wait for it.
 */
export async function append(connection: Connection, batches: readonly Batch[]): Promise<Appended> {
  const merged = mergeByRun(batches);
  if (merged === null) return connection.patiently(() => explain(connection, batches));
  if (merged.length === 0) return { outcome: 'appended' };
  const { text, values } = render(connection.name, merged);
  let cutOff = false;
  const appending = connection.patiently<Appended>(async (tries) => {
    const [row] = await connection.once<{ appended: boolean }>(text, values).catch((thrown: unknown) => {
      if (isRefusal(thrown)) return [];
      cutOff ||= mayHaveRun(thrown);
      throw thrown;
    });
    if (row?.appended === true) return { outcome: 'appended' };
    // An earlier try may have been committed although its answer was lost; then this one was refused.
    return tries > 0 && (await hasLanded(connection, batches)) ? { outcome: 'appended' } : explain(connection, batches);
  });
  return appending.catch((thrown: unknown) => {
    throw withOutcome(thrown, cutOff);
  });
}

/** All that one append writes to a run. */
type Merged = Batch & { keys: readonly string[] };

/**
 * One statement cannot write the row of a run twice, so the batches of each run become one. Null when one of them does
 * not continue the one before it. Runs are locked in one order everywhere, so that two appends do not wait for each other.
 */
function mergeByRun(batches: readonly Batch[]): Merged[] | null {
  const merged = new Map<string, Merged>();
  for (const batch of batches) {
    const keys = batch.events[0]?.key == null ? [] : [batch.events[0].key];
    const before = merged.get(batch.run);
    if (before && !continues(batch, endOf(before, { version: before.expected, hash: hashBetween(before, batch) })))
      return null;
    merged.set(batch.run, before ? merge(before, { ...batch, keys }) : { ...batch, keys });
  }
  return [...merged.values()].sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** The hash that a batch without events leaves the run at, as far as the two batches say it. */
function hashBetween(first: Batch, second: Batch): string {
  return continuedHash(first) ?? continuedHash(second) ?? '';
}

function merge(first: Merged, second: Merged): Merged {
  const { head = first.head, erase = [], events } = second;
  const after = first.after ?? second.after;
  // State that was saved before the last event is of no use; later commands save it again.
  const cache = second.cache ?? (events.length === 0 ? first.cache : undefined);
  const bodies = new Map(erase.map(({ version, body }) => [version, body]));
  const erased = first.events.map((event) =>
    bodies.has(event.version) ? ({ ...event, body: bodies.get(event.version) } as Event) : event,
  );
  return {
    run: first.run,
    expected: first.expected,
    keys: [...first.keys, ...second.keys],
    events: [...erased, ...events],
    rows: [...first.rows, ...second.rows],
    erase: [...(first.erase ?? []), ...erase],
    ...(after !== undefined && first.events.length === 0 && { after }),
    ...(head && { head }),
    ...(cache && { cache }),
  };
}

/** All batches are recorded or none, so the first event of any of them shows it. */
async function hasLanded({ once, name }: Connection, batches: readonly Batch[]): Promise<boolean> {
  const event = batches.find(({ events }) => events.length > 0)?.events[0];
  if (event === undefined) return false;
  const rows = await once(`SELECT FROM ${name}.events WHERE run = $1 AND version = $2 AND hash = $3`, [
    toColumn(event.run),
    event.version,
    event.hash,
  ]);
  return rows.length > 0;
}

/** Why nothing was written. This reads again: the refused statement saw the data from before it waited. */
async function explain({ once, name }: Connection, batches: readonly Batch[]): Promise<Refused> {
  const heads = new Map<string, Position>();
  const hashes = new Map<string, string>();
  const replays = new Map<string, Event[]>();
  for (const { run, expected, events } of batches) {
    const [head] = await once<Position & { there: string | null }>(
      `SELECT version, hash, (SELECT hash FROM ${name}.events WHERE run = $1 AND version = $2) AS there
       FROM ${name}.runs WHERE run = $1`,
      [toColumn(run), expected],
    );
    heads.set(run, head ?? START);
    if (head?.there != null) hashes.set(JSON.stringify([run, expected]), head.there);
    const key = events[0]?.key ?? null;
    if (key === null) continue;
    const rows = await once<EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM ${name}.events WHERE run = $1 AND key = $2 ORDER BY version`,
      [toColumn(run), toColumn(key)],
    );
    replays.set(JSON.stringify([run, key]), rows.map(fromEventRow));
  }
  const refused = findRefusal(batches, {
    head: (run) => heads.get(run) ?? START,
    hashAt: (run, version) => hashes.get(JSON.stringify([run, version])) ?? null,
    recorded: (run, key) => replays.get(JSON.stringify([run, key])) ?? [],
  });
  const run = batches[0]?.run ?? '';
  return refused ?? { outcome: 'conflict', run, version: heads.get(run)?.version ?? 0, reason: 'moved_on' };
}

function render(name: string, batches: readonly Merged[]): { text: string; values: Parameter[] } {
  const values: Parameter[] = [];
  const use: Use = (value, type) => `$${values.push(value)}::${type}`;
  const parts = batches.flatMap((batch, index) => batchParts(name, batch, use, index));
  const heads = batches.map((_, index) => `SELECT 1 FROM head${index}`);
  // Of several, one that is refused must undo the others: the cast fails, and the statement with it.
  const appended =
    heads.length === 1
      ? `EXISTS (${heads[0]})`
      : `(CASE WHEN (SELECT count(*) FROM (${heads.join(' UNION ALL ')}) AS heads) = ${heads.length} THEN 'true' ELSE '${REFUSED}' END)::boolean`;
  return { text: `WITH ${parts.join(',\n')}\nSELECT ${appended} AS appended`, values };
}

const REFUSED = 'a batch was refused';

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes(`"${REFUSED}"`);
}

/** Everything depends on the row in `head`, which is missing if the batch is refused. */
function batchParts(name: string, batch: Merged, use: Use, index: number): string[] {
  const last = batch.events.at(-1);
  const run = use(toColumn(batch.run), 'text');
  const expected = use(batch.expected, 'integer');
  const continued = continuedHash(batch);
  const isContinued = continued === null ? '' : ` AND known.hash = ${use(continued, 'text')}`;
  const version = use(last?.version ?? batch.expected, 'integer');
  const unchanged = (column: string): string => `(SELECT ${column} FROM ${name}.runs WHERE run = ${run})`;
  const hash = last === undefined ? unchanged('hash') : use(last.hash, 'text');
  const updatedAt = last === undefined ? unchanged('updated_at') : use(last.at, 'text');
  const { head } = batch;
  const workspace = head === undefined ? unchanged('workspace') : use(toColumn(head.workspace), 'text');
  const title = head === undefined ? unchanged('title') : use(toColumn(head.title), 'text');
  const status = head === undefined ? unchanged('status') : use(toColumn(head.status), 'text');
  const position = head === undefined ? unchanged('position') : use(JSON.stringify(head.position), 'text');
  const isNew = batch.keys.map(
    (key) => `NOT EXISTS (SELECT FROM ${name}.events WHERE run = ${run} AND key = ${use(toColumn(key), 'text')})`,
  );
  const parts = [
    `head${index} AS (
  INSERT INTO ${name}.runs AS known (run, workspace, title, status, version, hash, opened_at, updated_at, touched, position)
  SELECT ${run}, ${workspace}, ${title}, ${status}, ${version}, ${hash},
    ${use(batch.events[0]?.at ?? '', 'text')}, ${updatedAt}, nextval('${name.replaceAll("'", "''")}.touches'), ${position}
  WHERE ${[...isNew, `(${continues(batch, START)} OR EXISTS (SELECT FROM ${name}.runs WHERE run = ${run}))`].join(' AND ')}
  ON CONFLICT (run) DO UPDATE SET workspace = excluded.workspace, title = excluded.title, status = excluded.status, version = excluded.version,
    hash = excluded.hash, updated_at = excluded.updated_at, touched = excluded.touched, position = excluded.position
  WHERE known.version = ${expected}${isContinued}
  RETURNING run, version, hash)`,
    `recorded${index} AS (
  INSERT INTO ${name}.events (${EVENT_COLUMNS}, tx)
  SELECT head.run, e.version, e.at, e.type, e.actor_kind, e.actor_name, e.evidence, e.session, e.key, e.basis, e.previous,
    e.hash, e.body_hash, e.body,
    (SELECT xid_offset FROM ${name}.meta) + pg_current_xact_id()::text::bigint
  FROM head${index} AS head, ${valuesOf('e', EVENT_TYPES, batch.events.map(toEventRow), use)})`,
  ];
  if (batch.rows.length > 0) parts.push(rowsPart(name, batch.rows, use, index));
  if (batch.cache !== undefined)
    parts.push(cachePart(name, use(batch.cache.format, 'integer'), use(batch.cache.state, 'text'), index));
  if (batch.erase !== undefined && batch.erase.length > 0) {
    const bodies = batch.erase.map((erased) => ({ version: erased.version, body: JSON.stringify(erased.body) }));
    parts.push(`erased${index} AS (
  UPDATE ${name}.events AS e SET body = n.body
  FROM head${index} AS head, json_to_recordset(${use(JSON.stringify(bodies), 'text')}::json) AS n (version integer, body text)
  WHERE e.run = head.run AND e.version = n.version)`);
  }
  return parts;
}

/** Writes the rows if the head of this index has a row. */
export function rowsPart(name: string, stored: readonly StoredRow[], use: Use, index: number): string {
  // One statement cannot write a row twice: of two versions of a row the later one counts.
  const latest = new Map(stored.map((row) => [JSON.stringify([row.kind, row.id]), row]));
  const rows = [...latest.values()].map((row) => {
    const terms = termsOf(row);
    return {
      ...toRow(row),
      text: toTextColumn(row.text, row.doc),
      terms: terms === null ? null : JSON.stringify(terms),
    };
  });
  return `projected${index} AS (
  INSERT INTO ${name}.records (${ROW_COLUMNS}, text, terms)
  SELECT head.run, r.kind, r.id, r.alias, r.status, r.version, r.at, r.tags, r.doc, r.text,
    CASE WHEN r.terms IS NOT NULL THEN array_to_tsvector(ARRAY(SELECT json_array_elements_text(r.terms::json))) END
  FROM head${index} AS head, ${valuesOf('r', ROW_TYPES, rows, use)}
  ON CONFLICT (run, id, kind) DO UPDATE SET alias = excluded.alias, status = excluded.status, version = excluded.version, at = excluded.at,
    tags = excluded.tags, doc = excluded.doc, text = excluded.text, terms = excluded.terms)`;
}

/**
 * Few rows are parameters, which costs the server least; many are one JSON text, so that there is not a statement to
 * prepare for every number of rows.
 */
function valuesOf<Column extends string>(
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

export function cachePart(name: string, format: string, state: string, index: number): string {
  return `saved${index} AS (
  INSERT INTO ${name}.cache (run, version, hash, format, state) SELECT run, version, hash, ${format}, ${state} FROM head${index}
  ON CONFLICT (run) DO UPDATE SET version = excluded.version, hash = excluded.hash, format = excluded.format, state = excluded.state)`;
}
