import type { Event } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { type RecordRow, recordsOf } from '../core/record.ts';
import type { State } from '../core/state.ts';
import type { RowKind, Rows, Touch } from '../core/touch.ts';
import type { RecordFilter, Store, StoredRecord } from '../store/store.ts';
import { hasWords, parseWords } from '../store/words.ts';

/**
 * Rows that are not yet in the store. Those of kinds that change with nearly every event are saved together with folded
 * state, some events at a time; until then they are made again from the events since, and laid over what the store has.
 */
export type Pending = ReadonlyMap<string, RecordRow>;

/** Kinds whose rows may wait. The others are saved with their event: other people's SQL looks at them. */
const mayWait: ReadonlySet<string> = new Set<RowKind>(['step', 'file', 'effect', 'note', 'usage']);

export const rowMayWait = (row: RecordRow): boolean => mayWait.has(row.kind);

export const mustSave = (touches: readonly Touch[]): boolean => touches.some((touch) => !mayWait.has(touch.kind));

/** Rows that an event changes although folded state may no longer hold them. */
export function referencesIn(events: readonly Pick<Event, 'type' | 'body'>[], state: State): string[] {
  const found = (events as readonly Event[]).flatMap((event) => {
    switch (event.type) {
      case 'session.started':
        return event.body.continues ? [event.body.continues] : [];
      case 'decision.made':
        return event.body.supersedes ? [event.body.supersedes] : [];
      case 'decision.retracted':
      case 'item.settled':
        return [event.body.id];
      default:
        return [];
    }
  });
  return found.filter((id) => !state.sessions.has(id) && !state.items.has(id));
}

/**
 * The rows of a run while events are folded: those that wait, those the events touch, and those of the store that were
 * fetched ahead, since the rules ask without waiting. What was touched last is found first.
 */
export function openRows(store: Store, run: string, pending: Pending) {
  const touched = new Map(pending);
  const fetched: StoredRecord[] = [];
  const matches = (row: RecordRow, reference: string): boolean => row.id === reference || row.alias === reference;
  const all = (): RecordRow[] => [...touched.values(), ...fetched];
  const recall = <K extends RowKind>(kind: K, reference: string): Rows[K] | null => {
    const row = all().find((one) => one.kind === kind && matches(one, reference));
    return row ? (row.doc as Rows[K]) : null;
  };
  return {
    all,
    recall,
    pending: (): Pending => touched,
    async fetch(references: readonly string[]): Promise<void> {
      const missing = references.filter((reference) => !all().some((row) => matches(row, reference)));
      if (missing.length > 0) fetched.push(...(await store.recall(run, missing)));
    },
    /** Folds one event and keeps the rows it touched. */
    fold(state: State, event: Event): Touch[] {
      const touches = evolve(state, event, recall);
      for (const row of recordsOf([{ event, touches }])) {
        const key = `${row.kind}:${row.id}`;
        touched.delete(key);
        touched.set(key, row);
      }
      return touches;
    },
  };
}

export type OpenRows = ReturnType<typeof openRows>;

/** What the store finds, with what waits laid over it: a row that waits is newer than any that is stored. */
export function overlay(
  run: string,
  pending: Pending,
  stored: readonly StoredRecord[],
  fits: (row: RecordRow) => boolean,
): StoredRecord[] {
  const newer = [...pending.values()].filter(fits).map((row) => ({ run, ...row }));
  const older = stored.filter((record) => !pending.has(`${record.kind}:${record.id}`));
  return [...newer.sort((a, b) => b.version - a.version || (a.id < b.id ? -1 : 1)), ...older];
}

export function fitsFilter({ kind, status, tag, before }: RecordFilter): (row: RecordRow) => boolean {
  return (row) =>
    row.kind === kind &&
    (status === undefined || row.status === status) &&
    (tag === undefined || row.tags.includes(tag)) &&
    (before === undefined || row.version < before);
}

export function fitsWords(words: readonly string[]): (row: RecordRow) => boolean {
  const query = parseWords(words);
  return (row) => query !== null && row.text !== null && hasWords(row.text, query);
}
