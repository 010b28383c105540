import { Fault } from '../core/fault.ts';
import type { Store } from '../store/store.ts';
import { openPage } from './page.ts';

/** Each try does all of the work again, so that few are made; the caller can divide the work. */
const MAX_ATTEMPTS = 6;

/** Appends at once what `work` appends to the store it is given; again from the start while others are faster. */
export async function appendTogether<T>(
  { store, random }: { store: Store; random: () => number },
  work: (held: Store) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const page = openPage(store);
    const result = await work(page.store);
    const batches = page.batches();
    if (batches.length === 0) return result;
    const { outcome } = await store.journal.append(batches);
    // `replayed`: another process recorded one of the commands; when it is done again, it is found.
    if (outcome === 'appended') return result;
    await new Promise((resolve) => setTimeout(resolve, random() * 10 * 2 ** attempt));
  }
  throw new Fault('conflict', 'The runs are being changed by others without pause; nothing was recorded.', {
    hints: ['Try again.'],
    data: { attempts: MAX_ATTEMPTS },
  });
}
