import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of the `node:sqlite` interface that is used; `@photostructure/sqlite` has the same. */
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

export type Value = string | number | null;

interface Driver {
  DatabaseSync: new (file: string, options: { readOnly: boolean; timeout: number }) => Database;
}

export function openDatabase(file: string, readonly: boolean): Database {
  driver ??= isSafe(process.versions['sqlite'] ?? '') ? loadBuiltIn() : loadPackage();
  return new driver.DatabaseSync(file, { readOnly: readonly, timeout: 0 });
}

/**
 * Before 3.51.3 SQLite can lose committed transactions in WAL mode when several processes write: a checkpoint and a
 * writer that starts the log again can miss each other. The two older lines got the correction as well.
 */
export function isSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major !== 3) return major > 3;
  if (minor === 44) return patch >= 6;
  if (minor === 50) return patch >= 7;
  return minor > 51 || (minor === 51 && patch >= 3);
}

let driver: Driver | undefined;

/** Not named `require`: a bundler would take its calls for imports. */
const load = createRequire(import.meta.url);

function loadBuiltIn(): Driver {
  // Loading it announces on some versions of Node that it is experimental; that is nothing to tell our user.
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes('SQLite')) return;
    (emitWarning as (...all: unknown[]) => void).call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return load('node:sqlite') as Driver;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * The package's own entry file searches for the addon with several more modules; loading the addon itself starts a
 * command a quarter faster. The entry file remains the way where there is no prebuilt addon for the machine.
 */
function loadPackage(): Driver {
  const name = '@photostructure/sqlite';
  try {
    const folder = join(dirname(load.resolve(`${name}/package.json`)), 'prebuilds', `${process.platform}-${process.arch}`);
    const libc = process.platform === 'linux' && existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
    return load(join(folder, `@photostructure+sqlite.${libc}.node`)) as Driver;
  } catch {
    return load(name) as Driver;
  }
}
