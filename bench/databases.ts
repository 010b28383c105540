import postgres from 'postgres';
import { startPostgres } from '../test/postgres-server.ts';

/** A durable server that starts with the first database, and one database for each piece of work. */
export interface Databases {
  /** Creates an empty database of that name and returns its address. */
  create(name: string): Promise<string>;
  drop(name: string): Promise<void>;
  /** How much of the server's disk a database takes. */
  bytesOf(name: string): Promise<number>;
  stop(): Promise<void>;
}

export function openDatabases(folder: string): Databases {
  let server: Promise<{ url: string; stop(): Promise<void>; sql: postgres.Sql }> | undefined;
  const started = () => {
    server ??= startPostgres(folder, true).then(({ url, stop }) => ({
      ...{ url, stop },
      sql: postgres(url, { max: 1, onnotice: () => undefined }),
    }));
    return server;
  };
  return {
    async create(name) {
      const { sql, url } = await started();
      await sql`CREATE DATABASE ${sql(name)}`;
      return url.replace(/[^/]*$/, name);
    },
    async drop(name) {
      const { sql } = await started();
      await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`;
    },
    async bytesOf(name) {
      const { sql } = await started();
      const [row] = await sql<{ bytes: string }[]>`SELECT pg_database_size(${name}) AS bytes`;
      return Number(row?.bytes);
    },
    async stop() {
      if (server === undefined) return;
      const { sql, stop } = await server;
      await sql.end({ timeout: 5 });
      await stop();
    },
  };
}
