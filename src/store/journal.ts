import type { Event } from '../core/journal/event.ts';
import type { StoredValue } from '../core/journal/value.ts';
import type { Maker } from './presence.ts';
import type { CacheColumns, HeadColumns, StoredRow } from './projection.ts';

/** The events of all runs. `append` is the only way to add to them; `erase` in a batch removes text, `drop` a whole run. */
export interface Journal {
  /**
   * Records all batches in one durable transaction, or nothing of any. Once the promise resolves with `appended`, the
   * events survive a crash of the process and of the machine. Appends to different runs do not wait for each other where
   * the database allows it. Several batches of one run are recorded in the order given, each from where the one before
   * ends, and no two of them have the same key.
   *
   * - `conflict`: the head of this run is not the event the batch continues. Version and hash of the head are compared in
   *   the same step that writes. `moved_on`: that event is still there and others follow it; fold those and decide again.
   *   `other_history`: it is not there, so the store went back or was replaced; drop all that was read and read again.
   * - `replayed`: the batch has an idempotency key, and this run already has events with that key; they are returned.
   *   The key is checked before the version.
   */
  append(batches: readonly Batch[]): Promise<Appended>;

  /** The events that a command with this idempotency key has recorded; empty when there are none. */
  recorded(run: string, key: string): Promise<Event[]>;

  /** Events of a run in version order, after a version. */
  read(run: string, after: number, limit: number): Promise<Event[]>;

  /**
   * Events of all runs in an order in which a reader that continues from its last cursor misses none and sees none twice,
   * however many writers there are. `cursor` null starts at the beginning; 'now' gives no events and the current end.
   * With `within`, other events are passed over: a page may then be empty although there are more, and the end is reached
   * when the cursor stays the same. Fault `invalid`: the cursor is not one of this store.
   */
  feed(cursor: string | null, limit: number, within?: Within): Promise<FeedPage>;

  /** The heads of runs, last changed first. */
  heads(filter: HeadFilter): Promise<Head[]>;

  /** The bytes with this hash that events of the run name; null when they are not stored (any more). */
  value(run: string, sha256: string): Promise<StoredValue | null>;

  /**
   * Removes a run with all that is kept of it (events, head, rows, saved state, values, heartbeats) and keeps the tombstone,
   * in one durable transaction, if the head of the run is the event that the tombstone names; else returns false and
   * changes nothing. Where there is no such run, only the tombstone is kept. A reader of the feed misses nothing that is
   * recorded later. The database uses the space again, and gives it back where much is free.
   */
  drop(tombstone: Tombstone): Promise<boolean>;

  /** The tombstones of dropped runs, the last one first. */
  dropped(within: Within): Promise<Tombstone[]>;
}

/** What is left of a run that was dropped on purpose. */
export interface Tombstone {
  run: string;
  workspace: string;
  /** The last event it had. */
  version: number;
  hash: string;
  /** When it was dropped, by whom and why. */
  at: string;
  by: Maker;
  reason: string;
}

/** What one command, or one page of an import, writes to one run. */
export interface Batch {
  run: string;
  expected: number;
  /**
   * In version order from `expected + 1`, all with the same key. Imported events keep their keys; only the first one's
   * is checked then.
   */
  events: readonly Event[];
  /** The hash of the event at `expected`, for a batch without events; with events their first one names it. */
  after?: string;
  /** Left out if it did not change; the first batch of a run has it. */
  head?: HeadColumns;
  rows: readonly StoredRow[];
  /** Folded state after the last event, when it is worth saving. */
  cache?: CacheColumns;
  /**
   * Bodies that replace recorded ones, with the text removed. The store also removes what it derived from the old ones
   * (search index, free pages, write-ahead log), so that the bytes are gone when the promise resolves.
   */
  erase?: readonly { version: number; body: unknown }[];
  /** The run was dropped and comes back: its tombstones go. */
  revives?: boolean;
  /** Bytes that the events name, stored beside them, and hashes of bytes to delete; none is in both lists. */
  values?: ChangedValues;
}

export interface ChangedValues {
  put: readonly StoredValue[];
  drop: readonly string[];
}

export type Appended = { outcome: 'appended' } | Refused;

/** Why nothing was written, and the run it is about. */
export type Refused =
  | { outcome: 'conflict'; run: string; version: number; reason: 'moved_on' | 'other_history' }
  | { outcome: 'replayed'; run: string; events: Event[] };

export interface Head extends HeadColumns {
  run: string;
  version: number;
  hash: string;
  openedAt: string;
  updatedAt: string;
}

/** The part of a store that a reader may see. What is left out does not limit it; an empty list leaves nothing. */
export interface Within {
  workspaces?: readonly string[] | undefined;
  runs?: readonly string[] | undefined;
}

export interface HeadFilter extends Within {
  run?: string;
  /** One of these, in addition to what the reader may see. */
  workspace?: string | readonly string[];
  status?: string;
  limit?: number;
}

export interface FeedPage {
  events: Event[];
  /** Where to continue; the cursor that was given when there is nothing new. */
  cursor: string;
}
