import type { Actor, Scope } from '../core/words.ts';

/** Who is active, and who may connect. Kept beside the journal: none of it says what happened. */
export interface Presence {
  /** Records a heartbeat of a session; the newest one wins. It may be lost without harm. */
  beat(run: string, session: string, at: string): Promise<void>;

  /** The last heartbeats in a run, by session. */
  beats(run: string): Promise<Map<string, string>>;

  /**
   * Calls `wake` soon after any process recorded something. It is a hint: it may come late, without reason, or not at all
   * while the database is away, so a reader that must miss nothing also reads the feed at intervals. Returns a function
   * that stops listening.
   */
  listen(wake: () => void): Promise<() => void>;

  /** Stores a token; returns false, and stores nothing, when the name is taken. */
  addToken(token: Token): Promise<boolean>;

  /** The token with this hash; null when there never was one or any process revoked it. An expired one is returned. */
  findToken(hash: string): Promise<Token | null>;

  /** The tokens that were not revoked, by name; with `revoked` those that were as well, the older of one name first. */
  listTokens(options?: { revoked?: boolean }): Promise<Token[]>;

  /** Notes when a token was last used; may be lost without harm. */
  useToken(name: string, at: string): Promise<void>;

  /** Ends a token and keeps its row as the record of it; its name is free again. Returns false when no token has this name. */
  revokeToken(name: string, revoked: Revocation): Promise<boolean>;
}

/** The part of the port that is about tokens. */
export type Tokens = Pick<Presence, 'addToken' | 'findToken' | 'listTokens' | 'useToken' | 'revokeToken'>;

export interface Token {
  /** What it is listed and removed by. */
  name: string;
  /** Of the secret, which is stored nowhere. */
  hash: string;
  /** The identity it proves. */
  actor: Actor;
  scope: Scope;
  /** The workspaces it reaches, or all. */
  workspaces: readonly string[] | '*';
  /** It reaches only these runs; null means all runs of its workspaces. */
  runs: readonly string[] | null;
  madeAt: string;
  /** Null for tokens of version 0.1, which did not record it. */
  madeBy: Maker | null;
  /** Null for tokens of version 0.1, which are valid until they are revoked. */
  expiresAt: string | null;
  usedAt: string | null;
  revoked: Revocation | null;
}

/** Who made or revoked a token. */
export interface Maker {
  actor: Actor;
  /** What proves the actor, such as `token:ada`; `none` when nothing does. */
  evidence: string;
}

export interface Revocation extends Maker {
  at: string;
}

/** By name, the older of one name first. */
export function byName(a: Token, b: Token): number {
  const [one, other] = [a, b].map(({ name, madeAt, hash }) => [name, madeAt, hash].join('\u0000')) as [string, string];
  return one < other ? -1 : 1;
}
