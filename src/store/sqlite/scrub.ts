import type { Connection } from './connection.ts';

/** Rewrites the file and its log: deleted text is still in the free pages of both. */
export async function scrub({ statement, read }: Connection): Promise<void> {
  await read(() => statement('VACUUM').run());
  await read(() => {
    const { busy } = statement('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    // Thrown in the form of SQLite's own error, so that the connection waits and tries again.
    if (busy !== 0) throw Object.assign(new Error('a reader still uses the log'), { errcode: 5 });
  });
}

/** Inside a write transaction. A term that is deleted stays in the index until its part of it is merged. */
export function mergeTerms({ statement }: Pick<Connection, 'statement'>): void {
  statement("INSERT INTO search (search) VALUES ('optimize')").run();
}
