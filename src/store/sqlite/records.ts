import { fromRecordRow, parseColumn, RECORD_COLUMNS, type RecordRow, toColumn, toRecordRow } from '../row.ts';
import type { RecordFilter, StoredRecord } from '../store.ts';
import { fromTextColumn, toTextColumn } from '../text-column.ts';
import { hasFragments, hasWords, indexTerms, lastTouchedFirst, parseWords } from '../words.ts';
import type { Connection } from './connection.ts';
import { addToCount, parseTally, type Tally } from './tally.ts';

type Statements = Pick<Connection, 'statement'>;
type Row = RecordRow & { number: number; text: string | null };

const COLUMNS = `number, text, ${RECORD_COLUMNS}`;

/** Inside a write transaction. */
export function writeRecord({ statement }: Statements, record: StoredRecord, tally: Tally): void {
  const row = toRecordRow(record);
  const text = toTextColumn(record.text, record.doc);
  const old = statement(`SELECT ${COLUMNS} FROM records WHERE run = ? AND id = ? AND kind = ?`).get(
    row.run,
    row.id,
    row.kind,
  ) as Row | undefined;
  const { number } = statement(
    `INSERT INTO records (${RECORD_COLUMNS}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, id, kind) DO UPDATE SET alias = excluded.alias, status = excluded.status, version = excluded.version,
       at = excluded.at, tags = excluded.tags, doc = excluded.doc, text = excluded.text
     RETURNING number`,
  ).get(row.run, row.kind, row.id, row.alias, row.status, row.version, row.at, row.tags, row.doc, text) as {
    number: number;
  };

  if (old?.status !== row.status) {
    if (old !== undefined) addToCount(tally, row.kind, old.status, -1);
    addToCount(tally, row.kind, row.status, 1);
  }
  if ((old?.tags ?? '[]') !== row.tags) {
    for (const tag of old === undefined ? [] : tagsOf(old)) {
      statement('DELETE FROM tags WHERE run = ? AND kind = ? AND tag = ? AND number = ?').run(
        row.run,
        row.kind,
        tag,
        number,
      );
    }
    for (const tag of new Set(record.tags)) {
      statement('INSERT INTO tags (run, kind, tag, number) VALUES (?, ?, ?, ?)').run(
        row.run,
        row.kind,
        toColumn(tag),
        number,
      );
    }
  }
  const oldText = old === undefined ? null : textOf(old)(parseColumn(old.doc, `record ${old.id}`));
  if (oldText !== record.text) tally.unindexed.set(number, tally.unindexed.get(number) ?? oldText !== null);
}

/**
 * Brings the search index up to date, inside a write transaction. Indexing one text costs as much as recording it, many
 * at once much less: until there are enough, `searchRecords` looks at the few that wait one by one.
 */
export function indexRecords({ statement }: Statements, tally: Tally): void {
  for (const [number, isIndexed] of tally.unindexed) {
    if (isIndexed) statement('DELETE FROM search WHERE rowid = ?').run(number);
    const row = statement(`SELECT ${COLUMNS} FROM records WHERE number = ?`).get(number) as Row;
    const { text } = toRecord(row);
    if (text !== null)
      statement('INSERT INTO search (rowid, terms) VALUES (?, ?)').run(number, indexTerms(text).join(' '));
  }
  tally.unindexed.clear();
}

/** Inside a write transaction, with everything indexed. */
export function dropRecords({ statement }: Statements, run: string): void {
  statement('DELETE FROM search WHERE rowid IN (SELECT number FROM records WHERE run = ? AND text IS NOT NULL)').run(
    run,
  );
  for (const table of ['tags', 'records']) statement(`DELETE FROM ${table} WHERE run = ?`).run(run);
}

export function recallRecords({ statement }: Statements, run: string, references: readonly string[]): StoredRecord[] {
  const wanted = JSON.stringify(references.map(toColumn));
  return (
    statement(
      `SELECT ${COLUMNS} FROM records WHERE number IN (
         SELECT number FROM records, json_each(?2) WHERE run = ?1 AND records.id = value
         UNION SELECT number FROM records, json_each(?2) WHERE run = ?1 AND alias = value)`,
    ).all(run, wanted) as Row[]
  ).map(toRecord);
}

/**
 * The last touched first. Records touched by one event stay together, even past the limit: the next page starts before
 * it. Inside a snapshot.
 */
