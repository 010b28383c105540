import { toColumn } from '../columns.ts';
import type { Tokens } from '../presence.ts';
import { fromTokenRow, revokedBy, TOKEN_COLUMNS, type TokenRow, tokenValues } from '../token-columns.ts';
import type { Connection } from './connection.ts';

export function openTokens({ statement, read, write }: Connection): Tokens {
  return {
    addToken: (token) =>
      write(() => {
        const values = tokenValues(token);
        const places = values.map(() => '?').join(', ');
        const { changes } = statement(
          `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES (${places}) ON CONFLICT DO NOTHING`,
        ).run(...values);
        return Number(changes) > 0;
      }),
    findToken: (hash) =>
      read(() => {
        const row = statement(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ? AND revoked_at IS NULL`).get(hash);
        return row === undefined ? null : fromTokenRow(row as TokenRow);
      }),
    listTokens: ({ revoked = false } = {}) =>
      read(() => {
        const rows = statement(
          `SELECT ${TOKEN_COLUMNS} FROM tokens ${revoked ? '' : 'WHERE revoked_at IS NULL'} ORDER BY name, made_at, hash`,
        ).all();
        return (rows as TokenRow[]).map(fromTokenRow);
      }),
    async useToken(name, at) {
      await write(
        () =>
          statement(
            'UPDATE tokens SET used_at = ? WHERE name = ? AND revoked_at IS NULL AND coalesce(used_at, ?) < ?',
          ).run(at, toColumn(name), '', at),
        { relaxed: true },
      );
    },
    revokeToken: (name, revoked) =>
      write(() => {
        const { changes } = statement(
          'UPDATE tokens SET revoked_at = ?, revoked_by = ? WHERE name = ? AND revoked_at IS NULL',
        ).run(revoked.at, revokedBy(revoked), toColumn(name));
        return Number(changes) > 0;
      }),
  };
}
