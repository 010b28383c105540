import { fromColumn, identityFrom } from '../columns.ts';
import type { Store } from '../store.ts';
import { type Connection, openConnection } from './connection.ts';
import { openJournal } from './journal.ts';
import { openListeners } from './listen.ts';
import { openPresence } from './presence.ts';
import { openProjection } from './projection.ts';

export interface PostgresOptions {
  url: string;
  /** The address is not the user's own but one that was agreed to: no `PG…` variable counts, and other hosts need verified TLS. */
  isProposed?: boolean;
  /** The schema that holds the tables; the default is `holdfast`. It is created if it does not exist. */
  schema?: string;
  /** How long to keep trying while the server is away. */
  patienceMs?: number;
  /** How many statements may run at once. */
  connections?: number;
  random?: () => number;
}

/** A journal on a PostgreSQL server. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const connection = await openConnection({
    isProposed: false,
    schema: 'holdfast',
    patienceMs: 5000,
    connections: 8,
    random: Math.random,
    ...options,
  });
  const listeners = openListeners(connection);
  return {
    place: connection.place,
    aheadMs: connection.aheadMs,
    journal: openJournal(connection, listeners.announce),
    projection: openProjection(connection),
    presence: openPresence(connection, listeners),
    async identity() {
      const [row] = await connection.query(`SELECT store AS id, epoch FROM ${connection.name}.meta`);
      return identityFrom(row, connection.place);
    },
    async identify({ id, epoch }) {
      await connection.query(`UPDATE ${connection.name}.meta SET store = $1, epoch = $2`, [id, epoch]);
    },
    inspect: () => inspect(connection),
    async close() {
      await listeners.close();
      await connection.close();
    },
  };
}

/** PostgreSQL checks its own pages; a client can check whether heads and journal agree. */
async function inspect({ query, name }: Connection): Promise<string[]> {
  const rows = await query<{ run: string; version: number; events: number; last: number }>(
    `SELECT r.run, r.version, e.events, e.last FROM ${name}.runs AS r LEFT JOIN LATERAL (
       SELECT count(*)::integer AS events, coalesce(max(version), 0) AS last FROM ${name}.events WHERE run = r.run) AS e ON true
     WHERE r.version <> e.events OR r.version <> e.last`,
  );
  const headless = await query<{ run: string }>(
    `SELECT DISTINCT run FROM ${name}.events AS e WHERE NOT EXISTS (SELECT 1 FROM ${name}.runs WHERE run = e.run)`,
  );
  return [
    ...rows.map(
      ({ run, version, events, last }) =>
        `run ${fromColumn(run)} is at version ${version} but has ${events} events, the last of them ${last}`,
    ),
    ...headless.map(({ run }) => `run ${fromColumn(run)} has events and no head`),
  ];
}
