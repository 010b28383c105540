import type { Sql } from 'postgres';
import { Fault } from '../../core/fault.ts';
import { newerSchema } from '../fault.ts';
import { isMissing, isTransient, toFault } from './fault.ts';
import { migrations } from './schema.ts';

export interface ConnectionOptions {
  url: string;
  schema: string;
  /** The address is not the user's own but one that was agreed to: it gets no password of the user, and the server proves who it is. */
  isProposed: boolean;
  /** How long to keep trying while the server is away. */
  patienceMs: number;
  /** How many statements may run at once. */
  connections: number;
  random: () => number;
}

export type Parameter = string | number | null;

export interface Connection {
  readonly place: string;
  /** The quoted name of the schema. */
  readonly name: string;
  readonly sql: Sql;
  /** One statement; tried again after a failure that wrote nothing. */
  query<Row>(text: string, values?: readonly Parameter[]): Promise<Row[]>;
  /** As `query`, but tried once: for statements that may have run although the answer was lost. */
  once<Row>(text: string, values: readonly Parameter[]): Promise<Row[]>;
  /** Tries until it succeeds, fails for good, or the time is over. `tries` counts from 0. */
  patiently<T>(work: (tries: number) => Promise<T>): Promise<T>;
  /** One more connection, for work that must not share one. */
  another(): Promise<Sql>;
  close(): Promise<void>;
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { patienceMs, random } = options;
  const place = placeOf(options.url);
  const { default: postgres } = await import('postgres');
  const settings = {
    max: options.connections,
    connect_timeout: 10,
    // The driver waits on its own before it connects again, up to 20 s; how long to wait is decided in one place, below.
    backoff: () => 0.01,
    // Only plain types are used; looking the others up would cost each process one more round trip.
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'holdfast', statement_timeout: 30_000, plan_cache_mode: 'force_generic_plan' },
    ...(options.isProposed ? withoutEnvironment(options.url) : {}),
  };
  const sql = postgres(options.url, settings);

  async function patiently<T>(work: (tries: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (let tries = 0; ; tries++) {
      try {
        return await work(tries);
      } catch (thrown) {
        const leftMs = deadline - performance.now();
        if (!isTransient(thrown) || leftMs <= 0) throw toFault(thrown, place);
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(leftMs, 5 + random() * Math.min(500, 20 * 2 ** tries))),
        );
      }
    }
  }

  async function once<Row>(text: string, values: readonly Parameter[]): Promise<Row[]> {
    return (await sql.unsafe(text, [...values], { prepare: true })) as unknown as Row[];
  }

  const connection: Connection = {
    place,
    name: `"${options.schema.replaceAll('"', '""')}"`,
    sql,
    query: (text, values = []) => patiently(() => once(text, values)),
    once,
    patiently,
    another: async () => postgres(options.url, { ...settings, max: 1 }),
    async close() {
      // All answers were received before; this waits only for a connection that is just being opened again.
      await sql.end({ timeout: 1 });
    },
  };
  try {
    await patiently(() => prepare(connection));
    return connection;
  } catch (thrown) {
    await connection.close();
    throw toFault(thrown, place);
  }
}

/** Everything that the driver would otherwise take from `PG…` variables, which the user set for another server. */
function withoutEnvironment(address: string) {
  const { username, pathname, port, hostname } = new URL(address);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const user = decodeURIComponent(username) || 'holdfast';
  return {
    user,
    database: decodeURIComponent(pathname.slice(1)) || user,
    port: Number(port) || 5432,
    // An empty text would be replaced by the variable.
    password: () => '',
    ssl: isHere ? (false as const) : ('verify-full' as const),
  };
}

/** One round trip if the schema is up to date. */
async function prepare(connection: Connection): Promise<void> {
  const facts = await look(connection);
  if (facts !== null && facts.version > migrations.length)
    throw newerSchema({ place: connection.place }, facts.version, migrations.length);
  if (facts !== null && facts.version === migrations.length && !facts.restored) return;
  await migrate(connection);
}

interface Facts {
  version: number;
  restored: boolean;
}

/**
 * A dump restored into a younger cluster has events with higher transaction numbers than new ones will get: the new
 * events would sort before the cursors of readers and be missed.
 */
async function look({ sql, name }: Connection): Promise<Facts | null> {
  try {
    const [row] = await sql.unsafe(
      `SELECT version, EXISTS (SELECT FROM ${name}.events WHERE tx >= next) OR EXISTS (SELECT FROM ${name}.dropped WHERE tx >= next)
         AS restored
       FROM ${name}.meta, LATERAL (SELECT xid_offset + pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) AS here`,
    );
    return (row as unknown as Facts | undefined) ?? null;
  } catch (thrown) {
    if (isMissing(thrown)) return lookAtVersion(sql, name);
    throw thrown;
  }
}

/** A newer schema may have no known table left except the one with its version. */
async function lookAtVersion(sql: Sql, name: string): Promise<Facts | null> {
  try {
    const [row] = await sql.unsafe(`SELECT version, false AS restored FROM ${name}.meta`);
    return (row as unknown as Facts | undefined) ?? null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

async function migrate({ sql, name, place }: Connection): Promise<void> {
  await sql.begin(async (transaction) => {
    // Others that open the same schema wait here and then find it up to date.
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(hashtextextended('holdfast ' || $1, 0))`, [name]);
    await transaction.unsafe(`CREATE SCHEMA IF NOT EXISTS ${name}`);
    await transaction.unsafe(
      `CREATE TABLE IF NOT EXISTS ${name}.meta (single boolean PRIMARY KEY DEFAULT true CHECK (single), version integer NOT NULL, xid_offset bigint NOT NULL);
       INSERT INTO ${name}.meta (version, xid_offset) VALUES (0, 0) ON CONFLICT DO NOTHING`,
    );
    const [row] = await transaction.unsafe(`SELECT version FROM ${name}.meta FOR UPDATE`);
    const version = (row as unknown as { version: number }).version;
    if (version > migrations.length) throw newerSchema({ place }, version, migrations.length);
    for (const statements of migrations.slice(version)) await transaction.unsafe(statements(name));
    // After a restore too.
    await transaction.unsafe(
      `UPDATE ${name}.meta SET version = ${migrations.length}, epoch = 'e-' || left(replace(gen_random_uuid()::text, '-', ''), 12),
       xid_offset = greatest(
         xid_offset,
         (SELECT greatest(
           (SELECT max(tx) FROM ${name}.events), (SELECT max(tx) FROM ${name}.dropped), 0) + 1) - pg_snapshot_xmin(pg_current_snapshot())::text::bigint)`,
    );
  });
}

/** The address without user and password. */
function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch (cause) {
    throw new Fault('invalid', 'The address of the store is not a URL.', {
      hints: ['It looks like `postgres://user@host:5432/database`.'],
      cause,
    });
  }
}
