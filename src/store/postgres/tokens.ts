import { toColumn } from '../columns.ts';
import type { Tokens } from '../store.ts';
import { fromTokenRow, TOKEN_COLUMNS, type TokenRow } from '../token-columns.ts';
import type { Connection } from './connection.ts';

export function openTokens({ query, name: schema }: Connection): Tokens {
  return {
    async add({ name, hash, actor, scope, madeAt, usedAt }) {
      // After a lost answer the row is there already, with this very hash: then it was added by this call.
      const rows = await query(
        `INSERT INTO ${schema}.tokens AS known (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (name) DO UPDATE SET hash = excluded.hash WHERE known.hash = excluded.hash RETURNING name`,
        [toColumn(name), hash, actor.kind, toColumn(actor.name), scope, madeAt, usedAt],
      );
      return rows.length > 0;
    },
    async find(hash) {
      const [row] = await query<TokenRow>(`SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens WHERE hash = $1`, [hash]);
      return row === undefined ? null : fromTokenRow(row);
    },
    async list() {
      const rows = await query<TokenRow>(`SELECT ${TOKEN_COLUMNS} FROM ${schema}.tokens ORDER BY name`);
      return rows.map(fromTokenRow);
    },
    async use(name, at) {
      await query(
        `UPDATE ${schema}.tokens SET used_at = $2::text WHERE name = $1 AND coalesce(used_at, '') < $2::text`,
        [toColumn(name), at],
      );
    },
    async remove(name) {
      const rows = await query(`DELETE FROM ${schema}.tokens WHERE name = $1 RETURNING name`, [toColumn(name)]);
      return rows.length > 0;
    },
  };
}
