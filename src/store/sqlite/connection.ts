import { Fault, quoted } from '../../core/fault.ts';
import { newerSchema } from '../fault.ts';
import { type Database, isSafe, openDatabase, type Statement } from './driver.ts';
import { busyFault, isBusy, markRecorded, outcomeOfCommit, toFault } from './fault.ts';
import { goneFault, identityOf, replacedFault, setAsideLog } from './file-identity.ts';
import { APPLICATION_ID, migrations, parts } from './schema.ts';

export interface ConnectionOptions {
  file: string;
  readonly: boolean;
  /** How long to wait for other processes before `unavailable`. */
  patienceMs: number;
  random: () => number;
}

export interface Connection {
  statement(sql: string): Statement;
  /** Outside of a transaction; tried again while another process has a lock. */
  read<T>(work: () => T): Promise<T>;
  /** Several reads that must see the same data. */
  snapshot<T>(work: () => T): Promise<T>;
  /** A transaction that has the write lock from its beginning; a throw rolls it back. */
  write<T>(work: () => T, how?: WriteOptions): Promise<T>;
  close(): Promise<void>;
}

export interface WriteOptions {
  /** Does not wait for the disk: the data survives the process, perhaps not the machine. */
  relaxed?: boolean;
  /** Overwrites deleted data with zeros. */
  secure?: boolean;
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { file } = options;
  let database = await patiently(options, () => openChecked(options));
  let opened = identityOf(file);
  let log = identityOf(`${file}-wal`);
  let isClosed = false;
  /** Kept as long as the connection: the driver leaks statements that are prepared for each use. */
  const statements = new Map<string, Statement>();
  let wrote = false;

  function statement(sql: string): Statement {
    let known = statements.get(sql);
    if (known === undefined) {
      known = database.prepare(sql);
      statements.set(sql, known);
    }
    return known;
  }

  /** Continues with the file that is at the path now, if it is another one than was opened. */
  function follow(): void {
    if (isClosed) return;
    const now = identityOf(file);
    if (now === null) throw goneFault(file);
    if (now === opened && database.isOpen) return;
    statements.clear();
    if (database.isOpen) database.close();
    setAsideLog(file, log);
    database = openChecked(options);
    opened = now;
    log = identityOf(`${file}-wal`);
    wrote = false;
  }

  function transactOnce<T>(begin: string, work: () => T): T {
    follow();
    let step: 'work' | 'commit' | 'done' = 'work';
    try {
      statement(begin).run();
      const result = work();
      step = 'commit';
      statement('COMMIT').run();
      step = 'done';
      if (begin === 'BEGIN') return result;
      wrote = true;
      if (identityOf(file) !== opened) throw replacedFault(file);
      return result;
    } catch (thrown) {
      if (step === 'done') throw thrown;
      const outcome = step === 'commit' ? outcomeOfCommit(thrown) : 'no';
      throw markRecorded(thrown, rollBack() ? outcome : 'unknown');
    }
  }

  /** Whether nothing of the transaction is left. SQLite ends it by itself after some errors. */
  function rollBack(): boolean {
    try {
      if (database.isOpen && database.isTransaction) statement('ROLLBACK').run();
      return true;
    } catch {
      return false;
    }
  }

  function transact<T>(begin: string, work: () => T): Promise<T> {
    return patiently(options, () => transactOnce(begin, work));
  }

  /** Set and unset around each try, without a pause between: it must not apply to other writes of this connection. */
  function withPragma<T>(on: string, off: string, work: () => T): Promise<T> {
    return patiently(options, () => {
      follow();
      database.exec(`PRAGMA ${on}`);
      try {
        return transactOnce('BEGIN IMMEDIATE', work);
      } finally {
        if (database.isOpen) database.exec(`PRAGMA ${off}`);
      }
    });
  }

  return {
    statement,
    read: (work) =>
      patiently(options, () => {
        follow();
        return work();
      }),
    snapshot: (work) => transact('BEGIN', work),
    write: (work, { relaxed = false, secure = false } = {}) => {
      if (secure) return withPragma('secure_delete=ON', 'secure_delete=OFF', work);
      if (relaxed) return withPragma('synchronous=NORMAL', 'synchronous=FULL', work);
      return transact('BEGIN IMMEDIATE', work);
    },
    async close() {
      isClosed = true;
      if (!database.isOpen) return;
      statements.clear();
      try {
        // Closing would do this, but statements keep the connection alive: a process that then ends by `process.exit`
        // never closes it, and the log would grow without bound. If another process uses the log, nothing happens and
        // there is no error; the last one to close succeeds.
        if (wrote) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        database.close();
      } catch (thrown) {
        throw toFault(thrown, file);
      }
    },
  };
}

/**
 * Tries again while the database is busy, after growing random waits. SQLite's own busy handler waits in fixed steps,
 * blocks the process meanwhile, and lets the unluckiest of several writers wait three times as long.
 */
