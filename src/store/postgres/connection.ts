import type { Sql } from 'postgres';
import { Fault } from '../../core/fault.ts';
import { parseStoreAddress, type StoreAddress } from '../../core/store-address.ts';
import { newerSchema } from '../fault.ts';
import { isMissing, isReadOnly, isTransient, STANDBY, toFault } from './fault.ts';
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
  /** The server's clock against this machine's. */
  readonly aheadMs: number;
  /** The quoted name of the schema. */
  readonly name: string;
  /** The connections to the server in use. With several hosts another one may be in use after a failure. */
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
  const { each: hosts, place } = addressOf(options.url);
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
  };
  const open = (host: URL, max = settings.max): Sql =>
    postgres(host.href, { ...settings, ...(options.isProposed ? withoutEnvironment(host) : {}), max });
  let host = hosts[0] as URL;
  let sql = open(host);
  let choosing: Promise<void> | undefined;

  /** Of several servers only one can be written; which one changes when it fails. */
  async function choosePrimary(): Promise<void> {
    for (const next of [...hosts.filter((one) => one !== host), host]) {
      const before = sql;
      host = next;
      sql = open(host);
      void before.end({ timeout: 0 }).catch(() => undefined);
      const found = await sql.unsafe('SELECT pg_is_in_recovery() AS standby').catch(() => null);
      if (found?.[0]?.['standby'] === false) return;
    }
  }

  async function patiently<T>(work: (tries: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs;
    for (let tries = 0; ; tries++) {
      try {
        return await work(tries);
      } catch (thrown) {
        const leftMs = deadline - performance.now();
        const mayHaveMoved = hosts.length > 1 && (isReadOnly(thrown) || isTransient(thrown));
        if (!(isTransient(thrown) || mayHaveMoved) || leftMs <= 0) throw toFault(thrown, place);
        if (mayHaveMoved) {
          choosing ??= choosePrimary().finally(() => {
            choosing = undefined;
          });
          await choosing;
        }
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(leftMs, 5 + random() * Math.min(500, 20 * 2 ** tries))),
        );
      }
    }
  }

  async function mustBePrimary(): Promise<void> {
    const [row] = await sql.unsafe('SELECT pg_is_in_recovery() AS standby');
    if (row?.['standby'] !== false) throw Object.assign(new Error('the server is a standby'), { code: STANDBY });
  }

  async function once<Row>(text: string, values: readonly Parameter[]): Promise<Row[]> {
    return (await sql.unsafe(text, [...values], { prepare: true })) as unknown as Row[];
  }

  const connection: Connection & { aheadMs: number } = {
    place,
    aheadMs: 0,
    name: `"${options.schema.replaceAll('"', '""')}"`,
    get sql() {
      return sql;
    },
    query: (text, values = []) => patiently(() => once(text, values)),
    once,
    patiently,
    another: async () => open(host, 1),
    async close() {
      // All answers were received before; this waits only for a connection that is just being opened again.
      await sql.end({ timeout: 1 });
    },
  };
  try {
    // A standby can be read: the first one that answers is not the one to use.
    if (hosts.length > 1) await patiently(mustBePrimary);
    connection.aheadMs = await patiently(() => prepare(connection));
    return connection;
  } catch (thrown) {
    await connection.close();
    throw toFault(thrown, place);
  }
}

/** Everything that the driver would otherwise take from `PG…` variables, which the user set for another server. */
function withoutEnvironment({ username, pathname, port, hostname }: URL) {
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

/** One round trip if the schema is up to date. Returns how much the server's clock is ahead. */
async function prepare(connection: Connection): Promise<number> {
  const facts = await look(connection);
  if (facts !== null && facts.version > migrations.length)
    throw newerSchema({ place: connection.place }, facts.version, migrations.length);
  if (facts !== null && facts.version === migrations.length && !facts.restored) return facts.aheadMs;
  await migrate(connection);
  return (await look(connection))?.aheadMs ?? 0;
}

interface Facts {
  version: number;
  restored: boolean;
  aheadMs: number;
}

/** Clocks that differ by less are the same: the difference cannot be measured more exactly than this. */
const SAME_CLOCK_MS = 1000;

function aheadOf(serverMs: number, beforeMs: number, afterMs: number): number {
  const aheadMs = Math.round(serverMs - (beforeMs + afterMs) / 2);
  return Math.abs(aheadMs) < SAME_CLOCK_MS + (afterMs - beforeMs) / 2 ? 0 : aheadMs;
}

/**
 * A dump restored into a younger cluster has events with higher transaction numbers than new ones will get: the new
 * events would sort before the cursors of readers and be missed.
 */
async function look({ sql, name }: Connection): Promise<Facts | null> {
  const beforeMs = Date.now();
  try {
    const [row] = await sql.unsafe(
      `SELECT version, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
         EXISTS (SELECT FROM ${name}.events WHERE tx >= next) OR EXISTS (SELECT FROM ${name}.dropped WHERE tx >= next) AS restored
       FROM ${name}.meta, LATERAL (SELECT xid_offset + pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) AS here`,
    );
    if (row === undefined) return null;
    const { now, ...facts } = row as unknown as { version: number; restored: boolean; now: number };
    return { ...facts, aheadMs: aheadOf(now, beforeMs, Date.now()) };
  } catch (thrown) {
    if (isMissing(thrown)) return lookAtVersion(sql, name);
    throw thrown;
  }
}

/** A newer schema may have no known table left except the one with its version. */
async function lookAtVersion(sql: Sql, name: string): Promise<Facts | null> {
  try {
    const [row] = await sql.unsafe(`SELECT version, false AS restored, 0 AS "aheadMs" FROM ${name}.meta`);
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

function addressOf(url: string): StoreAddress {
  try {
    return parseStoreAddress(url);
  } catch (cause) {
    throw new Fault('invalid', 'The address of the store is not a URL.', {
      hints: [
        'It looks like `postgres://user@host:5432/database`, or with several hosts `postgres://user@one:5432,two:5432/database`.',
      ],
      cause,
    });
  }
}
