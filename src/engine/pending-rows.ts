import { evolve } from '../core/fold/evolve.ts';
import { type ProjectedRow, rowsOf } from '../core/fold/row.ts';
import type { State } from '../core/fold/state.ts';
import type { RowKind, Rows, Touch } from '../core/fold/touch.ts';
import { namesIn, valueNames } from '../core/journal/command.ts';
import type { Event } from '../core/journal/event.ts';
import { valueId } from '../core/names.ts';
import type { RowFilter, StoredRow } from '../store/projection.ts';
import type { Store } from '../store/store.ts';

/**
 * Changes to rows that are not yet in the store. Rows of kinds that change with nearly every event are saved together
 * with folded state, some events at a time; until then they take precedence over the stored ones.
 */
export type Pending = readonly Touched[];

interface Touched {
  event: Event;
  touches: readonly Touch[];
}

/** The rows that are not saved yet, by kind and id. */
export function pendingRows(pending: Pending): Map<string, ProjectedRow> {
  return new Map(rowsOf(pending).map((row) => [`${row.kind}:${row.id}`, row]));
}

export function storedRows(run: string, rows: Iterable<ProjectedRow>): StoredRow[] {
  return Array.from(rows, (row) => ({ run, ...row }));
}

/** An upper bound of the number of rows that are not saved yet. */
export const waitingRows = (pending: Pending): number => pending.reduce((sum, { touches }) => sum + touches.length, 0);

/** Kinds whose rows may be saved later. The others are saved with their event, for the views that users query with SQL. */
const mayWait: ReadonlySet<string> = new Set<RowKind>(['step', 'file', 'effect', 'note', 'usage']);

export const rowMayWait = (row: ProjectedRow): boolean => mayWait.has(row.kind);

export const mustSave = (touches: readonly Touch[]): boolean => touches.some((touch) => !mayWait.has(touch.kind));

/** References to rows that an event changes although folded state may no longer hold them. */
export function referencesIn(events: readonly Pick<Event, 'type' | 'body'>[], state: State): string[] {
  const found = (events as readonly Event[]).flatMap((event) => {
    switch (event.type) {
      case 'session.started':
        return event.body.continues ? [event.body.continues] : [];
      case 'session.moved':
        return [event.body.session];
      case 'note.approved':
        return [event.body.id];
      case 'decision.made':
        return event.body.supersedes ? [event.body.supersedes] : [];
      case 'value.put':
        return event.body.entries.map(({ key }) => valueId(key));
      case 'value.removed':
        return valueNames(event.body);
      case 'account.read':
        return namesIn(event.body);
      case 'decision.retracted':
      case 'item.settled':
        return [event.body.id];
      case 'worklog.compacted':
        return event.body.entries;
      default:
        return [];
    }
  });
  return found.filter((id) => !state.sessions.has(id) && !state.items.has(id));
}

/**
 * The rows of a run while events are folded: the pending ones, those the events change, and stored ones that were fetched
 * before, since rules cannot wait for the store. The last change is found first.
 */
export function openRows(store: Store, run: string, before: Pending) {
  const pending = [...before];
  const fetched: StoredRow[] = [];
  const matches = (id: string, row: object | null, reference: string): boolean =>
    id === reference || (row !== null && 'alias' in row && row.alias === reference);
  const recall = <K extends RowKind>(kind: K, reference: string): Rows[K] | null => {
    for (const { touches } of pending.toReversed()) {
      const touch = touches.findLast((one) => one.kind === kind && matches(one.id, one.after, reference));
      if (touch) return touch.after as Rows[K] | null;
    }
    const row = fetched.find((one) => one.kind === kind && matches(one.id, one, reference));
    return row ? (row.doc as Rows[K]) : null;
  };
  const isKnown = (reference: string): boolean =>
    fetched.some((row) => matches(row.id, row, reference)) ||
    pending.some(({ touches }) => touches.some((touch) => matches(touch.id, touch.after, reference)));
  return {
    recall,
    pending: (): Pending => pending,
    async fetch(references: readonly string[]): Promise<void> {
      const missing = references.filter((reference) => !isKnown(reference));
      if (missing.length > 0) fetched.push(...(await store.projection.recall(run, missing)));
    },
    /** Folds one event and keeps its changes. */
    fold(state: State, event: Event): Touch[] {
      const touches = evolve(state, event, recall);
      pending.push({ event, touches });
      return touches;
    },
  };
}

export type OpenRows = ReturnType<typeof openRows>;

/** Stored rows with the pending ones in place of their older versions. */
export function overlay(
  run: string,
  pending: Pending,
  stored: readonly StoredRow[],
  fits: (row: ProjectedRow) => boolean,
): StoredRow[] {
  const rows = pendingRows(pending);
  const newer = storedRows(run, [...rows.values()].filter(fits));
  const older = stored.filter((row) => !rows.has(`${row.kind}:${row.id}`));
  return [...newer.sort((a, b) => b.version - a.version || (a.id < b.id ? -1 : 1)), ...older];
}

export function fitsFilter({ kind, status, tag, before }: RowFilter): (row: ProjectedRow) => boolean {
  return (row) =>
    row.kind === kind &&
    (status === undefined || row.status === status) &&
    (tag === undefined || row.tags.includes(tag)) &&
    (before === undefined || row.version < before);
}
