import { STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { SearchQuery } from '../core/search/query.ts';
import { type Ranked, rank, recruit, successorOf, successorsFirst } from '../core/search/rank.ts';
import type { Batch } from '../store/journal.ts';
import type { Recruited, SearchFilter, StoredRow } from '../store/projection.ts';
import type { Store } from '../store/store.ts';
import type { Loaded, Loader } from './loader.ts';
import { pendingRows, storedRows } from './pending-rows.ts';

/** So many runs are saved at once. */
const SAVED_AT_ONCE = 20;

/** The rows of the runs that answer a query best, best first. All of `filter.limit` are ranked among each other. */
export async function searchRuns(
  store: Store,
  loader: Loader,
  runs: readonly string[],
  query: SearchQuery,
  filter: SearchFilter,
): Promise<Ranked<StoredRow>[]> {
  let found = await store.projection.search(runs, query, filter);
  const unsaved: StoredRow[] = [];
  for (let from = 0; from < found.behind.length; from += SAVED_AT_ONCE) {
    unsaved.push(...(await saveRows(store, loader, found.behind.slice(from, from + SAVED_AT_ONCE))));
  }
  if (found.behind.length > 0) found = over(unsaved, await store.projection.search(runs, query, filter), query, filter);
  const { rows, counts } = found;
  if (query.order === 'time') return rows.map((row) => ({ row, score: 0, matched: [] }));
  const ranked = rank(rows, query, counts);
  const successors = await findSuccessors(store, rows);
  return successorsFirst(ranked, (run, id) => successors.get(`${run}\n${id}`));
}

/** Saves the rows of runs whose last events are not in them yet; returns those that cannot be saved here and now. */
async function saveRows(store: Store, loader: Loader, runs: readonly string[]): Promise<StoredRow[]> {
  const loaded = new Map<string, Loaded>();
  for (const run of runs) loaded.set(run, await loader.refresh(run));
  const batches = [...loaded].map(([run, one]) => batchOf(run, one));
  try {
    const { outcome } = await store.journal.append(batches);
    if (outcome !== 'appended') return batches.flatMap(({ rows }) => rows);
  } catch {
    // A journal that may not be written can be searched.
    return batches.flatMap(({ rows }) => rows);
  }
  for (const [run, one] of loaded) loader.remember(run, { ...one, savedVersion: one.state.version, pending: [] });
  return [];
}

function batchOf(run: string, { state, hash, pending }: Loaded): Batch {
  return {
    run,
    expected: state.version,
    events: [],
    after: hash,
    rows: storedRows(run, pendingRows(pending).values()),
    cache: { format: STATE_FORMAT, state: serializeState(state) },
  };
}

/** What was found, with rows that are not saved in place of their older versions. */
function over(unsaved: readonly StoredRow[], found: Recruited, query: SearchQuery, filter: SearchFilter): Recruited {
  if (unsaved.length === 0) return found;
  const key = ({ run, kind, id }: StoredRow): string => `${run}\n${kind}\n${id}`;
  const replaced = new Set(unsaved.map(key));
  const { kinds, statuses, since } = filter;
  const newer = recruit(unsaved, query, filter, ({ kind, status, at }) =>
    Boolean((kinds?.includes(kind) ?? true) && (statuses?.includes(status) ?? true) && at >= (since ?? '')),
  );
  const older = found.rows.filter((row) => !replaced.has(key(row)));
  const having = found.counts.having.map((count, index) => Math.max(count, newer.counts.having[index] ?? 0));
  return { ...found, rows: [...newer.rows, ...older], counts: { rows: found.counts.rows, having } };
}

const MOST_HOPS = 50;

/** The decisions that took the place of found ones, and theirs. */
async function findSuccessors(store: Store, rows: readonly StoredRow[]): Promise<Map<string, StoredRow>> {
  const known = new Map(rows.filter((row) => row.kind === 'decision').map((row) => [`${row.run}\n${row.id}`, row]));
  let open = [...known.values()];
  for (let hops = 0; open.length > 0 && hops < MOST_HOPS; hops++) {
    const wanted = new Map<string, Set<string>>();
    for (const row of open) {
      const next = successorOf(row);
      if (next === null || known.has(`${row.run}\n${next}`)) continue;
      wanted.set(row.run, (wanted.get(row.run) ?? new Set()).add(next));
    }
    open = [];
    for (const [run, ids] of wanted) {
      const found = (await store.projection.recall(run, [...ids])).filter((row) => row.kind === 'decision');
      for (const row of found) known.set(`${run}\n${row.id}`, row);
      open.push(...found);
    }
  }
  return known;
}