export async function patiently<T>({ file, patienceMs, random }: ConnectionOptions, work: () => T): Promise<T> {
  let deadline: number | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return work();
    } catch (thrown) {
      if (!isBusy(thrown)) throw toFault(thrown, file);
      deadline ??= uptimeMs() + patienceMs;
      const leftMs = deadline - uptimeMs();
      if (leftMs <= 0) throw busyFault(file, patienceMs, thrown);
      const stepMs = Math.min(leftMs, 1 + random() * Math.min(40, 2 ** tries));
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    }
  }
}

/** Not `performance.now()`: loading that takes longer than opening the journal. */
function uptimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

function openChecked({ file, readonly }: ConnectionOptions): Database {
  const database = openDatabase(file, readonly);
  try {
    prepare(database, file, readonly);
    return database;
  } catch (thrown) {
    // The last connection to close writes the log back into the file. A read-only connection that closes later prevents
    // that, so that a refused file stays the same byte for byte.
    const witness = thrown instanceof Fault && !readonly ? openWitness(file) : null;
    database.close();
    witness?.close();
    throw thrown;
  }
}

function openWitness(file: string): Database | null {
  try {
    const witness = openDatabase(file, true);
    witness.exec('SELECT count(*) FROM sqlite_schema');
    return witness;
  } catch {
    return null;
  }
}

interface Facts {
  sqlite: string;
  version: number;
  application: number;
  mode: string;
  tables: number;
  /** The first thing in it that is not ours; null when there is none. */
  strange: string | null;
}

/** Only few statements if the journal is up to date: every command runs them. */
function prepare(database: Database, file: string, readonly: boolean): void {
  // The file may come from someone else: what its schema calls must be harmless.
  database.exec('PRAGMA trusted_schema=OFF; PRAGMA synchronous=FULL');
  const facts = look(database);
  if (!isSafe(facts.sqlite)) {
    throw new Fault(
      'unavailable',
      `SQLite ${facts.sqlite} can lose what several processes write at once (fixed in 3.51.3).`,
      {
        hints: ['Use a newer Node.js (22.22.3, 24.15, 26 or later), or install Holdfast with its optional parts.'],
        data: { sqlite: facts.sqlite },
      },
    );
  }
  if (facts.version > migrations.length) throw newerSchema({ file }, facts.version, migrations.length);
  // A journal that is read as a file that nobody changes does not say that it has a log.
  const hasLog = facts.mode === 'wal' || readonly;
  if (facts.version === migrations.length && facts.application === APPLICATION_ID && hasLog) {
    if (facts.strange !== null) throw strangeSchema(file, facts.strange);
    return;
  }
  if (facts.tables > 0 && facts.application !== APPLICATION_ID) throw foreignFile(file);
  if (readonly) {
    throw new Fault('unavailable', `The journal ${file} was written by an older Holdfast and must be upgraded first.`, {
      hints: ['Any command that writes does it.'],
    });
  }
  // Texts of about two kilobytes are common: pages of four kilobytes would each hold one and be half empty.
  if (facts.mode !== 'wal') database.exec('PRAGMA page_size=8192; PRAGMA journal_mode=WAL');
  migrate(database, file);
  const { strange } = look(database);
  if (strange !== null) throw strangeSchema(file, strange);
}

const PARTS = parts.map((part) => `'${part}'`).join(', ');

/**
 * Reads through a function that SQL calls, because `exec` leaves no statement behind: with `@photostructure/sqlite` a
 * statement lives until it is garbage-collected and keeps its connection from closing, and a refused file must be closed
 * at once.
 */
function look(database: Database): Facts {
  let facts: Facts | undefined;
  database.function(
    'holdfast_look',
    { varargs: true },
    (sqlite: string, version: number, application: number, mode: string, tables: number, strange: string | null) => {
      facts = { sqlite, version, application, mode, tables, strange };
      return null;
    },
  );
  database.exec(
    `SELECT holdfast_look(sqlite_version(), user_version, application_id, journal_mode, EXISTS (SELECT 1 FROM sqlite_schema),
       (SELECT type || ' ' || name FROM sqlite_schema WHERE type || ' ' || name NOT IN (${PARTS})))
     FROM pragma_user_version, pragma_application_id, pragma_journal_mode`,
  );
  return facts as Facts;
}

function migrate(database: Database, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated it while this one waited.
    const { version } = look(database);
    if (version > migrations.length) throw newerSchema({ file }, version, migrations.length);
    for (const statements of migrations.slice(version)) database.exec(statements);
    database.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${migrations.length}; COMMIT`);
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function strangeSchema(file: string, strange: string): Fault {
  return new Fault('corrupt', `The journal ${file} holds something that Holdfast did not make: ${quoted(strange)}.`, {
    hints: ['Nothing was written. `holdfast doctor --repair` copies the events that verify into a new file.'],
    data: { file, recorded: 'no' },
  });
}

function foreignFile(file: string): Fault {
  return new Fault('corrupt', `${file} is a database, but not a journal of Holdfast.`, {
    hints: ['Name another file; this one was not changed. `holdfast doctor` examines it more closely.'],
    data: { file },
  });
}
