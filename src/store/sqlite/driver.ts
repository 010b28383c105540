import { existsSync } from 'node:fs';
import { loadAddon } from './addon.ts';

/** The used part of the `node:sqlite` interface; `@photostructure/sqlite` has the same. */
export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  function(name: string, options: { varargs: boolean }, call: (...values: never[]) => Value): void;
  close(): void;
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
}

export interface Statement {
  run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
  iterate(...values: Value[]): IterableIterator<unknown>;
}

export type Value = string | number | null | Uint8Array;

interface Driver {
  DatabaseSync: new (file: string, options: { readOnly: boolean; timeout: number }) => Database;
}

export function openDatabase(file: string, readonly: boolean): Database {
  driver ??= isSafe(process.versions['sqlite'] ?? '') ? loadBuiltIn() : loadAddon<Driver>();
  return new driver.DatabaseSync(readonly ? readableName(file) : file, { readOnly: readonly, timeout: 0 });
}

/**
 * Where nothing may be written, SQLite opens a journal only as a file that nobody changes. That is true while there is no
 * log: beside a living writer, it would miss what is in the log.
 */
function readableName(file: string): string {
  if (existsSync(`${file}-wal`)) return file;
  return `file:${encodeURI(file).replaceAll('?', '%3f').replaceAll('#', '%23')}?immutable=1`;
}

/**
 * Before 3.51.3 SQLite can lose committed transactions in WAL mode when several processes write: a checkpoint and a
 * writer that restarts the log can miss each other. Two older release lines have the fix as well.
 */
export function isSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major !== 3) return major > 3;
  if (minor === 44) return patch >= 6;
  if (minor === 50) return patch >= 7;
  return minor > 51 || (minor === 51 && patch >= 3);
}

let driver: Driver | undefined;

function loadBuiltIn(): Driver {
  // On some versions of Node loading it prints a warning that it is experimental, which does not help the user.
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes('SQLite')) return;
    (emitWarning as (...all: unknown[]) => void).call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as Driver;
  } finally {
    process.emitWarning = emitWarning;
  }
}
