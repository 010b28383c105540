import { describe, expect, it } from 'vitest';
import type { Token } from '../presence.ts';
import { at, type Get, newRun, note, put } from './fixture.ts';

/** The page `presence.ts`, sentence by sentence. */
export function presenceSuite(store: Get, other: Get): void {
  beating(store);
  listening(store, other);
  keepingTokens(store, other);
}

function beating(store: Get): void {
  describe('beat', () => {
    it('keeps the newest heartbeat of each session', async () => {
      const run = newRun();
      await store().presence.beat(run, 'S-1', at(5));
      await store().presence.beat(run, 'S-1', at(3));
      await store().presence.beat(run, 'S-2', at(4));
      await store().presence.beat(run, 'S-2', at(6));
      expect(await store().presence.beats(run)).toEqual(
        new Map([
          ['S-1', at(5)],
          ['S-2', at(6)],
        ]),
      );
      expect(await store().presence.beats(newRun())).toEqual(new Map());
    });
  });
}

function listening(store: Get, other: Get): void {
  describe('listen', () => {
    it('wakes after this process or another one recorded something', async () => {
      for (const writer of [store, other]) {
        let isAwake = false;
        const stop = await store().presence.listen(() => {
          isAwake = true;
        });
        const run = newRun();
        // A hint may be lost while listening starts: more is recorded until one comes.
        while (!isAwake) {
          await put(writer(), run, [note('news')]);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        stop();
      }
    });

    it('does not wake after it was stopped, while other listeners do', async () => {
      let woken = 0;
      let isAwake = false;
      const stopOther = await store().presence.listen(() => {
        isAwake = true;
      });
      const stop = await store().presence.listen(() => {
        woken += 1;
      });
      stop();
      const run = newRun();
      while (!isAwake) {
        await put(store(), run, [note('news')]);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      stopOther();
      expect(woken).toBe(0);
    });
  });
}

function keepingTokens(store: Get, other: Get): void {
  describe('tokens', () => {
    const token = (name: string, rest: Partial<Token> = {}): Token => ({
      name,
      hash: `hash of ${name}`,
      actor: { kind: 'person', name },
      scope: 'write',
      workspaces: ['w'],
      runs: null,
      madeAt: at(1),
      madeBy: { actor: { kind: 'person', name: 'grace' }, evidence: 'token:grace' },
      expiresAt: at(100),
      usedAt: null,
      revoked: null,
      ...rest,
    });

    const end = { at: at(50), actor: { kind: 'person', name: 'zed\u0000' }, evidence: 'none' } as const;
    const remove = (name: string) => store().presence.revokeToken(name, end);
    const clear = async () => {
      for (const { name } of await store().presence.listTokens()) await remove(name);
    };

    it('stores a token and finds it by its hash, from any connection', async () => {
      const ada = token('ada', { actor: { kind: 'agent', name: 'ada\u0000' }, scope: 'read', runs: ['a\u0000', 'b'] });
      expect(await store().presence.addToken(ada)).toBe(true);
      expect(await other().presence.findToken(ada.hash)).toEqual(ada);
      expect(await other().presence.findToken('another hash')).toBeNull();
      await remove('ada');
    });

    it('keeps a token that reaches everything, has no known maker and does not expire', async () => {
      const old = token('old', { workspaces: '*', madeBy: null, expiresAt: null });
      await store().presence.addToken(old);
      expect(await other().presence.findToken(old.hash)).toEqual(old);
      await remove('old');
    });

    it('keeps the first of two tokens with one name', async () => {
      await store().presence.addToken(token('bob'));
      expect(await other().presence.addToken(token('bob', { hash: 'another' }))).toBe(false);
      expect(await store().presence.findToken('another')).toBeNull();
      expect((await store().presence.findToken('hash of bob'))?.name).toBe('bob');
      await remove('bob');
    });

    it('lists them by name', async () => {
      for (const name of ['zoe', 'abe', 'Mia']) await store().presence.addToken(token(name));
      expect((await other().presence.listTokens()).map(({ name }) => name)).toEqual(['Mia', 'abe', 'zoe']);
      await clear();
      expect(await store().presence.listTokens()).toEqual([]);
    });

    it('notes the last use, and ignores an earlier one', async () => {
      await store().presence.addToken(token('eve'));
      await store().presence.useToken('eve', at(9));
      await other().presence.useToken('eve', at(5));
      await other().presence.useToken('unknown', at(5));
      expect((await store().presence.findToken('hash of eve'))?.usedAt).toBe(at(9));
      await remove('eve');
    });

    it('revokes a token at once, for every connection, and keeps the record of it', async () => {
      const ivy = token('ivy');
      await store().presence.addToken(ivy);
      expect(await other().presence.revokeToken('ivy', end)).toBe(true);
      expect(await store().presence.findToken(ivy.hash)).toBeNull();
      expect(await store().presence.listTokens()).toEqual([]);
      await store().presence.useToken('ivy', at(60));
      const known = await store().presence.listTokens({ revoked: true });
      expect(known.filter(({ name }) => name === 'ivy')).toEqual([{ ...ivy, revoked: end }]);
      expect(await store().presence.revokeToken('ivy', { ...end, at: at(51) })).toBe(false);
    });

    it('gives the name of a revoked token to a new one', async () => {
      const first = token('max', { hash: 'first max' });
      const second = token('max', { hash: 'second max', madeAt: at(60) });
      await store().presence.addToken(first);
      await remove('max');
      expect(await other().presence.addToken(second)).toBe(true);
      expect(await store().presence.findToken('second max')).toEqual(second);
      expect(await store().presence.findToken('first max')).toBeNull();
      const known = await other().presence.listTokens({ revoked: true });
      expect(known.filter(({ name }) => name === 'max')).toEqual([{ ...first, revoked: end }, second]);
      await remove('max');
    });
  });
}