export function listRecords(statements: Statements, run: string, filter: RecordFilter): StoredRecord[] {
  const { limit, before = Number.MAX_SAFE_INTEGER } = filter;
  if (limit <= 0) return [];
  const kind = toColumn(filter.kind);
  const statuses =
    filter.status === undefined ? [...countRecords(statements, run, kind).keys()] : [toColumn(filter.status)];
  const found = (from: number, below: number, atMost: number): Row[] =>
    filter.tag === undefined
      ? statuses.flatMap(
          (status) =>
            statements
              .statement(
                `SELECT ${COLUMNS} FROM records WHERE run = ? AND kind = ? AND status = ? AND version >= ? AND version < ?
                 ORDER BY version DESC LIMIT ?`,
              )
              .all(run, kind, status, from, below, atMost) as Row[],
        )
      : (statements
          .statement(
            `SELECT ${COLUMNS} FROM records
             WHERE number IN (SELECT number FROM tags WHERE run = ? AND kind = ? AND tag = ?)
               AND (?4 IS NULL OR status = ?4) AND version >= ?5 AND version < ?6
             ORDER BY version DESC LIMIT ?7`,
          )
          .all(
            run,
            kind,
            toColumn(filter.tag),
            filter.status === undefined ? null : toColumn(filter.status),
            from,
            below,
            atMost,
          ) as Row[]);

  const rows = found(0, before, limit).sort(lastFirst).slice(0, limit);
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return rows.map(toRecord);
  const whole = rows.filter(({ version }) => version > last.version);
  return [...whole, ...found(last.version, last.version + 1, -1).sort(lastFirst)].map(toRecord);
}

/** By status, as the columns have both. */
export function countRecords({ statement }: Statements, run: string, kind: string): Map<string, number> {
  const row = statement('SELECT tally FROM runs WHERE run = ?').get(run) as { tally: string } | undefined;
  const counts = row === undefined ? [] : parseTally(row.tally).counts;
  return new Map(
    counts.filter((count) => count[0] === kind && count[2] > 0).map(([, status, count]) => [status, count]),
  );
}

/** Inside a snapshot. */
export function searchRecords(
  { statement }: Statements,
  runs: readonly string[],
  words: readonly string[],
  limit: number,
): StoredRecord[] {
  const query = parseWords(words);
  if (query === null) return [];
  const names = JSON.stringify(runs.map(toColumn));
  const waiting = (
    statement('SELECT tally FROM runs WHERE run IN (SELECT value FROM json_each(?))').all(names) as { tally: string }[]
  ).flatMap(({ tally }) => [...parseTally(tally).unindexed.keys()]);
  const found = (
    statement(`SELECT ${COLUMNS} FROM records WHERE number IN (SELECT value FROM json_each(?))`).all(
      JSON.stringify(waiting),
    ) as Row[]
  )
    .map(toRecord)
    .filter(({ text }) => text !== null && hasWords(text, query));

  // Terms hold letters, digits and marks only, so that nothing in the quotes can end them.
  const match = query.terms.map((term) => `"${term}"*`).join(' ');
  const rows = statement(
    `SELECT ${COLUMNS} FROM records
     WHERE number IN (SELECT rowid FROM search WHERE search MATCH ?) AND run IN (SELECT value FROM json_each(?))
       AND number NOT IN (SELECT value FROM json_each(?))
     ORDER BY at DESC, version DESC LIMIT ?`,
  ).iterate(match, names, JSON.stringify(waiting), query.fragments.length === 0 ? limit : -1);
  let indexed = 0;
  for (const row of rows) {
    if (indexed >= limit) break;
    const record = toRecord(row as Row);
    if (!hasFragments(record.text ?? '', query)) continue;
    found.push(record);
    indexed += 1;
  }
  return found.sort(lastTouchedFirst).slice(0, limit);
}

function tagsOf(row: RecordRow): string[] {
  return [...new Set(parseColumn(row.tags, `record ${row.id}`) as string[])].map(toColumn);
}

function toRecord(row: Row): StoredRecord {
  return fromRecordRow(row, textOf(row));
}

function textOf(row: Row): (doc: unknown) => string | null {
  return (doc) => (row.text === null ? null : fromTextColumn(parseColumn(row.text, `record ${row.id}`), doc));
}

function lastFirst(a: Row, b: Row): number {
  return b.version - a.version || (a.id < b.id ? -1 : 1);
}
