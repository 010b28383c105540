export { openMemoryStore } from './memory/store.ts';
export { openPostgresStore, type PostgresOptions } from './postgres/store.ts';
export { openSqliteStore, type SqliteOptions } from './sqlite/store.ts';
export type {
  Appended,
  Batch,
  CacheColumns,
  Cached,
  Derived,
  FeedPage,
  Head,
  HeadColumns,
  HeadFilter,
  HeadPosition as Position,
  RowFilter as RecordFilter,
  Store,
  StoredRow as StoredRecord,
  Token,
  Tokens,
} from './store.ts';
