import type { Event } from '../core/journal/event.ts';
import type { Batch, Refused } from './journal.ts';

/**
 * The first reason, in the order of the batches, why they cannot be recorded; null when there is none. For stores that
 * hold the right to write while they look.
 */
export function findRefusal(
  batches: readonly Batch[],
  look: { version(run: string): number; recorded(run: string, key: string): Event[] },
): Refused | null {
  const ends = new Map<string, number>();
  for (const { run, expected, events } of batches) {
    const key = events[0]?.key ?? null;
    const known = key === null ? [] : look.recorded(run, key);
    if (known.length > 0) return { outcome: 'replayed', run, events: known };
    const version = look.version(run);
    if ((ends.get(run) ?? version) !== expected) return { outcome: 'conflict', run, version };
    ends.set(run, events.at(-1)?.version ?? expected);
  }
  return null;
}
