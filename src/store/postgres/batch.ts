import type { Event } from '../../core/journal/event.ts';
import { type RowColumns, toRow } from '../columns.ts';
import type { Batch, ChangedValues } from '../journal.ts';
import type { StoredRow } from '../projection.ts';
import { continuedHash, continues, endOf } from '../refusal.ts';
import { toTextColumn } from '../text-column.ts';
import { termsOf } from './terms.ts';

/** The types of the columns of a list of values. */
export type Columns = Readonly<Record<string, string>>;

export const EVENT_TYPES = {
  version: 'integer',
  at: 'text',
  type: 'text',
  actor_kind: 'text',
  actor_name: 'text',
  evidence: 'text',
  session: 'text',
  key: 'text',
  basis: 'text',
  previous: 'text',
  hash: 'text',
  body_hash: 'text',
  body: 'text',
} as const;

export const ROW_TYPES = {
  kind: 'text',
  id: 'text',
  alias: 'text',
  status: 'text',
  version: 'integer',
  at: 'text',
  tags: 'text',
  doc: 'text',
  text: 'text',
  terms: 'text',
} as const;

/** All that one append writes to a run. */
export type Merged = Batch & { keys: readonly string[] };

/**
 * One statement cannot write the row of a run twice, so the batches of each run become one. Null when one of them does
 * not continue the one before it. Runs are locked in one order everywhere, so that two appends do not wait for each other.
 */
export function mergeByRun(batches: readonly Batch[]): Merged[] | null {
  const merged = new Map<string, Merged>();
  for (const batch of batches) {
    const keys = batch.events[0]?.key == null ? [] : [batch.events[0].key];
    const before = merged.get(batch.run);
    if (before && !continues(batch, endOf(before, { version: before.expected, hash: hashBetween(before, batch) })))
      return null;
    merged.set(batch.run, before ? merge(before, { ...batch, keys }) : { ...batch, keys });
  }
  return [...merged.values()].sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** The hash that a batch without events leaves the run at, as far as the two batches say it. */
function hashBetween(first: Batch, second: Batch): string {
  return continuedHash(first) ?? continuedHash(second) ?? '';
}

function merge(first: Merged, second: Merged): Merged {
  const { head = first.head, erase = [], events } = second;
  const after = first.after ?? second.after;
  const values = mergeValues(first.values, second.values);
  // State that was saved before the last event is of no use; later commands save it again.
  const cache = second.cache ?? (events.length === 0 ? first.cache : undefined);
  const bodies = new Map(erase.map(({ version, body }) => [version, body]));
  const erased = first.events.map((event) =>
    bodies.has(event.version) ? ({ ...event, body: bodies.get(event.version) } as Event) : event,
  );
  return {
    run: first.run,
    expected: first.expected,
    keys: [...first.keys, ...second.keys],
    events: [...erased, ...events],
    rows: [...first.rows, ...second.rows],
    erase: [...(first.erase ?? []), ...erase],
    ...(after !== undefined && first.events.length === 0 && { after }),
    ...(head && { head }),
    ...(cache && { cache }),
    ...(values && { values }),
    ...((first.revives || second.revives) && { revives: true }),
  };
}

/** One statement cannot write a value and delete it: what the later batch says counts. */
function mergeValues(first: ChangedValues | undefined, second: ChangedValues | undefined): ChangedValues | undefined {
  if (!first || !second) return first ?? second;
  const later = new Set([...second.put.map(({ sha256 }) => sha256), ...second.drop]);
  return {
    put: [...first.put.filter(({ sha256 }) => !later.has(sha256)), ...second.put],
    drop: [...first.drop.filter((sha256) => !later.has(sha256)), ...second.drop],
  };
}

/** One statement cannot write a row twice: of two versions of a row the later one counts. */
export function latestRows(
  stored: readonly StoredRow[],
): (RowColumns & { text: string | null; terms: string | null })[] {
  const latest = new Map(stored.map((row) => [JSON.stringify([row.kind, row.id]), row]));
  return [...latest.values()].map((row) => {
    const terms = termsOf(row);
    return {
      ...toRow(row),
      text: toTextColumn(row.text, row.doc),
      terms: terms === null ? null : JSON.stringify(terms),
    };
  });
}

/** The search terms of a row `r`. */
export const VECTOR =
  'CASE WHEN r.terms IS NOT NULL THEN array_to_tsvector(ARRAY(SELECT json_array_elements_text(r.terms::json))) END';
