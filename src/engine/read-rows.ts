import type { RowFilter, StoredRow } from '../store/projection.ts';
import { lastTouchedFirst } from '../store/search-terms.ts';
import type { Store } from '../store/store.ts';
import type { Loader } from './loader.ts';
import { fitsFilter, fitsWords, overlay, waitingRows } from './pending-rows.ts';

/** The rows of runs. */
export interface RowReader {
  /** Rows by id or alias, as they are after the last event. */
  recall(run: string, references: readonly string[]): Promise<StoredRow[]>;
  /** Rows of a kind, last changed first, as they are after the last event. */
  rows(run: string, filter: RowFilter): Promise<StoredRow[]>;
  /** As `rows`, without loading the run: for kinds that are saved with their event, such as `session`. */
  savedRows(run: string, filter: RowFilter): Promise<StoredRow[]>;
  /** The number of saved rows of a kind, by status. */
  count(run: string, kind: string): Promise<Record<string, number>>;
  /** Rows whose text has all the words, last changed first. */
  search(runs: readonly string[], words: readonly string[], limit: number): Promise<StoredRow[]>;
}

export function createRowReader({ projection }: Store, { refresh }: Loader): RowReader {
  return {
    async recall(run, references) {
      const { pending } = await refresh(run);
      const wanted = new Set(references);
      return overlay(
        run,
        pending,
        await projection.recall(run, references),
        (row) => wanted.has(row.id) || (row.alias !== null && wanted.has(row.alias)),
      );
    },
    async rows(run, filter) {
      const { pending } = await refresh(run);
      const stored = await projection.rows(run, { ...filter, limit: filter.limit + waitingRows(pending) });
      return overlay(run, pending, stored, fitsFilter(filter)).slice(0, filter.limit);
    },
    savedRows: (run, filter) => projection.rows(run, filter),
    count: (run, kind) => projection.count(run, kind),
    async search(runs, words, limit) {
      const found = await Promise.all(
        runs.map(async (run) => {
          const { pending } = await refresh(run);
          const stored = await projection.search([run], words, limit + waitingRows(pending));
          return overlay(run, pending, stored, fitsWords(words));
        }),
      );
      return found.flat().sort(lastTouchedFirst).slice(0, limit);
    },
  };
}
