import { Fault } from '../core/fault.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch, Head, Journal } from '../store/journal.ts';
import type { Projection, StoredRow } from '../store/projection.ts';
import { continues } from '../store/refusal.ts';
import type { Store } from '../store/store.ts';
import { fitsFilter } from './pending-rows.ts';

/** A store whose appends wait in memory until all of them are appended at once. Reads show them as if they were recorded. */
export interface Page {
  store: Store;
  /** What was appended so far, for one append to the real store, which makes all the checks of the journal. */
  batches(): Batch[];
}

/** What waits for one run. */
interface Waiting {
  /** The version that the first batch continues; what others record after it is not seen. */
  base: number;
  batches: Batch[];
  events: Event[];
  rows: Map<string, StoredRow>;
}

export function openPage(store: Store): Page {
  const runs = new Map<string, Waiting>();
  return {
    store: {
      ...store,
      journal: pageJournal(store.journal, runs),
      projection: pageProjection(store.projection, runs),
      close: async () => undefined,
    },
    batches: () => [...runs.values()].flatMap(leanBatches),
  };
}

function pageJournal(journal: Journal, runs: Map<string, Waiting>): Journal {
  return {
    ...journal,
    async append(batches) {
      for (const batch of batches) {
        if (batch.erase) throw new Fault('internal', 'Text cannot be erased together with other commands.');
        const end = runs.get(batch.run)?.events.at(-1);
        if (end && !continues(batch, end))
          return { outcome: 'conflict', run: batch.run, version: end.version, reason: 'moved_on' };
      }
      for (const batch of batches) add(runs, batch);
      return { outcome: 'appended' };
    },
    async drop() {
      throw new Fault('internal', 'A run cannot be dropped together with other commands.');
    },
    async recorded(run, key) {
      const waiting = runs.get(run)?.events.filter((event) => event.key === key) ?? [];
      return waiting.length > 0 ? waiting : journal.recorded(run, key);
    },
    async read(run, after, limit) {
      const waiting = runs.get(run);
      if (!waiting) return journal.read(run, after, limit);
      const { base, events } = waiting;
      const stored = after < base ? await journal.read(run, after, Math.min(limit, base - after)) : [];
      const waited = events.slice(Math.max(0, after - base), Math.max(0, after - base) + limit - stored.length);
      return [...stored, ...waited];
    },
    async value(run, sha256) {
      for (const { values } of runs.get(run)?.batches.toReversed() ?? []) {
        if (values?.drop.includes(sha256)) return null;
        const waiting = values?.put.find((value) => value.sha256 === sha256);
        if (waiting) return waiting;
      }
      return journal.value(run, sha256);
    },
    async heads(filter) {
      const stored = await journal.heads({ ...filter, ...(filter.limit && { limit: filter.limit + runs.size }) });
      const changed: Head[] = [];
      for (const [run, waiting] of [...runs].reverse()) {
        const known = stored.find((head) => head.run === run) ?? (await journal.heads({ run }))[0];
        const head = headAfter(run, waiting, known);
        const { workspaces = [head.workspace], workspace = head.workspace, status = head.status } = filter;
        const isAsked = (filter.run ?? run) === run && (filter.runs?.includes(run) ?? true);
        if (
          isAsked &&
          [workspace].flat().includes(head.workspace) &&
          workspaces.includes(head.workspace) &&
          status === head.status
        )
          changed.push(head);
      }
      return [...changed, ...stored.filter((head) => !runs.has(head.run))].slice(0, filter.limit);
    },
  };
}

function add(runs: Map<string, Waiting>, batch: Batch): void {
  const fresh = (): Waiting => ({ base: batch.expected, batches: [], events: [], rows: new Map() });
  const waiting = runs.get(batch.run) ?? fresh();
  // The run that was changed last is the last one.
  runs.delete(batch.run);
  runs.set(batch.run, waiting);
  waiting.batches.push(batch);
  waiting.events.push(...batch.events);
  for (const row of batch.rows) waiting.rows.set(`${row.kind}:${row.id}`, row);
}

function headAfter(run: string, { batches, events }: Waiting, known: Head | undefined): Head {
  const columns = batches.findLast((batch) => batch.head)?.head ?? (known as Head);
  const [first, last] = [events[0] as Event, events.at(-1) as Event];
  const { version, hash } = last;
  return { ...columns, run, version, hash, openedAt: known?.openedAt ?? first.at, updatedAt: last.at };
}

function pageProjection(projection: Projection, runs: ReadonlyMap<string, Waiting>): Projection {
  const over = (run: string, stored: readonly StoredRow[], fits: (row: StoredRow) => boolean): StoredRow[] => {
    const rows = runs.get(run)?.rows;
    if (!rows) return [...stored];
    const newer = [...rows.values()].filter(fits).sort((a, b) => b.version - a.version || (a.id < b.id ? -1 : 1));
    return [...newer, ...stored.filter((row) => !rows.has(`${row.kind}:${row.id}`))];
  };
  return {
    ...projection,
    async recall(run, references) {
      const wanted = new Set(references);
      return over(
        run,
        await projection.recall(run, references),
        ({ id, alias }) => wanted.has(id) || (alias !== null && wanted.has(alias)),
      );
    },
    async rows(run, filter) {
      const waiting = runs.get(run)?.rows.size ?? 0;
      const stored = await projection.rows(run, { ...filter, limit: filter.limit + waiting });
      return over(run, stored, fitsFilter(filter)).slice(0, filter.limit);
    },
  };
}

/** Each row and the head are written once, with the last batch of the run, and only the newest state is saved. */
function leanBatches({ batches, rows }: Waiting): Batch[] {
  const head = batches.findLast((batch) => batch.head)?.head;
  const last = batches.length - 1;
  const saved = batches.findLastIndex((batch) => batch.cache);
  return batches.map(({ rows: _rows, head: _head, cache, ...batch }, index) => ({
    ...batch,
    rows: index === last ? [...rows.values()] : [],
    ...(index === last && head && { head }),
    ...(index === saved && cache && { cache }),
  }));
}
