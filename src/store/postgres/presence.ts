import { fromColumn, toColumn } from '../columns.ts';
import type { Presence } from '../presence.ts';
import { fromTokenRow, TOKEN_COLUMNS, type TokenRow } from '../token-columns.ts';
import type { Connection } from './connection.ts';
import type { Listeners } from './listen.ts';

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
    async addToken({ name, hash, actor, scope, madeAt, usedAt }) {
      // After a lost answer the row is already there, with this very hash: then this call added it.
      const rows = await query(
        `INSERT INTO ${schema}.tokens AS known (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (name) DO UPDATE SET hash = excluded.hash WHERE known.hash = excluded.hash RETURNING name`,
        [toColumn(name), hash, actor.kind, toColumn(actor.name), scope, madeAt, usedAt],
      );
      return rows.length > 0;
    },
    async findToken(hash) {
      const [row] = await query<TokenRow>(`SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens WHERE hash = $1`, [hash]);
      return row === undefined ? null : fromTokenRow(row);
    },
    async listTokens() {
      const rows = await query<TokenRow>(`SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens ORDER BY name`);
      return rows.map(fromTokenRow);
    },
    async useToken(name, at) {
      await query(
        `UPDATE ${schema}.tokens SET used_at = $2::text WHERE name = $1 AND coalesce(used_at, '') < $2::text`,
        [toColumn(name), at],
      );
    },
    async removeToken(name) {
      const rows = await query(`DELETE FROM ${schema}.tokens WHERE name = $1 RETURNING name`, [toColumn(name)]);
      return rows.length > 0;
    },
  };
}
