import type { Event } from '../core/journal/event.ts';
import type { Journal } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { type EventRange, eventPages } from './event-pages.ts';

/** The recorded events and what is known of each run without folding them. */
export interface JournalReader extends Pick<Journal, 'feed' | 'heads' | 'value' | 'dropped'> {
  /** Whether a command with this idempotency key was recorded. */
  hasRecorded(run: string, key: string): Promise<boolean>;
  /** The event with this version; null when there is none. */
  event(run: string, version: number): Promise<Event | null>;
  /** The events of a run in version order, a page at a time. */
  eventPages(run: string, range?: EventRange): AsyncGenerator<Event[]>;
  /**
   * Waits until something was recorded since `seen`, at most so long, and returns what to pass as `seen` next time.
   * Changes between two calls are not lost, but a hint may be: a reader that must miss nothing looks after every wait.
   */
  waitForEvents(ms: number, seen?: number): Promise<number>;
}

export function createJournalReader({ journal, presence }: Store): JournalReader {
  let opened: JournalReader['waitForEvents'] | undefined;
  return {
    feed: (cursor, limit, within) => journal.feed(cursor, limit, within),
    heads: (filter) => journal.heads(filter),
    value: (run, sha256) => journal.value(run, sha256),
    dropped: (within) => journal.dropped(within),
    hasRecorded: async (run, key) => (await journal.recorded(run, key)).length > 0,
    async event(run, version) {
      const [event] = await journal.read(run, version - 1, 1);
      return event?.version === version ? event : null;
    },
    eventPages: (run, range) => eventPages(journal, run, range),
    async waitForEvents(ms, seen) {
      if (!opened) {
        const { openWait } = await import('./wait-for-events.ts');
        opened ??= openWait(presence);
      }
      return opened(ms, seen);
    },
  };
}
