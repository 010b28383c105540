import { fromColumn } from './columns.ts';
import type { Token } from './presence.ts';

/** How a token is written to the columns of a database, the same in all of them. */

export interface TokenRow {
  name: string;
  hash: string;
  actor_kind: string;
  actor_name: string;
  scope: string;
  made_at: string;
  used_at: string | null;
}

export const TOKEN_COLUMNS = 'name, hash, actor_kind, actor_name, scope, made_at, used_at';

export function fromTokenRow(row: TokenRow): Token {
  return {
    name: fromColumn(row.name),
    hash: row.hash,
    actor: { kind: row.actor_kind as Token['actor']['kind'], name: fromColumn(row.actor_name) },
    scope: row.scope as Token['scope'],
    madeAt: row.made_at,
    usedAt: row.used_at,
  };
}
