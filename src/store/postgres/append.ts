import type { Event } from '../../core/journal/event.ts';
import { EVENT_COLUMNS, type EventRow, fromEventRow, ROW_COLUMNS, toColumn, toEventRow } from '../columns.ts';
import type { Appended, Batch, Refused } from '../journal.ts';
import type { StoredRow } from '../projection.ts';
import { continuedHash, continues, findRefusal, type Position, START } from '../refusal.ts';
import { EVENT_TYPES, latestRows, type Merged, mergeByRun, ROW_TYPES, VECTOR } from './batch.ts';
import type { Connection, Parameter } from './connection.ts';
import { mayHaveRun, withOutcome } from './fault.ts';
import { type Groups, mayBeGrouped } from './group.ts';
import { valueParts } from './values.ts';

type Use = (value: Parameter, type: string) => string;

/**
 * One statement for all batches: one round trip, and no transaction that waits for the program. The row of a run is its
 * lock: a second append to the run waits for it, then finds the head changed and writes nothing. Appends to other runs
 * never wait for it.
 */
export async function append(connection: Connection, groups: Groups, batches: readonly Batch[]): Promise<Appended> {
  const merged = mergeByRun(batches);
  if (merged === null) return connection.patiently(() => explain(connection, batches));
  if (merged.length === 0) return { outcome: 'appended' };
  let cutOff = false;
  const appending = connection.patiently<Appended>(async (tries) => {
    const appended = await write(connection, groups, merged, tries).catch((thrown: unknown) => {
      cutOff ||= mayHaveRun(thrown);
      throw thrown;
    });
    if (appended) return { outcome: 'appended' };
    // An earlier try may have been committed although its answer was lost; then this one was refused.
    return tries > 0 && (await hasLanded(connection, batches)) ? { outcome: 'appended' } : explain(connection, batches);
  });
  return appending.catch((thrown: unknown) => {
    throw withOutcome(thrown, cutOff);
  });
}

/** Together with appends of other runs, if there are any. After a failure it is tried alone. */
async function write(
  connection: Connection,
  groups: Groups,
  merged: readonly Merged[],
  tries: number,
): Promise<boolean> {
  const [only] = merged;
  const isGrouped = tries === 0 && only && merged.length === 1 && mayBeGrouped(only) && (await groups.write(only));
  return isGrouped || writeAlone(connection, merged);
}

async function writeAlone(connection: Connection, merged: readonly Merged[]): Promise<boolean> {
  const { text, values } = render(connection.name, merged);
  const [row] = await connection.once<{ appended: boolean }>(text, values).catch((thrown: unknown) => {
    if (isRefusal(thrown)) return [];
    throw thrown;
  });
  return row?.appended === true;
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
  const parts = [
    continues(batch, START) ? openedHead(name, batch, use, index) : movedHead(name, batch, use, index),
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
  if (batch.values !== undefined) parts.push(...valueParts(name, batch.values, use, index));
  if (batch.revives)
    parts.push(`revived${index} AS (
  DELETE FROM ${name}.dropped AS d USING head${index} AS head WHERE d.run = head.run)`);
  return parts;
}

/** The head of a run that begins. Of two that begin it at once, the second finds it changed. */
function openedHead(name: string, batch: Merged, use: Use, index: number): string {
  const { events, head } = batch;
  const last = events.at(-1);
  const { workspace = '', title = '', status = '', position = null } = head ?? {};
  const run = use(toColumn(batch.run), 'text');
  const values = [toColumn(workspace), toColumn(title), toColumn(status)].map((value) => use(value, 'text'));
  return `head${index} AS (
  INSERT INTO ${name}.runs AS known (run, workspace, title, status, version, hash, opened_at, updated_at, touched, position)
  SELECT ${run}, ${values.join(', ')}, ${use(last?.version ?? 0, 'integer')}, ${use(last?.hash ?? START.hash, 'text')},
    ${use(events[0]?.at ?? '', 'text')}, ${use(last?.at ?? '', 'text')}, ${touch(name)}, ${use(JSON.stringify(position), 'text')}
  ON CONFLICT (run) DO NOTHING
  RETURNING run, version, hash)`;
}

/** The head of a run that exists: only the columns that change. */
function movedHead(name: string, batch: Merged, use: Use, index: number): string {
  const { head, keys } = batch;
  const last = batch.events.at(-1);
  const run = use(toColumn(batch.run), 'text');
  const columns = {
    ...(last && {
      version: use(last.version, 'integer'),
      hash: use(last.hash, 'text'),
      updated_at: use(last.at, 'text'),
    }),
    ...(head && {
      workspace: use(toColumn(head.workspace), 'text'),
      title: use(toColumn(head.title), 'text'),
      status: use(toColumn(head.status), 'text'),
      position: use(JSON.stringify(head.position), 'text'),
    }),
    touched: touch(name),
  };
  const continued = continuedHash(batch);
  const conditions = [
    `run = ${run}`,
    `version = ${use(batch.expected, 'integer')}`,
    ...(continued === null ? [] : [`hash = ${use(continued, 'text')}`]),
    ...keys.map(
      (key) => `NOT EXISTS (SELECT FROM ${name}.events WHERE run = ${run} AND key = ${use(toColumn(key), 'text')})`,
    ),
  ];
  const changes = Object.entries(columns).map(([column, value]) => `${column} = ${value}`);
  return `head${index} AS (
  UPDATE ${name}.runs SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')} RETURNING run, version, hash)`;
}

const touch = (name: string): string => `nextval('${name.replaceAll("'", "''")}.touches')`;

/** Writes the rows if the head of this index has a row. */
export function rowsPart(name: string, stored: readonly StoredRow[], use: Use, index: number): string {
  return `projected${index} AS (
  INSERT INTO ${name}.records (${ROW_COLUMNS}, text, terms)
  SELECT head.run, r.kind, r.id, r.alias, r.status, r.version, r.at, r.tags, r.doc, r.text,
    ${VECTOR}
  FROM head${index} AS head, ${valuesOf('r', ROW_TYPES, latestRows(stored), use)}
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
