import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from './store.ts';
import { dropSuite } from './suite/drop.ts';
import { journalSuite } from './suite/journal.ts';
import { presenceSuite } from './suite/presence.ts';
import { projectionSuite } from './suite/projection.ts';
import { valuesSuite } from './suite/values.ts';
import { withinSuite } from './suite/within.ts';

/**
 * What every store must do, on any database: the pages `store.ts`, `journal.ts`, `projection.ts` and `presence.ts`. No
 * test can be left out. `open` returns another connection to the same database each time.
 */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    let opened: [Store, Store];
    beforeAll(async () => {
      opened = [await open(), await open()];
    });
    afterAll(async () => {
      for (const store of opened) await store.close();
    });
    const store = (): Store => opened[0];
    const other = (): Store => opened[1];

    journalSuite(store, other);
    projectionSuite(store);
    presenceSuite(store, other);
    valuesSuite(store, other);
    dropSuite(store, other);
    withinSuite(store, other);

    it('says which database it is, the same on every connection', async () => {
      const before = await store().identity();
      expect(before).toEqual({
        id: expect.stringMatching(/^s-[0-9a-f]{12}$/),
        epoch: expect.stringMatching(/^e-[0-9a-f]{12}$/),
      });
      expect(await other().identity()).toEqual(before);
      const after = { id: 's-00000000000a', epoch: 'e-00000000000b' };
      await other().identify(after);
      expect(await store().identity()).toEqual(after);
      await store().identify(before);
    });

    it('reports where it is and no problems', async () => {
      expect(store().place).not.toBe('');
      expect(await store().inspect()).toEqual([]);
    });
  });
}
