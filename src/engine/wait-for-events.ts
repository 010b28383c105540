import type { Presence } from '../store/presence.ts';

/** One listener for all waits of this process; see `JournalReader.waitForEvents`. */
export function openWait(presence: Presence): (ms: number, seen?: number) => Promise<number> {
  const waiting = new Set<() => void>();
  let count = 0;
  let isListening = false;

  return async (ms, seen = count) => {
    if (!isListening) {
      isListening = true;
      await presence.listen(() => {
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
  };
}
