import { recruit } from '../../core/search/rank.ts';
import type { Projection, RowFilter, SearchFilter, StoredRow } from '../projection.ts';
import { copy, type Data, parse, type Run } from './data.ts';

export function openProjection({ runs }: Data): Projection {
  const list = (run: string): StoredRow[] => [...(runs.get(run)?.rows.values() ?? [])].map(parse<StoredRow>);
  return {
    async cached(run, format) {
      const cache = runs.get(run)?.cache ?? null;
      return cache === null || cache.format !== format
        ? null
        : { version: cache.version, hash: cache.hash, state: cache.state };
    },
    async recall(run, references) {
      const wanted = new Set(references);
      return list(run).filter(({ id, alias }) => wanted.has(id) || (alias !== null && wanted.has(alias)));
    },
    rows: async (run, filter) => pageOf(list(run), filter),
    async count(run, kind) {
      const counts: Record<string, number> = {};
      for (const row of list(run)) {
        if (row.kind === kind) counts[row.status] = (counts[row.status] ?? 0) + 1;
      }
      return counts;
    },
    async search(names, query, filter) {
      const wanted = [...new Set(names)].filter((name) => runs.has(name));
      const { rows, counts } = recruit(wanted.flatMap(list), query, filter, fitsSearch(filter));
      return { rows, counts, behind: wanted.filter((name) => isBehind(runs.get(name) as Run)) };
    },
    async replaceDerived(name, version, { head, rows, cache }) {
      const run = runs.get(name);
      if (run === undefined || run.head.version !== version) return false;
      const texts = rowTexts(rows);
      run.head = { ...run.head, ...copy(head) };
      run.rows = new Map(texts);
      run.cache = { ...cache, version, hash: run.head.hash };
      return true;
    },
  };
}

const isBehind = ({ cache, head }: Run): boolean => (cache?.version ?? 0) < head.version;

const fitsSearch =
  ({ kinds, statuses, since }: SearchFilter) =>
  ({ kind, status, at }: StoredRow): boolean =>
    (kinds?.includes(kind) ?? true) && (statuses?.includes(status) ?? true) && (since === undefined || at >= since);

/** Rows as text, by kind and id. */
export function rowTexts(rows: readonly StoredRow[]): [key: string, text: string][] {
  return rows.map((row) => [JSON.stringify([row.kind, row.id]), JSON.stringify(row)]);
}

/** Last changed first. Rows changed by one event stay together, even past the limit: the next page starts before it. */
function pageOf(rows: StoredRow[], { kind, status, tag, before, limit }: RowFilter): StoredRow[] {
  const found = rows
    .filter((row) => row.kind === kind)
    .filter((row) => status === undefined || row.status === status)
    .filter((row) => tag === undefined || row.tags.includes(tag))
    .filter((row) => before === undefined || row.version < before)
    .sort((a, b) => b.version - a.version || (a.id < b.id ? -1 : 1));
  if (limit <= 0) return [];
  const last = found[limit - 1];
  return last === undefined ? found : found.filter(({ version }) => version >= last.version);
}
