import { fromColumn, parseColumn, toColumn } from '../columns.ts';
import type { Revocation, Token } from '../presence.ts';

/** How a token is written to the columns of a database. */

export interface TokenRow {
  name: string;
  hash: string;
  actor_kind: string;
  actor_name: string;
  scope: string;
  /** JSON text: a list, or `"*"`. */
  workspaces: string;
  /** JSON text. */
  runs: string | null;
  made_at: string;
  /** JSON text. */
  made_by: string | null;
  expires_at: string | null;
  used_at: string | null;
  revoked_at: string | null;
  /** JSON text. */
  revoked_by: string | null;
}

const columns = [
  'name',
  'hash',
  'actor_kind',
  'actor_name',
  'scope',
  'workspaces',
  'runs',
  'made_at',
  'made_by',
  'expires_at',
  'used_at',
  'revoked_at',
  'revoked_by',
] as const satisfies readonly (keyof TokenRow)[];

export const TOKEN_COLUMNS = columns.join(', ');

/** In the order of `TOKEN_COLUMNS`. */
export function tokenValues(token: Token): (string | null)[] {
  const row: TokenRow = {
    name: toColumn(token.name),
    hash: token.hash,
    actor_kind: token.actor.kind,
    actor_name: toColumn(token.actor.name),
    scope: token.scope,
    workspaces: JSON.stringify(token.workspaces),
    runs: token.runs === null ? null : JSON.stringify(token.runs),
    made_at: token.madeAt,
    made_by: token.madeBy === null ? null : JSON.stringify(token.madeBy),
    expires_at: token.expiresAt,
    used_at: token.usedAt,
    revoked_at: token.revoked?.at ?? null,
    revoked_by: token.revoked === null ? null : revokedBy(token.revoked),
  };
  return columns.map((column) => row[column]);
}

export function revokedBy({ actor, evidence }: Revocation): string {
  return JSON.stringify({ actor, evidence });
}

export function fromTokenRow(row: TokenRow): Token {
  const what = `token ${row.name}`;
  const read = <T>(json: string | null): T | null => (json === null ? null : (parseColumn(json, what) as T));
  const end = read<Omit<Revocation, 'at'>>(row.revoked_by);
  return {
    name: fromColumn(row.name),
    hash: row.hash,
    actor: { kind: row.actor_kind as Token['actor']['kind'], name: fromColumn(row.actor_name) },
    scope: row.scope as Token['scope'],
    workspaces: parseColumn(row.workspaces, what) as Token['workspaces'],
    runs: read(row.runs),
    madeAt: row.made_at,
    madeBy: read(row.made_by),
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    revoked: row.revoked_at === null || end === null ? null : { at: row.revoked_at, ...end },
  };
}
