import { hasFragments, type SearchQuery } from '../../core/search/query.ts';
import { COMMON_SHARE, LEAST_ROWS, MANY_ROWS, WEIGHT_UNIT } from '../../core/search/rank.ts';
import { fromColumn, toColumn } from '../columns.ts';
import type { Recruited, SearchFilter, StoredRow } from '../projection.ts';
import type { Connection } from './connection.ts';
import { COLUMNS, type Row, toStored } from './stored-row.ts';

/**
 * `hits` are pairs of a term and a row in the wanted runs. A term is worth the logarithm of how rare it is, as in
 * `termWeights`, and a row the sum of its terms.
 */
const SEARCH = `
WITH hits AS MATERIALIZED (
  SELECT t.key AS term, r.number FROM json_each(?1) AS t
  CROSS JOIN search AS s ON s.search MATCH t.value
  CROSS JOIN records AS r ON r.number = s.rowid
  WHERE r.run IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR s.rowid IN (SELECT rowid FROM search WHERE search MATCH ?3))
    AND (?4 IS NULL OR r.kind IN (SELECT value FROM json_each(?4)))
    AND (?5 IS NULL OR r.status IN (SELECT value FROM json_each(?5)))
    AND (?6 IS NULL OR r.at >= ?6)
), all_rows AS MATERIALIZED (
  SELECT max(${LEAST_ROWS}, count(*)) AS rows FROM records WHERE run IN (SELECT value FROM json_each(?2))
), frequency AS MATERIALIZED (
  SELECT term, count(*) AS count, rows > ${MANY_ROWS} AND count(*) > rows * ${COMMON_SHARE} AS is_common
  FROM hits, all_rows GROUP BY term
), weights AS MATERIALIZED (
  SELECT term, CASE WHEN is_common AND EXISTS (SELECT 1 FROM frequency WHERE NOT is_common) THEN 0
    ELSE CAST(round(ln(1 + (max(0, rows - count) + 0.5) / (count + 0.5)) * ${WEIGHT_UNIT}) AS INTEGER) END AS weight
  FROM frequency, all_rows
)
SELECT ${COLUMNS}, rows, (SELECT json_group_object(term, count) FROM frequency) AS counts
FROM (SELECT number, sum(weight) AS weight FROM hits JOIN weights USING (term) GROUP BY number) JOIN records USING (number), all_rows
WHERE ?7 OR weight > 0
ORDER BY iif(?7, 0, weight) DESC, at DESC, version DESC, run, id, kind LIMIT ?8 OFFSET ?9`;

/** Inside a snapshot. */
export function searchRows(
  { statement }: Pick<Connection, 'statement'>,
  runs: readonly string[],
  query: SearchQuery,
  { kinds, statuses, since, offset, limit }: SearchFilter,
): Recruited {
  const names = JSON.stringify(runs.map(toColumn));
  const list = (values: readonly string[] | undefined): string | null =>
    values === undefined ? null : JSON.stringify(values.map(toColumn));
  // Terms hold letters, digits and marks only, so that nothing in the quotes can end them.
  const terms = query.terms.map(({ prefix, isWhole }) => (isWhole ? `"${prefix}"` : `"${prefix}"*`));
  const required = query.required.map((prefix) => `"${prefix}"*`).join(' ') || null;
  const isChecked = query.fragments.length > 0;
  const found = statement(SEARCH).iterate(
    JSON.stringify(terms),
    names,
    required,
    list(kinds),
    list(statuses),
    since ?? null,
    query.order === 'time' ? 1 : 0,
    ...(isChecked ? [-1, 0] : [limit, offset]),
  );
  const rows: StoredRow[] = [];
  let last: { rows: number; counts: string } | null = null;
  let passed = isChecked ? offset : 0;
  for (const each of found) {
    const row = each as Row & { rows: number; counts: string };
    last = row;
    const stored = toStored(row);
    if (!hasFragments(stored.text ?? '', query) || passed-- > 0) continue;
    rows.push(stored);
    if (rows.length >= limit) break;
  }
  const counts = JSON.parse(last?.counts ?? '{}') as Record<string, number>;
  const having = terms.map((_, index) => counts[index] ?? 0);
  return { rows, counts: { rows: last?.rows ?? LEAST_ROWS, having }, behind: runsBehind(statement, names) };
}

function runsBehind(statement: Connection['statement'], names: string): string[] {
  const rows = statement(
    `SELECT runs.run FROM json_each(?) CROSS JOIN runs ON runs.run = value LEFT JOIN cache ON cache.run = runs.run
     WHERE coalesce(cache.version, 0) < runs.version`,
  ).all(names) as { run: string }[];
  return rows.map(({ run }) => fromColumn(run));
}
