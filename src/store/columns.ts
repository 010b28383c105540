import { Fault } from '../core/fault.ts';
import type { Event } from '../core/journal/event.ts';
import type { Head, Tombstone } from './journal.ts';
import type { HeadPosition, StoredRow } from './projection.ts';
import type { StoreIdentity } from './store.ts';

/** How events, heads and rows are written to the columns of a database, the same in all of them. */

export interface EventRow {
  run: string;
  version: number;
  at: string;
  type: string;
  actor_kind: string;
  actor_name: string;
  /** Null in events of version 0.1. */
  evidence: string | null;
  session: string | null;
  key: string | null;
  basis: string;
  previous: string;
  hash: string;
  body_hash: string;
  /** The exact JSON text: the hash of the body is taken over it. */
  body: string;
}

export const EVENT_COLUMNS =
  'run, version, at, type, actor_kind, actor_name, evidence, session, key, basis, previous, hash, body_hash, body';

export function toEventRow(event: Event): EventRow {
  return {
    run: toColumn(event.run),
    version: event.version,
    at: event.at,
    type: event.type,
    actor_kind: event.actor.kind,
    actor_name: toColumn(event.actor.name),
    evidence: event.evidence === undefined ? null : toColumn(event.evidence),
    session: event.session === null ? null : toColumn(event.session),
    key: event.key === null ? null : toColumn(event.key),
    basis: event.basis,
    previous: event.previous,
    hash: event.hash,
    body_hash: event.bodyHash,
    body: JSON.stringify(event.body),
  };
}

export function fromEventRow(row: EventRow): Event {
  return {
    run: fromColumn(row.run),
    version: row.version,
    at: row.at,
    type: row.type,
    actor: { kind: row.actor_kind, name: fromColumn(row.actor_name) },
    ...(row.evidence === null ? {} : { evidence: fromColumn(row.evidence) }),
    session: row.session === null ? null : fromColumn(row.session),
    key: row.key === null ? null : fromColumn(row.key),
    basis: row.basis,
    previous: row.previous,
    hash: row.hash,
    bodyHash: row.body_hash,
    body: parseColumn(row.body, `event ${row.version} of run ${row.run}`),
  } as Event;
}

export interface HeadRow {
  run: string;
  workspace: string;
  title: string;
  status: string;
  version: number;
  hash: string;
  opened_at: string;
  updated_at: string;
  /** JSON text. */
  position: string;
}

export const HEAD_COLUMNS = 'run, workspace, title, status, version, hash, opened_at, updated_at, position';

export function fromHeadRow(row: HeadRow): Head {
  return {
    run: fromColumn(row.run),
    workspace: fromColumn(row.workspace),
    title: fromColumn(row.title),
    status: fromColumn(row.status),
    position: parseColumn(row.position, `run ${row.run}`) as HeadPosition,
    version: row.version,
    hash: row.hash,
    openedAt: row.opened_at,
    updatedAt: row.updated_at,
  };
}

/** A row of the projection in the table `records`. */
export interface RowColumns {
  run: string;
  kind: string;
  id: string;
  alias: string | null;
  status: string;
  version: number;
  at: string;
  /** JSON text. */
  tags: string;
  /** JSON text. */
  doc: string;
}

export const ROW_COLUMNS = 'run, kind, id, alias, status, version, at, tags, doc';

export function toRow(row: StoredRow): RowColumns {
  return {
    run: toColumn(row.run),
    kind: toColumn(row.kind),
    id: toColumn(row.id),
    alias: row.alias === null ? null : toColumn(row.alias),
    status: toColumn(row.status),
    version: row.version,
    at: row.at,
    tags: JSON.stringify(row.tags),
    doc: JSON.stringify(row.doc ?? null),
  };
}

export function fromRow(row: RowColumns, textOf: (doc: unknown) => string | null): StoredRow {
  const doc = parseColumn(row.doc, `row ${row.id} of run ${row.run}`);
  return {
    run: fromColumn(row.run),
    kind: fromColumn(row.kind),
    id: fromColumn(row.id),
    alias: row.alias === null ? null : fromColumn(row.alias),
    status: fromColumn(row.status),
    version: row.version,
    at: row.at,
    tags: parseColumn(row.tags, `row ${row.id} of run ${row.run}`) as string[],
    // Assembled when it is read: only a search needs it.
    get text() {
      return textOf(doc);
    },
    doc,
  };
}

/** The ids become names of files, and a database may come from anywhere. */
export interface TombstoneRow {
  run: string;
  hash: string;
  workspace: string;
  version: number;
  at: string;
  made_by: string;
  reason: string;
}

export const TOMBSTONE_COLUMNS = 'run, hash, workspace, version, at, made_by, reason';

export function toTombstoneRow({ run, hash, workspace, version, at, by, reason }: Tombstone): TombstoneRow {
  return {
    ...{ run: toColumn(run), hash, workspace: toColumn(workspace), version, at },
    ...{ made_by: JSON.stringify(by), reason: toColumn(reason) },
  };
}

export function fromTombstoneRow({ run, hash, workspace, version, at, made_by, reason }: TombstoneRow): Tombstone {
  return {
    ...{ run: fromColumn(run), workspace: fromColumn(workspace), version, hash, at },
    ...{ by: parseColumn(made_by, `tombstone ${run}`) as Tombstone['by'], reason: fromColumn(reason) },
  };
}

export function identityFrom(row: unknown, place: string): StoreIdentity {
  const { id, epoch } = (row ?? {}) as Partial<Record<keyof StoreIdentity, unknown>>;
  if (typeof id === 'string' && /^s-[0-9a-f]{12}$/.test(id) && typeof epoch === 'string') return { id, epoch };
  throw new Fault('corrupt', `The journal ${place} does not say which journal it is.`, {
    hints: ['`holdfast doctor --repair` copies the runs that verify into a new one.'],
  });
}

/**
 * Text as a column can hold it. Neither database keeps NUL or half a surrogate pair, and a name that comes back changed
 * would break the hash chain, so such text is written as JSON after a character that normal text does not start with.
 */
export function toColumn(text: string): string {
  return NEEDS_ESCAPE.test(text) ? ESCAPED + JSON.stringify(text) : text;
}

export function fromColumn(column: string): string {
  return column.startsWith(ESCAPED) ? (parseColumn(column.slice(ESCAPED.length), 'a column') as string) : column;
}

export function parseColumn(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new Fault('corrupt', `What the database holds for ${what} is not JSON.`, {
      hints: ['`holdfast doctor` shows what else is damaged and what can be repaired.'],
      cause,
    });
  }
}

const ESCAPED = '\u001a';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters a column cannot hold.
const NEEDS_ESCAPE = /^\u001a|\u0000|[\ud800-\udfff]/u;
