import { fromColumn, identityFrom } from '../columns.ts';
import type { Store } from '../store.ts';
import { type Connection, openConnection } from './connection.ts';
import { openJournal } from './journal.ts';
import { openPresence } from './presence.ts';
import { openProjection } from './projection.ts';

export interface SqliteOptions {
  file: string;
  readonly?: boolean;
  /** How long to wait for other processes before `unavailable`. */
  patienceMs?: number;
  random?: () => number;
}

/** A journal in one file that many processes share. Its folder must exist. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const settings = { readonly: false, patienceMs: 10_000, random: Math.random, ...options };
  const connection = await openConnection(settings);
  const identity = () =>
    connection.read(() => {
      const row = connection.statement('SELECT store AS id, epoch FROM meta').get();
      return identityFrom(row, settings.file);
    });
  const { presence, announce, stop } = openPresence(connection, async () => (await identity()).id);
  return {
    place: settings.file,
    aheadMs: 0,
    journal: openJournal(connection, announce),
    projection: openProjection(connection),
    presence,
    identity,
    identify: ({ id, epoch }) =>
      connection.write(
        () =>
          void connection
            .statement(
              `INSERT INTO meta (single, store, epoch) VALUES (1, ?, ?)
               ON CONFLICT (single) DO UPDATE SET store = excluded.store, epoch = excluded.epoch`,
            )
            .run(id, epoch),
      ),
    inspect: () => connection.read(() => inspect(connection)),
    close() {
      stop();
      return connection.close();
    },
  };
}

function inspect({ statement }: Connection): string[] {
  const lines = statement('PRAGMA integrity_check').all() as { integrity_check: string }[];
  const headless = statement('SELECT DISTINCT run FROM events WHERE run NOT IN (SELECT run FROM runs)').all() as {
    run: string;
  }[];
  return [
    ...lines.map((line) => line.integrity_check).filter((line) => line !== 'ok'),
    ...headless.map(({ run }) => `run ${fromColumn(run)} has events and no head`),
  ];
}
