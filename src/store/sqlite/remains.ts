import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '../../core/journal/event.ts';
import type { StoredValue } from '../../core/journal/value.ts';
import {
  EVENT_COLUMNS,
  type EventRow,
  fromColumn,
  fromEventRow,
  fromTombstoneRow,
  TOMBSTONE_COLUMNS,
  type TombstoneRow,
  toColumn,
} from '../columns.ts';
import type { Tombstone } from '../journal.ts';
import { type Database, openDatabase } from './driver.ts';
import { APPLICATION_ID, migrations } from './schema.ts';

/** What can still be read of a damaged journal. It works on a copy and never changes the files themselves. */
export interface Remains {
  /** Problems the database reports. */
  problems: string[];
  /** Calls `visit` with every readable event in the order of recording; `lost` counts the unreadable ones. */
  scan(visit: (event: Event) => void | Promise<void>): Promise<{ lost: number }>;
  /** The version of each run, as far as it is known. */
  heads(): Map<string, number>;
  /** Bytes that an event names, if they can be read; whether they are whole their hash says. */
  value(run: string, sha256: string): StoredValue | null;
  /** What is left of dropped runs, as far as it can be read. */
  tombstones(): Tombstone[];
  /** The id of the journal, if it can be read. */
  store(): string | null;
  close(): void;
}

