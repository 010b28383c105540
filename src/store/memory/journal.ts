import type { Event } from '../../core/journal/event.ts';
import type { StoredValue } from '../../core/journal/value.ts';
import { badCursor } from '../fault.ts';
import type { Appended, Batch, Head, Journal, Tombstone, Within } from '../journal.ts';
import { findRefusal, START } from '../refusal.ts';
import { copy, type Data, parse, type Run } from './data.ts';
import { rowTexts } from './projection.ts';

export function openJournal(data: Data): Journal {
  const { runs, order } = data;
  const recorded = (run: string, key: string): Event[] =>
    (runs.get(run)?.events ?? []).map(parse<Event>).filter((event) => event.key === key);

  function append(batches: readonly Batch[]): Appended {
    const refused = findRefusal(batches, {
      head: (run) => runs.get(run)?.head ?? START,
      hashAt: (run, version) => {
        const text = runs.get(run)?.events[version - 1];
        return text === undefined ? null : parse<Event>(text).hash;
      },
      recorded,
    });
    if (refused) return refused;
    // Everything that can throw comes before the first change, so that all batches are recorded or none.
    const changes = batches.map(prepare);
    for (const change of changes) apply(data, change);
    return { outcome: 'appended' };
  }

  return {
    async append(batches) {
      const appended = append(batches);
      if (appended.outcome === 'appended') for (const wake of data.listeners) queueMicrotask(wake);
      return appended;
    },
    recorded: async (run, key) => recorded(run, key),
    read: async (run, after, limit) => (runs.get(run)?.events.slice(after, after + limit) ?? []).map(parse<Event>),
    async feed(cursor, limit, within = {}) {
      const from = cursor === null ? 0 : cursor === 'now' ? order.length : Number(cursor);
      if (!Number.isSafeInteger(from) || from < 0 || cursor === '') throw badCursor(String(cursor));
      const page = order.slice(from, from + limit);
      return {
        events: page
          .filter((one) => one !== null)
          .filter(({ run }) => isWithin(run.head, within))
          .map(({ run, index }) => parse<Event>(run.events[index] ?? '')),
        cursor: String(from + page.length),
      };
    },
    async heads(filter) {
      return [...runs.values()]
        .filter(({ head }) => isWithin(head, filter))
        .filter(({ head }) => filter.run === undefined || head.run === filter.run)
        .filter(({ head }) => filter.workspace === undefined || [filter.workspace].flat().includes(head.workspace))
        .filter(({ head }) => filter.status === undefined || head.status === filter.status)
        .sort((a, b) => b.touched - a.touched)
        .slice(0, filter.limit)
        .map(({ head }) => copy(head));
    },
    async value(run, sha256) {
      const value = runs.get(run)?.values.get(sha256);
      return value ? withOwnData(value) : null;
    },
    async drop(tombstone) {
      const isDropped = drop(data, copy(tombstone));
      if (isDropped) for (const wake of data.listeners) queueMicrotask(wake);
      return isDropped;
    },
    dropped: async (within) =>
      data.tombstones
        .filter((one) => isWithin(one, within))
        .sort((a, b) => (a.at < b.at ? 1 : -1))
        .map(copy<Tombstone>),
  };
}

function drop({ runs, order, beats, tombstones }: Data, tombstone: Tombstone): boolean {
  const { run: name, version, hash } = tombstone;
  const run = runs.get(name);
  if (run && (run.head.version !== version || run.head.hash !== hash)) return false;
  runs.delete(name);
  beats.delete(name);
  // Positions stay, so that no cursor points elsewhere.
  for (const [index, one] of order.entries()) if (one && one.run === run) order[index] = null;
  if (!tombstones.some((one) => one.run === name && one.hash === hash)) tombstones.push(tombstone);
  return true;
}

function isWithin({ run, workspace }: Pick<Head, 'run' | 'workspace'>, { runs, workspaces }: Within): boolean {
  return (runs?.includes(run) ?? true) && (workspaces?.includes(workspace) ?? true);
}

type Change = ReturnType<typeof prepare>;

/** The batch as text. */
function prepare(batch: Batch) {
  return {
    batch,
    head: batch.head && copy(batch.head),
    events: batch.events.map((event) => JSON.stringify(event)),
    rows: rowTexts(batch.rows),
    erase: (batch.erase ?? []).map(({ version, body }) => ({ version, body: copy(body) })),
    values: { put: (batch.values?.put ?? []).map(withOwnData), drop: batch.values?.drop ?? [] },
  };
}

function apply(data: Data, { batch, head, events, rows, erase, values }: Change): void {
  const { runs, order } = data;
  const run = runs.get(batch.run) ?? emptyRun(batch);
  const last = batch.events.at(-1);
  runs.set(batch.run, run);
  Object.assign(run.head, head, last && { version: last.version, hash: last.hash, updatedAt: last.at });
  for (const text of events) order.push({ run, index: run.events.push(text) - 1 });
  for (const { version, body } of erase) {
    const text = run.events[version - 1];
    if (text !== undefined) run.events[version - 1] = JSON.stringify({ ...parse<Event>(text), body });
  }
  if (batch.revives) data.tombstones = data.tombstones.filter((one) => one.run !== batch.run);
  run.touched = order.length;
  for (const [id, text] of rows) run.rows.set(id, text);
  for (const value of values.put) run.values.set(value.sha256, value);
  for (const sha256 of values.drop) run.values.delete(sha256);
  if (batch.cache !== undefined) run.cache = { ...batch.cache, version: run.head.version, hash: run.head.hash };
}

function withOwnData(value: StoredValue): StoredValue {
  return { ...value, data: value.data.slice() };
}

function emptyRun({ run, events }: Batch): Run {
  const openedAt = events[0]?.at ?? '';
  const position = { phase: null, plan: null, task: null, wave: null, status: '', progress: null };
  const head = {
    run,
    workspace: '',
    title: '',
    status: '',
    position,
    version: 0,
    hash: '',
    openedAt,
    updatedAt: openedAt,
  };
  return { head, touched: 0, events: [], rows: new Map(), cache: null, values: new Map() };
}
