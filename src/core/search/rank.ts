import { hasFragments, hasTerm, hasTerms, type SearchQuery, type SearchTerm } from './query.ts';
import { stemOf } from './stem.ts';
import { indexTerms, termsOf } from './words.ts';

/** What ordering needs of a row. */
export interface Candidate {
  run: string;
  kind: string;
  id: string;
  status: string;
  at: string;
  version: number;
  text: string | null;
  doc: unknown;
}

/** How common each term is among the rows that were searched. */
export interface TermCounts {
  /** All rows of the runs, at least `LEAST_ROWS`. */
  rows: number;
  /** Of these, the rows with each term of the query, in its order. */
  having: readonly number[];
}

export interface Ranked<T> {
  row: T;
  score: number;
  /** The terms of the query that the text has. */
  matched: string[];
}

const K1 = 1.2;
const B = 0.75;
/** A longer word that begins with the term, in a text without the term itself. */
const LONGER_WORD = 0.5;
/** What is over is rarely what is looked for. */
const OVER = 0.8;
/** A term that so many of many rows have finds none by itself, unless all terms do. */
export const MANY_ROWS = 10_000;
export const COMMON_SHARE = 0.1;
/** Few rows say little about how rare a word is. */
export const LEAST_ROWS = 100;
/** Weights are whole numbers, so that their sums are the same in every database. */
export const WEIGHT_UNIT = 1_000_000;

/** The weight of each term when candidates are found. */
export function termWeights({ rows, having }: TermCounts): number[] {
  const isCommon = (count: number): boolean => rows > MANY_ROWS && count > rows * COMMON_SHARE;
  const hasRare = having.some((count) => count > 0 && !isCommon(count));
  return having.map((count) =>
    count === 0 || (hasRare && isCommon(count)) ? 0 : Math.round(idf(rows, count) * WEIGHT_UNIT),
  );
}

const idf = (rows: number, count: number): number => Math.log(1 + (Math.max(0, rows - count) + 0.5) / (count + 0.5));

/** Orders candidates by how well their text answers the query, best first; of equal ones the last changed. */
export function rank<T extends Candidate>(
  candidates: readonly T[],
  { terms }: SearchQuery,
  counts: TermCounts,
): Ranked<T>[] {
  const read = candidates.map((row) => ({ row, ...countStems(row.text ?? '') }));
  const average = read.reduce((sum, { length }) => sum + length, 0) / (read.length || 1);
  const ranked = read.map(({ row, stems, length }) => {
    const matched: string[] = [];
    let score = 0;
    for (const [index, term] of terms.entries()) {
      const count = occurrences(stems, term);
      if (count === 0) continue;
      matched.push(term.stem);
      const weight = idf(counts.rows, counts.having[index] ?? 0);
      score += (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / (average || 1)));
    }
    return { row, score: isOver(row) ? score * OVER : score, matched };
  });
  return ranked.sort((a, b) => b.score - a.score || lastTouchedFirst(a.row, b.row));
}

function countStems(text: string): { stems: Map<string, number>; length: number } {
  const terms = termsOf(text);
  const stems = new Map<string, number>();
  for (const term of terms) {
    const stem = stemOf(term);
    stems.set(stem, (stems.get(stem) ?? 0) + 1);
  }
  return { stems, length: terms.length };
}

function occurrences(stems: ReadonlyMap<string, number>, { stem, prefix, isWhole }: SearchTerm): number {
  const exact = stems.get(stem);
  if (exact !== undefined || isWhole) return exact ?? 0;
  let count = 0;
  for (const [word, times] of stems) if (word.startsWith(prefix)) count += times * LONGER_WORD;
  return count;
}

const settled: Readonly<Record<string, ReadonlySet<string>>> = {
  item: new Set(['resolved', 'bypassed', 'deferred', 'withdrawn']),
  message: new Set(['actioned', 'closed']),
  decision: new Set(['retracted']),
};

const isOver = ({ kind, status }: Candidate): boolean => status === 'removed' || (settled[kind]?.has(status) ?? false);

/** Versions of different runs cannot be compared, times can. */
export function lastTouchedFirst(a: Candidate, b: Candidate): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return b.version - a.version || compare(a.run, b.run) || compare(a.id, b.id) || compare(a.kind, b.kind);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The decision that took the place of this one. */
export function successorOf({ kind, doc }: Candidate): string | null {
  const next = kind === 'decision' ? (doc as { supersededBy?: unknown }).supersededBy : undefined;
  return typeof next === 'string' ? next : null;
}

/**
 * Puts what is in force before what it replaced: the last successor takes the place of a superseded decision, which follows
 * it directly. `find` gives a row by run and id.
 */
export function successorsFirst<T extends Candidate>(
  ranked: readonly Ranked<T>[],
  find: (run: string, id: string) => T | undefined,
): Ranked<T>[] {
  const own = new Map(ranked.map((one) => [keyOf(one.row), one]));
  const ordered = new Map<string, Ranked<T>>();
  for (const one of ranked) {
    const last = lastSuccessor(one.row, find);
    const first = last && (own.get(keyOf(last)) ?? { row: last, score: one.score, matched: [] });
    for (const next of first ? [first, one] : [one]) {
      if (!ordered.has(keyOf(next.row))) ordered.set(keyOf(next.row), next);
    }
  }
  return [...ordered.values()];
}

const MOST_SUCCESSORS = 50;

function lastSuccessor<T extends Candidate>(row: T, find: (run: string, id: string) => T | undefined): T | undefined {
  let last: T | undefined;
  for (let hops = 0, next = successorOf(row); next !== null && hops < MOST_SUCCESSORS; hops++) {
    const found = find(row.run, next);
    if (!found) break;
    last = found;
    next = successorOf(found);
  }
  return last;
}

const keyOf = ({ run, kind, id }: Candidate): string => `${run}\n${kind}\n${id}`;

/** What a store finds, over rows in memory. */
export function recruit<T extends Candidate>(
  rows: readonly T[],
  query: SearchQuery,
  { offset, limit }: { offset: number; limit: number },
  fits: (row: T) => boolean = () => true,
): { rows: T[]; counts: TermCounts } {
  const found = rows.flatMap((row) => {
    if (row.text === null || !fits(row)) return [];
    const terms = indexTerms(row.text);
    return hasTerms(terms, query) ? [{ row, has: query.terms.map((term) => hasTerm(terms, term)) }] : [];
  });
  const having = query.terms.map((_, index) => found.filter(({ has }) => has[index]).length);
  const counts = { rows: Math.max(LEAST_ROWS, rows.length), having };
  const weights = termWeights(counts);
  const scored = found.map(({ row, has }) => ({
    row,
    weight: weights.reduce((sum, weight, index) => sum + (has[index] ? weight : 0), 0),
  }));
  const byTime = query.order === 'time';
  const ordered = scored
    .filter(({ row, weight }) => (byTime || weight > 0) && hasFragments(row.text ?? '', query))
    .sort((a, b) => (byTime ? 0 : b.weight - a.weight) || lastTouchedFirst(a.row, b.row));
  return { rows: ordered.slice(offset, offset + limit).map(({ row }) => row), counts };
}
