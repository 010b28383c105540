import { byName, type Presence, type Token } from '../presence.ts';
import { copy, type Data } from './data.ts';

export function openPresence({ beats, tokens, listeners }: Data): Presence {
  const named = (name: string): Token | undefined =>
    [...tokens.values()].find((token) => token.name === name && token.revoked === null);
  return {
    async beat(run, session, at) {
      const known = beats.get(run) ?? new Map<string, string>();
      if (at > (known.get(session) ?? '')) beats.set(run, known.set(session, at));
    },
    beats: async (run) => new Map(beats.get(run)),
    async listen(wake) {
      // A function that listens twice is two listeners.
      const listener = () => wake();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async addToken(token) {
      if (named(token.name) || tokens.has(token.hash)) return false;
      tokens.set(token.hash, copy(token));
      return true;
    },
    async findToken(hash) {
      const token = tokens.get(hash);
      return token && token.revoked === null ? copy(token) : null;
    },
    listTokens: async ({ revoked = false } = {}) =>
      [...tokens.values()]
        .filter((token) => revoked || token.revoked === null)
        .map(copy<Token>)
        .sort(byName),
    async useToken(name, at) {
      const token = named(name);
      if (token && at > (token.usedAt ?? '')) token.usedAt = at;
    },
    async revokeToken(name, revoked) {
      const token = named(name);
      if (token) token.revoked = copy(revoked);
      return token !== undefined;
    },
  };
}