export function openRemains(file: string): Remains {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-remains-'));
  const copy = join(folder, 'journal.db');
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  const bytes = fillUp(copy);
  const { database, problems } = openRepaired(copy);
  return {
    problems: [...problems, ...integrityOf(database)],
    scan: (visit) => scan(database, reservedIn(database) + Math.ceil(bytes / LEAST_ROW_BYTES), visit),
    heads() {
      const rows = allOf(database, 'SELECT run, version FROM runs') as { run: string; version: number }[];
      const sane = rows.filter(({ run, version }) => isText(run) && Number.isSafeInteger(version));
      return new Map(sane.flatMap(({ run, version }) => readable(() => [fromColumn(run), version] as const)));
    },
    value(run, sha256) {
      const [row] = allOf(database, VALUE, toColumn(run), sha256) as StoredValue[];
      const isSane = row?.data instanceof Uint8Array && Number.isSafeInteger(row.size);
      return isSane && (row.encoding === 'plain' || row.encoding === 'deflate') ? { ...row } : null;
    },
    tombstones() {
      const rows = allOf(database, `SELECT ${TOMBSTONE_COLUMNS} FROM dropped`) as TombstoneRow[];
      const sane = rows.filter(
        ({ version, ...texts }) => Number.isSafeInteger(version) && Object.values(texts).every(isText),
      );
      return sane.flatMap((row) => readable(() => fromTombstoneRow(row)));
    },
    store() {
      const [row] = allOf(database, 'SELECT store FROM meta') as { store: unknown }[];
      return typeof row?.store === 'string' && /^s-[0-9a-f]{12}$/.test(row.store) ? row.store : null;
    },
    close() {
      database?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const VALUE = 'SELECT sha256, encoding, size, data FROM "values" WHERE run = ? AND sha256 = ?';

/** No event is smaller: its three hashes alone take more. */
const LEAST_ROW_BYTES = 200;
const PAGE = 200;
const PROBLEMS_SHOWN = 20;
/** As set in `connection.ts`. */
const PAGE_BYTES = 8192;
const FILL_FACTOR = 1000;
/** A damaged number may be any, and each is looked for. */
const MOST_RESERVED = 1e7;

/** SQLite refuses a file whose end is missing, so the copy gets empty pages there. Returns its size. */
function fillUp(copy: string): number {
  const { size } = statSync(copy);
  const head = Buffer.alloc(HEAD.bytes);
  const handle = openSync(copy, 'r');
  readSync(handle, head, 0, HEAD.bytes, 0);
  closeSync(handle);
  const wanted = head.readUInt32BE(HEAD.pages) * PAGE_BYTES;
  // A damaged header may hold any number.
  if (size === 0 || wanted <= size || wanted > size * FILL_FACTOR) return size;
  truncateSync(copy, wanted);
  return wanted;
}

/** The header of the file is the same in every journal: if it is damaged, the copy gets a new one. */
function openRepaired(copy: string): { database: Database | null; problems: string[] } {
  const problems: string[] = [];
  for (const attempt of ['as it is', 'with a new head']) {
    let database: Database | undefined;
    try {
      database = openDatabase(copy, false);
      database.exec('PRAGMA trusted_schema=OFF');
      database.prepare('SELECT count(*) FROM sqlite_schema').get();
      const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'events'").get();
      if (known === undefined) problems.push('It has no table of events.');
      return { database: known === undefined ? null : database, problems };
    } catch (thrown) {
      problems.push(`${(thrown as Error).message}${attempt === 'as it is' ? '' : ', with a new head too'}.`);
      database?.close();
      if (attempt === 'as it is') writeHead(copy);
    }
  }
  return { database: null, problems };
}

/** Writes the header of a SQLite file, except for the bytes that count its changes. */
function writeHead(copy: string): void {
  const begin = Buffer.from('SQLite format 3\0\x20\x00\x02\x02\x00\x40\x20\x20', 'latin1');
  const handle = openSync(copy, 'r+');
  const put = (at: number, value: number): void => {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(value);
    writeSync(handle, word, 0, 4, at);
  };
  writeSync(handle, begin, 0, begin.length, 0);
  put(HEAD.schemaFormat, 4);
  put(HEAD.encoding, 1);
  put(HEAD.userVersion, migrations.length);
  put(HEAD.application, APPLICATION_ID);
  closeSync(handle);
}

const HEAD = { bytes: 100, pages: 28, schemaFormat: 44, encoding: 56, userVersion: 60, application: 68 } as const;

function integrityOf(database: Database | null): string[] {
  if (database === null) return [];
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${PROBLEMS_SHOWN})`).all() as { integrity_check: string }[];
    return rows.flatMap((row) => row.integrity_check.split('\n')).filter((line) => line !== 'ok');
  } catch (thrown) {
    return [`${(thrown as Error).message}.`];
  }
}

/** Reads many rows at once; where that fails one by one, since rows after the damage may be intact. */
async function scan(database: Database | null, end: number, visit: (event: Event) => void | Promise<void>) {
  let lost = 0;
  if (database === null) return { lost };
  const columns = hasEvidence(database) ? EVENT_COLUMNS : EVENT_COLUMNS.replace('evidence', 'NULL AS evidence');
  const several = database.prepare(
    `SELECT seq, ${columns} FROM events NOT INDEXED WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`,
  );
  const one = database.prepare(`SELECT seq, ${columns} FROM events NOT INDEXED WHERE seq = ?`);
  for (let last = 0; ; ) {
    let rows: (EventRow & { seq: number })[] = [];
    try {
      rows = several.all(last) as typeof rows;
      if (rows.length === 0) return { lost };
      last = Math.max(last + 1, Number(rows.at(-1)?.seq) || 0);
    } catch {
      for (let seq = last + 1; seq <= last + PAGE; seq++) {
        try {
          const row = one.get(seq);
          if (row !== undefined) rows.push(row as (typeof rows)[number]);
        } catch {
          lost += 1;
        }
      }
      last += PAGE;
      if (last > end) return { lost };
    }
    for (const row of rows) {
      const event = eventIn(row);
      if (event === null) lost += 1;
      else await visit(event);
    }
  }
}

/** Numbers up to this one may be missing because their run was dropped. */
function reservedIn(database: Database | null): number {
  const [row] = allOf(database, 'SELECT reserved FROM meta') as { reserved: unknown }[];
  const reserved = Number(row?.reserved);
  return Number.isSafeInteger(reserved) && reserved > 0 && reserved < MOST_RESERVED ? reserved : 0;
}

/** A journal of an older version has no such column. */
function hasEvidence(database: Database): boolean {
  const columns = allOf(database, 'PRAGMA table_info(events)') as { name: string }[];
  return columns.some(({ name }) => name === 'evidence');
}

/** Returns nothing if the value is unreadable. */
function readable<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}

function eventIn(row: EventRow): Event | null {
  try {
    const isIntact = Number.isSafeInteger(row.version) && [row.run, row.type, row.hash, row.body].every(isText);
    return isIntact ? fromEventRow(row) : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

function allOf(database: Database | null, sql: string, ...values: readonly string[]): unknown[] {
  try {
    return database?.prepare(sql).all(...values) ?? [];
  } catch {
    return [];
  }
}
