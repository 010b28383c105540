import { fromColumn, toColumn } from '../columns.ts';
import type { Presence, Tokens } from '../presence.ts';
import type { Connection } from './connection.ts';
import type { Listeners } from './listen.ts';

/** `store` gives the id of the journal. `announce` wakes the listeners of this process after it recorded something; `stop` ends listening. */
export function openPresence(
  connection: Connection,
  store: () => Promise<string>,
): { presence: Presence; announce(): void; stop(): void } {
  const { statement, read, write } = connection;
  let listeners: Listeners | undefined;
  let opened: Tokens | undefined;
  // Listening and tokens are loaded on first use: most commands need neither.
  const tokens = async (): Promise<Tokens> => {
    opened ??= (await import('./tokens.ts')).openTokens(store);
    return opened;
  };
  const presence: Presence = {
    async beat(run, session, at) {
      await write(
        () =>
          statement(
            `INSERT INTO beats (run, session, at) VALUES (?, ?, ?)
             ON CONFLICT (run, session) DO UPDATE SET at = excluded.at WHERE excluded.at > at`,
          ).run(toColumn(run), toColumn(session), at),
        // A heartbeat may be lost: it is not worth waiting for the disk.
        { relaxed: true },
      );
    },
    beats: (run) =>
      read(() => {
        const rows = statement('SELECT session, at FROM beats WHERE run = ?').all(toColumn(run)) as {
          session: string;
          at: string;
        }[];
        return new Map(rows.map(({ session, at }) => [fromColumn(session), at]));
      }),
    async listen(wake) {
      const { openListeners } = await import('./listen.ts');
      listeners ??= openListeners(connection);
      return listeners.listen(wake);
    },
    addToken: async (token) => (await tokens()).addToken(token),
    findToken: async (hash) => (await tokens()).findToken(hash),
    listTokens: async (options) => (await tokens()).listTokens(options),
    useToken: async (name, at) => (await tokens()).useToken(name, at),
    revokeToken: async (name, revoked) => (await tokens()).revokeToken(name, revoked),
  };
  return { presence, announce: () => listeners?.announce(), stop: () => listeners?.close() };
}
