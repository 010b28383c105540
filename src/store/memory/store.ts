import type { Event } from '../../core/journal/event.ts';
import { badCursor } from '../columns.ts';
import { hasWords, lastTouchedFirst, parseWords } from '../search-terms.ts';
import type {
  Appended,
  Batch,
  Cached,
  Derived,
  Head,
  HeadColumns,
  RowFilter,
  Store,
  StoredRow,
  Token,
} from '../store.ts';

interface Run {
  head: Head;
  touched: number;
  events: string[];
  records: Map<string, string>;
  cache: (Cached & { format: number }) | null;
}

/** A journal that ends with the process: for tests, and for trying things out. Everything is kept as JSON text, so that nothing handed in or out is shared with the caller. */
export function openMemoryStore(): Store {
  const runs = new Map<string, Run>();
  const tokens = new Map<string, Token>();
  const listeners = new Set<() => void>();
  const beats = new Map<string, Map<string, string>>();
  /** Every event in the order of recording, by its place in its run. */
  const order: { run: Run; index: number }[] = [];

  function append(batch: Batch): Appended {
    const known = runs.get(batch.run);
    const key = batch.events[0]?.key ?? null;
    if (known !== undefined && key !== null) {
      const events = known.events.map(parse<Event>).filter((event) => event.key === key);
      if (events.length > 0) return { outcome: 'replayed', events };
    }
    const version = known?.head.version ?? 0;
    if (version !== batch.expected) return { outcome: 'conflict', version };
    // Everything that can throw is done before the first change, so that a batch is recorded whole or not at all.
    const recorded = batch.events.map((event) => JSON.stringify(event));
    const records = batch.rows.map((record) => [recordKey(record), JSON.stringify(record)] as const);
    const last = batch.events.at(-1);
    const run = known ?? emptyRun(batch);
    const head = { ...run.head, ...(batch.head && copy(batch.head)) };
    const erased = (batch.erase ?? []).flatMap(({ version: at, body }) => {
      const text = run.events[at - 1];
      return text === undefined ? [] : [{ at, text: JSON.stringify({ ...parse<Event>(text), body }) }];
    });

    runs.set(batch.run, run);
    run.head = head;
    for (const text of recorded) order.push({ run, index: run.events.push(text) - 1 });
    for (const { at, text } of erased) run.events[at - 1] = text;
    run.touched = order.length;
    if (last !== undefined) Object.assign(run.head, { version: last.version, hash: last.hash, updatedAt: last.at });
    for (const [id, text] of records) run.records.set(id, text);
    if (batch.cache !== undefined) run.cache = { ...batch.cache, version: run.head.version, hash: run.head.hash };
    return { outcome: 'appended' };
  }

  function list(run: string): StoredRow[] {
    return [...(runs.get(run)?.records.values() ?? [])].map(parse<StoredRow>);
  }

  function replaceDerived(name: string, version: number, derived: Derived): boolean {
    const run = runs.get(name);
    if (run === undefined || run.head.version !== version) return false;
    const records = derived.rows.map((record) => [recordKey(record), JSON.stringify(record)] as const);
    run.head = { ...run.head, ...copy(derived.head) };
    run.records = new Map(records);
    run.cache = { ...derived.cache, version, hash: run.head.hash };
    return true;
  }

  return {
    place: 'memory',
    async append(batch) {
      const appended = append(batch);
      if (appended.outcome === 'appended') for (const wake of listeners) queueMicrotask(wake);
      return appended;
    },
    async recorded(run, key) {
      const events = (runs.get(run)?.events ?? []).map(parse<Event>);
      return events.filter((event) => event.key === key);
    },
    read: async (run, after, limit) => (runs.get(run)?.events.slice(after, after + limit) ?? []).map(parse<Event>),
    async feed(cursor, limit) {
      const from = cursor === null ? 0 : cursor === 'now' ? order.length : Number(cursor);
      if (!Number.isSafeInteger(from) || from < 0 || cursor === '') throw badCursor(String(cursor));
      const places = order.slice(from, from + limit);
      return {
        events: places.map(({ run, index }) => parse<Event>(run.events[index] ?? '')),
        cursor: String(from + places.length),
      };
    },
    async heads(filter) {
      return [...runs.values()]
        .filter(({ head }) => filter.run === undefined || head.run === filter.run)
        .filter(({ head }) => filter.workspace === undefined || head.workspace === filter.workspace)
        .filter(({ head }) => filter.status === undefined || head.status === filter.status)
        .sort((a, b) => b.touched - a.touched)
        .slice(0, filter.limit)
        .map(({ head }) => copy(head));
    },
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
    rows: async (run, filter) => page(list(run), filter),
    async count(run, kind) {
      const counts: Record<string, number> = {};
      for (const record of list(run)) {
        if (record.kind === kind) counts[record.status] = (counts[record.status] ?? 0) + 1;
      }
      return counts;
    },
    async search(names, words, limit) {
      const query = parseWords(words);
      if (query === null) return [];
      return [...new Set(names)]
        .flatMap(list)
        .filter(({ text }) => text !== null && hasWords(text, query))
        .sort(lastTouchedFirst)
        .slice(0, limit);
    },
    async beat(run, session, at) {
      const known = beats.get(run) ?? new Map<string, string>();
      if (at > (known.get(session) ?? '')) beats.set(run, known.set(session, at));
    },
    beats: async (run) => new Map(beats.get(run)),
    async listen(wake) {
      // Each listener is one, even if the same function listens twice.
      const listener = () => wake();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tokens: async () => ({
      async add(token) {
        if (tokens.has(token.name)) return false;
        tokens.set(token.name, copy(token));
        return true;
      },
      find: async (hash) => copy([...tokens.values()].find((token) => token.hash === hash) ?? null),
      list: async () => [...tokens.values()].map(copy<Token>).sort((a, b) => (a.name < b.name ? -1 : 1)),
      async use(name, at) {
        const token = tokens.get(name);
        if (token && at > (token.usedAt ?? '')) token.usedAt = at;
      },
      remove: async (name) => tokens.delete(name),
    }),
    replaceDerived: async (run, version, derived) => replaceDerived(run, version, derived),
    inspect: async () => [],
    close: async () => listeners.clear(),
  };
}

function emptyRun(batch: Batch): Run {
  const openedAt = batch.events[0]?.at ?? '';
  const head = {
    ...copy<HeadColumns>(batch.head as HeadColumns),
    run: batch.run,
    version: 0,
    hash: '',
    openedAt,
    updatedAt: openedAt,
  };
  return { head, touched: 0, events: [], records: new Map(), cache: null };
}

/** The last touched first. Records touched by one event stay together, even past the limit: the next page starts before it. */
function page(records: StoredRow[], { kind, status, tag, before, limit }: RowFilter): StoredRow[] {
  const found = records
    .filter((record) => record.kind === kind)
    .filter((record) => status === undefined || record.status === status)
    .filter((record) => tag === undefined || record.tags.includes(tag))
    .filter((record) => before === undefined || record.version < before)
    .sort((a, b) => b.version - a.version || (a.id < b.id ? -1 : 1));
  if (limit <= 0) return [];
  const last = found[limit - 1];
  return last === undefined ? found : found.filter(({ version }) => version >= last.version);
}

function recordKey({ kind, id }: StoredRow): string {
  return JSON.stringify([kind, id]);
}

function copy<T>(value: T): T {
  return parse<T>(JSON.stringify(value));
}

function parse<T>(text: string): T {
  return JSON.parse(text) as T;
}
