import { toColumn } from '../columns.ts';
import type { Tokens } from '../presence.ts';
import { fromTokenRow, TOKEN_COLUMNS, type TokenRow } from '../token-columns.ts';
import type { Connection } from './connection.ts';

export function openTokens({ statement, read, write }: Connection): Tokens {
  return {
    addToken: ({ name, hash, actor, scope, madeAt, usedAt }) =>
      write(() => {
        const { changes } = statement(
          `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        ).run(toColumn(name), hash, actor.kind, toColumn(actor.name), scope, madeAt, usedAt);
        return Number(changes) > 0;
      }),
    findToken: (hash) =>
      read(() => {
        const row = statement(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`).get(hash);
        return row === undefined ? null : fromTokenRow(row as TokenRow);
      }),
    listTokens: () =>
      read(() =>
        (statement(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY name`).all() as TokenRow[]).map(fromTokenRow),
      ),
    async useToken(name, at) {
      await write(
        () =>
          statement('UPDATE tokens SET used_at = ? WHERE name = ? AND coalesce(used_at, ?) < ?').run(
            at,
            toColumn(name),
            '',
            at,
          ),
        { relaxed: true },
      );
    },
    removeToken: (name) =>
      write(() => Number(statement('DELETE FROM tokens WHERE name = ?').run(toColumn(name)).changes) > 0),
  };
}
