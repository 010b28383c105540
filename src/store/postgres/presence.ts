import { fromColumn, toColumn } from '../columns.ts';
import type { Presence } from '../presence.ts';
import type { Connection } from './connection.ts';
import type { Listeners } from './listen.ts';
import { fromTokenRow, revokedBy, TOKEN_COLUMNS, type TokenRow, tokenValues } from './token-columns.ts';

export function openPresence({ query, name: schema }: Connection, { listen }: Listeners): Presence {
  return {
    async beat(run, session, at) {
      // A heartbeat may be lost: it is not worth waiting for the disk.
      await query(
        `WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO ${schema}.beats AS known (run, session, at) SELECT $1, $2, $3 FROM relaxed
         ON CONFLICT (run, session) DO UPDATE SET at = excluded.at WHERE excluded.at > known.at`,
        [toColumn(run), toColumn(session), at],
      );
    },
    async beats(run) {
      const rows = await query<{ session: string; at: string }>(
        `SELECT session, at FROM ${schema}.beats WHERE run = $1`,
        [toColumn(run)],
      );
      return new Map(rows.map(({ session, at }) => [fromColumn(session), at]));
    },
    listen: async (wake) => listen(wake),
    async addToken(token) {
      const values = tokenValues(token);
      const places = values.map((_, index) => `$${index + 1}`).join(', ');
      // After a lost answer the row is already there, with this very hash: then this call added it.
      const rows = await query(
        `INSERT INTO ${schema}.tokens AS known (${TOKEN_COLUMNS}) VALUES (${places})
         ON CONFLICT (name) WHERE revoked_at IS NULL
         DO UPDATE SET hash = excluded.hash WHERE known.hash = excluded.hash RETURNING name`,
        values,
      );
      return rows.length > 0;
    },
    async findToken(hash) {
      const [row] = await query<TokenRow>(
        `SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens WHERE hash = $1 AND revoked_at IS NULL`,
        [hash],
      );
      return row === undefined ? null : fromTokenRow(row);
    },
    async listTokens({ revoked = false } = {}) {
      const rows = await query<TokenRow>(
        `SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens ${revoked ? '' : 'WHERE revoked_at IS NULL'}
         ORDER BY name, made_at, hash`,
      );
      return rows.map(fromTokenRow);
    },
    async useToken(name, at) {
      await query(
        `UPDATE ${schema}.tokens SET used_at = $2::text
         WHERE name = $1 AND revoked_at IS NULL AND coalesce(used_at, '') < $2::text`,
        [toColumn(name), at],
      );
    },
    async revokeToken(name, revoked) {
      const rows = await query(
        `UPDATE ${schema}.tokens SET revoked_at = $2::text, revoked_by = $3::text
         WHERE name = $1 AND revoked_at IS NULL RETURNING name`,
        [toColumn(name), revoked.at, revokedBy(revoked)],
      );
      return rows.length > 0;
    },
  };
}
