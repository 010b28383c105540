import type { Store } from '../store/store.ts';
import type { Engine } from './engine.ts';

/** One ear for all who wait in this process; see `Engine.news`. */
export function openNews(store: Store): Engine['news'] {
  const waiting = new Set<() => void>();
  let count = 0;
  let isListening = false;

  async function news(ms: number, seen = count): Promise<number> {
    if (!isListening) {
      isListening = true;
      await store.listen(() => {
        count += 1;
        for (const wake of waiting) wake();
      });
    }
    if (seen !== count) return count;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
      waiting.add(done);
    });
    return count;
  }
  return news;
}
