import { Fault } from '../../core/fault.ts';
import { withFileLock } from '../../workspace/lock.ts';
import type { OwnFiles } from '../../workspace/own-files.ts';
import { noStateFolder, openStateFolder, thisUser } from '../../workspace/state/folder.ts';
import { byName, type Token, type Tokens } from '../presence.ts';

const FOLDER = 'tokens';
const LOCK_MS = 10_000;

/**
 * The tokens of a journal file. They lie in the user's state folder and not in the file: an archive can bring a journal, and
 * an agent may be able to write one, and neither may choose who signs in.
 */
export function openTokens(store: () => Promise<string>): Tokens {
  const fileOf = async (): Promise<string> => `${FOLDER}/${await store()}.json`;
  const all = async (): Promise<Token[]> => {
    const state = openStateFolder(thisUser());
    return state === null ? [] : read(state, await fileOf());
  };
  /** Saves the tokens if `change` says that it changed them. */
  const change = async (work: (tokens: Token[]) => boolean): Promise<boolean> => {
    const user = thisUser();
    const state = openStateFolder(user);
    if (state === null) throw noStateFolder(user);
    const file = await fileOf();
    const changed = await withFileLock(`${state.folder(FOLDER)}/${await store()}.lock`, LOCK_MS, async () => {
      const tokens = read(state, file);
      const isChanged = work(tokens);
      if (isChanged) state.replace(file, `${JSON.stringify(tokens, null, 2)}\n`);
      return isChanged;
    });
    if (changed === null)
      throw new Fault('unavailable', 'Another process is changing the tokens.', { hints: ['Try again.'] });
    return changed;
  };
  const named = (tokens: readonly Token[], name: string): Token | undefined =>
    tokens.find((token) => token.name === name && token.revoked === null);
  return {
    addToken: (token) =>
      change((tokens) => {
        if (named(tokens, token.name) || tokens.some(({ hash }) => hash === token.hash)) return false;
        tokens.push(token);
        return true;
      }),
    findToken: async (hash) => (await all()).find((token) => token.hash === hash && token.revoked === null) ?? null,
    listTokens: async ({ revoked = false } = {}) =>
      (await all()).filter((token) => revoked || token.revoked === null).sort(byName),
    async useToken(name, at) {
      await change((tokens) => {
        const token = named(tokens, name);
        if (token === undefined || at <= (token.usedAt ?? '')) return false;
        token.usedAt = at;
        return true;
      });
    },
    revokeToken: (name, revoked) =>
      change((tokens) => {
        const token = named(tokens, name);
        if (token) token.revoked = revoked;
        return token !== undefined;
      }),
  };
}

function read(state: OwnFiles, file: string): Token[] {
  const text = state.read(file);
  if (text === null) return [];
  try {
    return JSON.parse(text) as Token[];
  } catch {
    throw new Fault('corrupt', `${state.root}/${file} cannot be read as a list of tokens.`, {
      hints: ['Move it away, and make the tokens again with `holdfast token add`.'],
      data: { file: `${state.root}/${file}` },
    });
  }
}
