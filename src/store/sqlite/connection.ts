import { Fault } from '../../core/fault.ts';
import { type Database, isSafe, openDatabase, type Statement } from './driver.ts';
import { busyFault, isBusy, toFault } from './fault.ts';
import { APPLICATION_ID, migrations } from './schema.ts';

export interface ConnectionOptions {
  file: string;
  readonly: boolean;
  /** How long to wait for other processes before giving up. */
  patienceMs: number;
  random: () => number;
}

export interface Connection {
  statement(sql: string): Statement;
  /** Outside of a transaction; tried again while another process is in the way. */
  read<T>(work: () => T): Promise<T>;
  /** Several reads that must see the same moment. */
  snapshot<T>(work: () => T): Promise<T>;
  /** A transaction that holds the right to write from its beginning; whatever is thrown undoes it. */
  write<T>(work: () => T, how?: WriteOptions): Promise<T>;
  close(): Promise<void>;
}

export interface WriteOptions {
  /** Do not wait for the disk: what is written survives the process, perhaps not the machine. */
  relaxed?: boolean;
  /** Overwrite what is deleted with zeros. */
  secure?: boolean;
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { file } = options;
  const database = await patiently(options, () => openChecked(options));
  /** Kept for as long as the connection: the driver leaks a statement that is prepared anew for each use. */
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

  function transactOnce<T>(begin: string, work: () => T): T {
    statement(begin).run();
    try {
      const result = work();
      statement('COMMIT').run();
      wrote ||= begin !== 'BEGIN';
      return result;
    } catch (thrown) {
      if (database.isOpen && database.isTransaction) statement('ROLLBACK').run();
      throw thrown;
    }
  }

  function transact<T>(begin: string, work: () => T): Promise<T> {
    return patiently(options, () => transactOnce(begin, work));
  }

  /** Set and unset around each try, without a pause between: other writes of this connection must not run under it. */
  function withPragma<T>(on: string, off: string, work: () => T): Promise<T> {
    return patiently(options, () => {
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
    read: (work) => patiently(options, work),
    snapshot: (work) => transact('BEGIN', work),
    write: (work, { relaxed = false, secure = false } = {}) => {
      if (secure) return withPragma('secure_delete=ON', 'secure_delete=OFF', work);
      if (relaxed) return withPragma('synchronous=NORMAL', 'synchronous=FULL', work);
      return transact('BEGIN IMMEDIATE', work);
    },
    async close() {
      if (!database.isOpen) return;
      statements.clear();
      try {
        // Closing would do this, were it not that statements keep the connection alive: a process that then leaves by
        // `process.exit` never closes it, and the log would grow without bound. Another's use of the log prevents it
        // without an error; whoever closes last succeeds.
        if (wrote) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        database.close();
      } catch (thrown) {
        throw toFault(thrown, file);
      }
    },
  };
}

/**
 * Waits in growing, random steps. SQLite's own busy handler sleeps in fixed ones, blocks the process meanwhile, and lets
 * the unluckiest of several writers wait three times as long.
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
    // The last connection to close writes the log back into the file. A read-only one that outlives it cannot: what is
    // refused here stays as it is, byte for byte.
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
}

/** On a journal that is up to date this is two statements: every command pays for them. */
function prepare(database: Database, file: string, readonly: boolean): void {
  database.exec('PRAGMA synchronous=FULL');
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
  if (facts.version > migrations.length) throw newerSchema(file, facts.version);
  if (facts.version === migrations.length && facts.application === APPLICATION_ID && facts.mode === 'wal') return;
  if (facts.tables > 0 && facts.application !== APPLICATION_ID) throw foreignFile(file);
  if (readonly) {
    throw new Fault(
      'unavailable',
      `The journal ${file} was made by an older Holdfast and has to be brought up to date first.`,
      {
        hints: ['Any command that writes does it.'],
      },
    );
  }
  // Texts of about two kilobytes are common: pages of four would each hold one and be half empty.
  if (facts.mode !== 'wal') database.exec('PRAGMA page_size=8192; PRAGMA journal_mode=WAL');
  migrate(database, file);
}

/**
 * Reads through a function that SQL calls, because `exec` leaves no statement behind: with `@photostructure/sqlite` a
 * statement lives until it is garbage-collected and keeps its connection from closing, and a file that is refused must
 * be let go of at once.
 */
function look(database: Database): Facts {
  let facts: Facts | undefined;
  database.function(
    'holdfast_look',
    { varargs: true },
    (sqlite: string, version: number, application: number, mode: string, tables: number) => {
      facts = { sqlite, version, application, mode, tables };
      return null;
    },
  );
  database.exec(
    `SELECT holdfast_look(sqlite_version(), user_version, application_id, journal_mode, EXISTS (SELECT 1 FROM sqlite_schema))
     FROM pragma_user_version, pragma_application_id, pragma_journal_mode`,
  );
  return facts as Facts;
}

function migrate(database: Database, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have done it while this one waited.
    const { version } = look(database);
    if (version > migrations.length) throw newerSchema(file, version);
    for (const statements of migrations.slice(version)) database.exec(statements);
    database.exec(`PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${migrations.length}; COMMIT`);
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

function newerSchema(file: string, version: number): Fault {
  return new Fault(
    'newer_schema',
    `The journal ${file} was written by a newer Holdfast (schema ${version}, known here: ${migrations.length}).`,
    {
      hints: ['Update Holdfast; the journal was not touched.'],
      data: { file, version, known: migrations.length },
    },
  );
}

function foreignFile(file: string): Fault {
  return new Fault('corrupt', `${file} is a database, but not a journal of Holdfast.`, {
    hints: ['Name another file; this one was not touched. `holdfast doctor` looks at it more closely.'],
    data: { file },
  });
}
