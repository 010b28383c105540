import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

/**
 * The package's entry file and its resolution take longer than all of SQLite: loading the addon itself starts a command a
 * quarter faster. The regular way is used if there is no prebuilt addon for the machine, or no `node_modules` folder.
 */
function loadPackage(): Driver {
  const addon = findAddon();
  if (addon !== null) {
    const module = { exports: {} };
    try {
      process.dlopen(module, addon);
      return module.exports as Driver;
    } catch {
      // The C library is not the expected one; the package knows more ways.
    }
  }
  const { createRequire } = process.getBuiltinModule('node:module');
  return createRequire(import.meta.filename)('@photostructure/sqlite') as Driver;
}

function findAddon(): string | null {
  const libc = process.platform === 'linux' && existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
  const file = join(
    '@photostructure',
    'sqlite',
    'prebuilds',
    `${process.platform}-${process.arch}`,
    `@photostructure+sqlite.${libc}.node`,
  );
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const addon = join(folder, 'node_modules', file);
    if (existsSync(addon)) return addon;
    if (folder === dirname(folder)) return null;
  }
}
