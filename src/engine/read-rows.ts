import type { SearchQuery } from '../core/search/query.ts';
import type { Ranked } from '../core/search/rank.ts';
import type { RowFilter, SearchFilter, StoredRow } from '../store/projection.ts';
import type { Store } from '../store/store.ts';
import type { Loader } from './loader.ts';
import { fitsFilter, overlay, waitingRows } from './pending-rows.ts';

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
  /** The rows that answer a query best, best first; all of `filter.limit` are compared with each other. */
  search(runs: readonly string[], query: SearchQuery, filter: SearchFilter): Promise<Ranked<StoredRow>[]>;
}

export function createRowReader(store: Store, loader: Loader): RowReader {
  const { projection } = store;
  const { refresh } = loader;
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
    async search(runs, query, filter) {
      const { searchRuns } = await import('./search.ts');
      return searchRuns(store, loader, runs, query, filter);
    },
  };
}
