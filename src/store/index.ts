export type {
  Appended,
  Batch,
  FeedPage,
  Head,
  HeadFilter,
  Journal,
  Tombstone,
  Within,
} from './journal.ts';
export { openMemoryStore } from './memory/store.ts';
export { openPostgresStore, type PostgresOptions } from './postgres/store.ts';
export type { Maker, Presence, Revocation, Token, Tokens } from './presence.ts';
export type {
  CacheColumns,
  Cached,
  Derived,
  HeadColumns,
  HeadPosition as Position,
  Projection,
  RowFilter as RecordFilter,
  StoredRow as StoredRecord,
} from './projection.ts';
export { openSqliteStore, type SqliteOptions } from './sqlite/store.ts';
export type { Store, StoreIdentity } from './store.ts';
