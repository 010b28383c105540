import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from './store.ts';
import { appending, erasing, feeding } from './suite/journal.ts';
import { lettingIn, listening } from './suite/presence.ts';
import { deriving, looking, searching } from './suite/projection.ts';

/**
 * What every store must do, whichever database it is on: the page `store.ts`, sentence by sentence. There is no way to
 * leave a test out. `open` gives another connection to one and the same database each time.
 */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    let store: Store;
    let other: Store;
    beforeAll(async () => {
      store = await open();
      other = await open();
    });
    afterAll(async () => {
      await store.close();
      await other.close();
    });

    appending(
      () => store,
      () => other,
    );
    feeding(
      () => store,
      () => other,
    );
    listening(
      () => store,
      () => other,
    );
    lettingIn(
      () => store,
      () => other,
    );
    looking(() => store);
    searching(() => store);
    deriving(() => store);
    erasing(
      () => store,
      () => other,
    );

    it('says where it is and finds itself well', async () => {
      expect(store.place).not.toBe('');
      expect(await store.inspect()).toEqual([]);
    });
  });
}
