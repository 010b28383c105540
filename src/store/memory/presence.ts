import type { Presence, Token } from '../presence.ts';
import { copy, type Data } from './data.ts';

export function openPresence({ beats, tokens, listeners }: Data): Presence {
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
      if (tokens.has(token.name)) return false;
      tokens.set(token.name, copy(token));
      return true;
    },
    findToken: async (hash) => copy([...tokens.values()].find((token) => token.hash === hash) ?? null),
    listTokens: async () => [...tokens.values()].map(copy<Token>).sort((a, b) => (a.name < b.name ? -1 : 1)),
    async useToken(name, at) {
      const token = tokens.get(name);
      if (token && at > (token.usedAt ?? '')) token.usedAt = at;
    },
    removeToken: async (name) => tokens.delete(name),
  };
}
