import { describe, expect, it } from 'vitest';
import type { Token } from '../store.ts';
import { at, type Get, newRun, note, put } from './fixture.ts';

/** What a store keeps and does beside the journal. */
export function listening(store: Get, other: Get): void {
  describe('listen', () => {
    it('is told of what was recorded, here and by others', async () => {
      for (const writer of [store, other]) {
        let isHeard = false;
        const stop = await store().listen(() => {
          isHeard = true;
        });
        const run = newRun();
        // A hint may be lost while the ear is being opened: something more is recorded until one comes.
        while (!isHeard) {
          await put(writer(), run, [note('news')]);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        stop();
      }
    });

    it('tells nothing after it was stopped, and other listeners still', async () => {
      let woken = 0;
      let isHeard = false;
      const stopOther = await store().listen(() => {
        isHeard = true;
      });
      const stop = await store().listen(() => {
        woken += 1;
      });
      stop();
      const run = newRun();
      while (!isHeard) {
        await put(store(), run, [note('news')]);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      stopOther();
      expect(woken).toBe(0);
    });
  });
}

export function lettingIn(store: Get, other: Get): void {
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

    it('keeps a token and finds it by its hash, from any connection', async () => {
      const ada = token('ada', { actor: { kind: 'agent', name: 'ada\u0000' }, scope: 'read' });
      expect(await (await store().tokens()).add(ada)).toBe(true);
      expect(await (await other().tokens()).find(ada.hash)).toEqual(ada);
      expect(await (await other().tokens()).find('another hash')).toBeNull();
      await (await store().tokens()).remove('ada');
    });

    it('keeps the first of two with one name', async () => {
      await (await store().tokens()).add(token('bob'));
      expect(await (await other().tokens()).add(token('bob', { hash: 'another' }))).toBe(false);
      expect(await (await store().tokens()).find('another')).toBeNull();
      expect((await (await store().tokens()).find('hash of bob'))?.name).toBe('bob');
      await (await store().tokens()).remove('bob');
    });

    it('lists them by name', async () => {
      for (const name of ['zoe', 'abe', 'Mia']) await (await store().tokens()).add(token(name));
      expect((await (await other().tokens()).list()).map(({ name }) => name)).toEqual(['Mia', 'abe', 'zoe']);
      for (const name of ['zoe', 'abe', 'Mia']) await (await store().tokens()).remove(name);
      expect(await (await store().tokens()).list()).toEqual([]);
    });

    it('notes the last use, and only a later one', async () => {
      await (await store().tokens()).add(token('eve'));
      await (await store().tokens()).use('eve', at(9));
      await (await other().tokens()).use('eve', at(5));
      await (await other().tokens()).use('nobody', at(5));
      expect((await (await store().tokens()).find('hash of eve'))?.usedAt).toBe(at(9));
      await (await store().tokens()).remove('eve');
    });

    it('forgets a token at once, for every connection', async () => {
      await (await store().tokens()).add(token('ivy'));
      expect(await (await other().tokens()).remove('ivy')).toBe(true);
      expect(await (await store().tokens()).find('hash of ivy')).toBeNull();
      expect(await (await store().tokens()).remove('ivy')).toBe(false);
    });
  });
}
