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
      madeAt: at(1),
      usedAt: null,
      ...rest,
    });

    it('stores a token and finds it by its hash, from any connection', async () => {
      const ada = token('ada', { actor: { kind: 'agent', name: 'ada\u0000' }, scope: 'read' });
      expect(await store().presence.addToken(ada)).toBe(true);
      expect(await other().presence.findToken(ada.hash)).toEqual(ada);
      expect(await other().presence.findToken('another hash')).toBeNull();
      await store().presence.removeToken('ada');
    });

    it('keeps the first of two tokens with one name', async () => {
      await store().presence.addToken(token('bob'));
      expect(await other().presence.addToken(token('bob', { hash: 'another' }))).toBe(false);
      expect(await store().presence.findToken('another')).toBeNull();
      expect((await store().presence.findToken('hash of bob'))?.name).toBe('bob');
      await store().presence.removeToken('bob');
    });

    it('lists them by name', async () => {
      for (const name of ['zoe', 'abe', 'Mia']) await store().presence.addToken(token(name));
      expect((await other().presence.listTokens()).map(({ name }) => name)).toEqual(['Mia', 'abe', 'zoe']);
      for (const name of ['zoe', 'abe', 'Mia']) await store().presence.removeToken(name);
      expect(await store().presence.listTokens()).toEqual([]);
    });

    it('notes the last use, and ignores an earlier one', async () => {
      await store().presence.addToken(token('eve'));
      await store().presence.useToken('eve', at(9));
      await other().presence.useToken('eve', at(5));
      await other().presence.useToken('unknown', at(5));
      expect((await store().presence.findToken('hash of eve'))?.usedAt).toBe(at(9));
      await store().presence.removeToken('eve');
    });

    it('removes a token at once, for every connection', async () => {
      await store().presence.addToken(token('ivy'));
      expect(await other().presence.removeToken('ivy')).toBe(true);
      expect(await store().presence.findToken('hash of ivy')).toBeNull();
      expect(await store().presence.removeToken('ivy')).toBe(false);
    });
  });
}
