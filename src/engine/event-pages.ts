import type { Event } from '../core/journal/event.ts';
import type { Journal } from '../store/journal.ts';

export interface EventRange {
  /** Only events after this version. */
  after?: number;
  /** Only events up to this version. */
  upTo?: number;
  /** At most so many events. */
  limit?: number;
}

const PAGE = 2000;

/**
 * The events of a run in version order, a page at a time. It continues from the last version it saw, not by counting:
 * events may be missing from a damaged journal. Between two pages other work of the process gets its turn.
 */
export async function* eventPages(journal: Journal, run: string, range: EventRange = {}): AsyncGenerator<Event[]> {
  const { after = 0, upTo = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = range;
  let last = after;
  for (let left = limit; last < upTo && left > 0; ) {
    if (last > after) await new Promise((resolve) => setImmediate(resolve));
    const size = Math.min(PAGE, upTo - last, left);
    const read = await journal.read(run, last, size);
    const page = read.filter((event) => event.version <= upTo);
    const end = page.at(-1);
    if (end) yield page;
    if (!end || page.length < size) return;
    last = end.version;
    left -= page.length;
  }
}
