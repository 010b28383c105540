import type { Token } from '../src/store/presence.ts';

/** The part of a token that reaches everything and does not expire, as those of version 0.1. */
export const unlimitedToken = {
  workspaces: '*',
  runs: null,
  madeBy: null,
  expiresAt: null,
  usedAt: null,
  revoked: null,
} as const satisfies Partial<Token>;
