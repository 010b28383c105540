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

  /** The token with this hash; null when there never was one or any process removed it. */
  findToken(hash: string): Promise<Token | null>;

  /** All tokens, by name. */
  listTokens(): Promise<Token[]>;

  /** Notes when a token was last used; may be lost without harm. */
  useToken(name: string, at: string): Promise<void>;

  /** Returns false when no token has this name. */
  removeToken(name: string): Promise<boolean>;
}

/** The part of the port that is about tokens. */
export type Tokens = Pick<Presence, 'addToken' | 'findToken' | 'listTokens' | 'useToken' | 'removeToken'>;

export interface Token {
  /** What it is listed and removed by. */
  name: string;
  /** Of the secret, which is stored nowhere. */
  hash: string;
  /** The identity it proves. */
  actor: Actor;
  scope: Scope;
  madeAt: string;
  usedAt: string | null;
}
