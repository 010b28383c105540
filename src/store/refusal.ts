import { GENESIS } from '../core/journal/chain.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch, Refused } from './journal.ts';

/** Version and hash of an event; of no event yet: 0 and `GENESIS`. */
export interface Position {
  version: number;
  hash: string;
}

export const START: Position = { version: 0, hash: GENESIS };

/** What a store tells of a run while it holds the right to write. */
export interface Look {
  head(run: string): Position;
  /** The hash of the event with this version; null when there is none. */
  hashAt(run: string, version: number): string | null;
  recorded(run: string, key: string): Event[];
}

/** The first reason, in the order of the batches, why they cannot be recorded; null when there is none. */
export function findRefusal(batches: readonly Batch[], look: Look): Refused | null {
  const ends = new Map<string, Position>();
  for (const batch of batches) {
    const { run, events } = batch;
    const key = events[0]?.key ?? null;
    const known = key === null ? [] : look.recorded(run, key);
    if (known.length > 0) return { outcome: 'replayed', run, events: known };
    const end = ends.get(run) ?? look.head(run);
    if (!continues(batch, end)) {
      return { outcome: 'conflict', run, version: look.head(run).version, reason: reasonFor(batch, look) };
    }
    ends.set(run, endOf(batch, end));
  }
  return null;
}

/** Whether the batch continues this event. */
export function continues(batch: Batch, { version, hash }: Position): boolean {
  return batch.expected === version && (continuedHash(batch) ?? hash) === hash;
}

/** The hash of the event that the batch continues; null when the batch does not say. */
export function continuedHash({ events, after }: Batch): string | null {
  return events[0]?.previous ?? after ?? null;
}

/** Where the run is after the batch. */
export function endOf({ events }: Batch, before: Position): Position {
  return events.at(-1) ?? before;
}

function reasonFor(batch: Batch, { hashAt }: Look): 'moved_on' | 'other_history' {
  const hash = continuedHash(batch);
  if (hash === null) return 'moved_on';
  const there = batch.expected === 0 ? GENESIS : hashAt(batch.run, batch.expected);
  return there === hash ? 'moved_on' : 'other_history';
}
