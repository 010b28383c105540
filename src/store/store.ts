import type { ProjectedRow } from '../core/fold/row.ts';
import type { Event } from '../core/journal/event.ts';
import type { Actor, Scope } from '../core/words.ts';

/**
 * What a database must do. The journal is the only truth: `append` is the only way to add to it, `erase` in a batch the
 * only way to take words out of it. Everything else a store keeps (head columns, records, cached state, heartbeats) can
 * be dropped and made again from the events.
 *
 * Faults of every method: `unavailable` when the database cannot be reached, is busy past the store's patience, full or
 * read-only (nothing was written); `corrupt` when it answers nonsense; `newer_schema` on opening a database written by a
 * newer program; `invalid` for a cursor or an address that no store gave. No method throws anything else. One suite, `store.suite.ts`, holds every store to this page.
 */
export interface Store {
  /** Where this store is, without secrets, for messages. */
  readonly place: string;

  /**
   * Records a batch in one durable transaction, or nothing of it. Once the promise resolves with `appended`, the events
   * survive a crash of the process and of the machine. Appends to different runs do not wait for each other where the
   * database allows it.
   *
   * - `conflict`: the run is not at `expected`; the caller folds what it missed and decides again.
   * - `replayed`: the batch has an idempotency key and events with that key are in the run already; they are returned,
   *   nothing is written. This is looked at before the version.
   */
  append(batch: Batch): Promise<Appended>;

  /** The events that a command with this idempotency key has recorded; empty when there are none. */
  recorded(run: string, key: string): Promise<Event[]>;

  /** Events of a run in version order, after a version. */
  read(run: string, after: number, limit: number): Promise<Event[]>;

  /**
   * Events of all runs in an order in which a reader that goes on from its last cursor misses none and sees none twice,
   * however many writers there are. `cursor` null starts at the beginning; 'now' gives no events and the present end.
   */
  feed(cursor: string | null, limit: number): Promise<FeedPage>;

  /** The heads of runs, the last touched first. */
  heads(filter: HeadFilter): Promise<Head[]>;

  /** Folded state as it was last saved with a batch, if it has this format. */
  cached(run: string, format: number): Promise<Cached | null>;

  /** Records by reference: each matches by id or alias, whatever its kind. Unknown ones are left out. */
  recall(run: string, references: readonly string[]): Promise<StoredRow[]>;

  /** Records of a kind, the last touched first. */
  rows(run: string, filter: RowFilter): Promise<StoredRow[]>;

  /** How many records there are of a kind, by status. */
  count(run: string, kind: string): Promise<Record<string, number>>;

  /**
   * Records whose text has all the words (each as the beginning of a word, any case; a word in a script without spaces
   * anywhere), the last touched first, over the given runs.
   */
  search(runs: readonly string[], words: readonly string[], limit: number): Promise<StoredRow[]>;

  /** A sign of life. Kept beside the journal; the newest one wins; may be lost without harm. */
  beat(run: string, session: string, at: string): Promise<void>;

  /** The last signs of life in a run, by session. */
  beats(run: string): Promise<Map<string, string>>;

  /**
   * Calls `wake` soon after anybody recorded something: a hint that may come late, for nothing, or not at all while the
   * database is away. Whoever must miss nothing looks at the feed at intervals too. Gives the way to stop.
   */
  listen(wake: () => void): Promise<() => void>;

  /** Who is let in over a network. Beside the journal: a token says who may come, not what happened. */
  tokens(): Promise<Tokens>;

  /** Replaces all that is derived of a run, in one transaction, if the run is still at `version`; else false. */
  replaceDerived(run: string, version: number, derived: Derived): Promise<boolean>;

  /** What the database itself says about its own health; empty when well. */
  inspect(): Promise<string[]>;

  close(): Promise<void>;
}

export interface Tokens {
  /** Keeps a token; false, and nothing is kept, when there is one with this name. */
  add(token: Token): Promise<boolean>;
  /** The token with this hash; null when there never was one or it was removed, by whichever process. */
  find(hash: string): Promise<Token | null>;
  /** All of them, by name. */
  list(): Promise<Token[]>;
  /** Notes when a token was used last; may be lost without harm. */
  use(name: string, at: string): Promise<void>;
  /** False when there is none with this name. */
  remove(name: string): Promise<boolean>;
}

export interface Token {
  /** What it is listed and removed by. */
  name: string;
  /** Of the secret, which is kept nowhere. */
  hash: string;
  /** Whom it proves its bearer to be. */
  actor: Actor;
  scope: Scope;
  madeAt: string;
  usedAt: string | null;
}

export interface Batch {
  run: string;
  expected: number;
  /**
   * In version order from `expected + 1`, all with the same key. Those of a run that is brought in from another store have
   * the keys they had; only the first one's is looked for then.
   */
  events: readonly Event[];
  /** Left out where nothing in it changed; a run's first batch has it. */
  head?: HeadColumns;
  rows: readonly StoredRow[];
  /** Folded state after the last event, when it is worth saving. */
  cache?: CacheColumns;
  /**
   * Bodies to put in place of those recorded, with the words taken out. The store removes what it derived from the old
   * ones (search index, free pages, write-ahead log) so that the bytes are gone when the promise resolves.
   */
  erase?: readonly { version: number; body: unknown }[];
}

export type Appended =
  | { outcome: 'appended' }
  | { outcome: 'conflict'; version: number }
  | { outcome: 'replayed'; events: Event[] };

export interface HeadColumns {
  workspace: string;
  title: string;
  status: string;
  /** What the Codewalk view `initiative_state` shows: phase, plan, task, wave, status, progress. */
  position: HeadPosition;
}

export interface HeadPosition {
  phase: number | null;
  plan: number | null;
  task: string | null;
  wave: number | null;
  status: string;
  progress: unknown;
}

export interface Head extends HeadColumns {
  run: string;
  version: number;
  hash: string;
  openedAt: string;
  updatedAt: string;
}

export interface HeadFilter {
  run?: string;
  workspace?: string;
  status?: string;
  limit?: number;
}

export interface CacheColumns {
  format: number;
  state: string;
}

export interface Cached {
  version: number;
  hash: string;
  state: string;
}

export interface FeedPage {
  events: Event[];
  /** Where to go on from; the same as given when there was nothing new. */
  cursor: string;
}

/** A row of the projection: one thing with a name, as it stands after the last event that touched it. */
export interface StoredRow extends ProjectedRow {
  run: string;
}

export interface RowFilter {
  kind: string;
  status?: string;
  tag?: string;
  /** To page on: only records touched last before this version. Those one event touched come on one page, past the limit. */
  before?: number;
  limit: number;
}

export interface Derived {
  head: HeadColumns;
  rows: readonly StoredRow[];
  cache: CacheColumns;
}
