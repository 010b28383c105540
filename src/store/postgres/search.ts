import { hasFragments, type SearchQuery } from '../../core/search/query.ts';
import { COMMON_SHARE, LEAST_ROWS, MANY_ROWS, WEIGHT_UNIT } from '../../core/search/rank.ts';
import { fromColumn, toColumn } from '../columns.ts';
import type { Recruited, SearchFilter, StoredRow } from '../projection.ts';
import type { Connection, Parameter } from './connection.ts';
import { COLUMNS, type Row, toStored } from './stored-row.ts';
import { beginsQuery, wholeQuery } from './terms.ts';

type Found = Row & { rows: number; frequencies: string };

const RUNS = 'IN (SELECT json_array_elements_text($1::text::json))';

export async function searchRows(
  { query, name }: Connection,
  runs: readonly string[],
  wanted: SearchQuery,
  filter: SearchFilter,
): Promise<Recruited> {
  const { offset, limit } = filter;
  const names = JSON.stringify(runs.map(toColumn));
  const { text, values } = statementFor(name, names, wanted, filter);
  const rows: StoredRow[] = [];
  let first: Found | undefined;
  // The terms find a little too much where words must follow each other; then more is read until it is enough.
  const isChecked = wanted.fragments.length > 0;
  let passed = isChecked ? offset : 0;
  for (let from = isChecked ? 0 : offset; rows.length < limit; from += limit) {
    const page = await query<Found>(text, [...values, limit, from]);
    first ??= page[0];
    const fitting = page.map(toStored).filter((row) => hasFragments(row.text ?? '', wanted));
    rows.push(...fitting.slice(passed).slice(0, limit - rows.length));
    passed = Math.max(0, passed - fitting.length);
    if (!isChecked || page.length < limit) break;
  }
  const having = first ? (JSON.parse(first.frequencies) as number[]) : wanted.terms.map(() => 0);
  const counts = { rows: first?.rows ?? LEAST_ROWS, having };
  return { rows, counts, behind: await runsBehind({ query, name }, names) };
}

/**
 * Which terms each row has, how many rows have each, what a term is worth (as in `termWeights`), and the rows with the
 * largest sums.
 */
function statementFor(
  name: string,
  names: string,
  { terms, required, order }: SearchQuery,
  { kinds, statuses, since }: SearchFilter,
): { text: string; values: Parameter[] } {
  const values: Parameter[] = [names];
  const use = (value: Parameter): string => `$${values.push(value)}::text`;
  const asked = terms.map(({ prefix, isWhole }) => (isWhole ? wholeQuery(prefix) : beginsQuery(prefix)));
  const where = [`run ${RUNS}`, `terms @@ ${use(asked.join(' | '))}::tsquery`];
  if (required.length > 0) where.push(`terms @@ ${use(required.map(beginsQuery).join(' & '))}::tsquery`);
  const oneOf = (list: readonly string[]): string =>
    `IN (SELECT json_array_elements_text(${use(JSON.stringify(list.map(toColumn)))}::json))`;
  if (kinds) where.push(`kind ${oneOf(kinds)}`);
  if (statuses) where.push(`status ${oneOf(statuses)}`);
  if (since) where.push(`at >= ${use(since)}`);
  const each = (part: (index: number) => string, between = ', '): string =>
    terms.map((_, index) => part(index)).join(between);
  const isCommon = (index: number): string => `(rows > ${MANY_ROWS} AND d${index} > rows * ${COMMON_SHARE})`;
  const worth = (index: number): string =>
    `round((ln(1 + (greatest(0, rows - d${index}) + 0.5::float8) / (d${index} + 0.5::float8)) * ${WEIGHT_UNIT})::numeric)::bigint`;
  const ordered = `${order === 'time' ? '' : 'weight DESC, '}at DESC, version DESC, run, id, kind`;
  const last = values.length;
  const text = `WITH hits AS MATERIALIZED (
  SELECT run, id, kind, at, version, ${each((index) => `(terms @@ ${use(asked[index] as string)}::tsquery)::int AS h${index}`)}
  FROM ${name}.records WHERE ${where.join(' AND ')}
), counts AS (SELECT (SELECT greatest(${LEAST_ROWS}, count(*)) FROM ${name}.records WHERE run ${RUNS})::integer AS rows,
    ${each((index) => `coalesce(sum(h${index}), 0)::integer AS d${index}`)} FROM hits
), rarities AS (SELECT *, ${each((index) => `(d${index} > 0 AND NOT ${isCommon(index)})`, ' OR ')} AS has_rare FROM counts
), weights AS (SELECT rows, to_json(ARRAY[${each((index) => `d${index}`)}])::text AS frequencies,
    ${each((index) => `CASE WHEN d${index} = 0 OR has_rare AND ${isCommon(index)} THEN 0 ELSE ${worth(index)} END AS w${index}`)}
  FROM rarities
), best AS (
  SELECT * FROM (SELECT hits.*, rows, frequencies, ${each((index) => `h${index} * w${index}`, ' + ')} AS weight FROM hits, weights) AS scored
  ${order === 'time' ? '' : 'WHERE weight > 0'} ORDER BY ${ordered} LIMIT $${last + terms.length + 1} OFFSET $${last + terms.length + 2}
)
SELECT ${COLUMNS.split(', ')
    .map((column) => `r.${column}`)
    .join(', ')}, rows, frequencies FROM best
JOIN ${name}.records AS r USING (run, id, kind) ORDER BY ${ordered.replace(/\b(?:at|version)\b/g, 'best.$&')}`;
  return { text, values };
}

async function runsBehind({ query, name }: Pick<Connection, 'query' | 'name'>, names: string): Promise<string[]> {
  const rows = await query<{ run: string }>(
    `SELECT runs.run FROM ${name}.runs LEFT JOIN ${name}.cache ON cache.run = runs.run
     WHERE runs.run ${RUNS} AND coalesce(cache.version, 0) < runs.version`,
    [names],
  );
  return rows.map(({ run }) => fromColumn(run));
}
