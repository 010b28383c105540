import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { parseAllWords, parseQuestion, type SearchQuery } from '../../core/search/query.ts';
import type { Candidate, Ranked } from '../../core/search/rank.ts';
import { snippetOf } from '../../core/search/snippet.ts';
import { spacedWords } from '../../core/search/words.ts';
import { oneLine } from '../../core/text.ts';
import type { StoredRow } from '../../store/projection.ts';
import { currentRun } from '../act.ts';
import type { Context } from '../context.ts';
import { limit } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

export interface SearchResult {
  run: string;
  kind: string;
  id: string;
  status: string;
  step: string | null;
  at: string;
  version: number;
  /** How well it answers the question; results of one search can be compared. */
  score: number;
  /** The stems of the words of the question that it has. */
  matched: string[];
  /** Where a file says it: `.planning/STATE.md:52`; null for what is recorded here. */
  place: string | null;
  /** It was superseded by the result before it. */
  isSuperseded: boolean;
  text: string;
  /** About 200 characters around the words, and where in them the words are. */
  snippet: string;
  marks: [start: number, end: number][];
  doc: unknown;
}

/** So many are compared with each other for one page. */
const POOL = 50;

export const search = defineOperation({
  name: 'search',
  summary: 'Find what answers a question: decisions, notes, items, mail, steps, requests, commands, files.',
  scope: 'read',
  words: ['words'],
  flags: { allRuns: 'all-runs' },
  examples: ['holdfast search why do we retry twice', 'holdfast search "+token rotation" --kind decision'],
  input: v.object({
    words: described(v.array(v.string()), 'A question or words. `"a phrase"` and `+word` must occur.'),
    all: v.optional(
      described(v.boolean(), 'All words must occur, each as the beginning of a word; last changed first.'),
    ),
    kind: v.optional(described(v.array(v.string()), 'Only these kinds, such as decision or note.')),
    status: v.optional(described(v.array(v.string()), 'Only with this status, such as active.')),
    since: v.optional(described(v.pipe(v.string(), v.isoTimestamp()), 'Changed at this time or later.')),
    allRuns: v.optional(described(v.boolean(), 'In every run of this workspace.')),
    limit: limit(20),
    cursor: v.optional(described(v.pipe(v.string(), v.regex(/^\d{1,6}-\d{1,6}$/)), 'Where the page before ended.')),
  }),
  output: v.object({
    results: v.array(
      shaped<SearchResult>({
        run: v.string(),
        kind: v.string(),
        id: v.string(),
        status: v.string(),
        text: v.string(),
        snippet: v.string(),
        score: v.number(),
      }),
    ),
    cursor: v.nullable(v.string()),
  }),
  async run(context, { words, all, kind, status, since, allRuns, limit: wanted = 20, cursor = '0-0' }) {
    const text = words.join(' ');
    const query = all ? parseAllWords(text) : parseQuestion(text);
    if (query === null)
      throw new Fault('usage', '`search` needs a word to find.', { hints: ['`holdfast search WORDS`'] });
    const engine = await context.engine();
    const workspace = context.workspace()?.ids;
    const runs = allRuns
      ? (await engine.heads(workspace === undefined ? {} : { workspace })).map((head) => head.run)
      : [await currentRun(context)];
    const pool = Math.max(POOL, 2 * wanted);
    const [pools = 0, passed = 0] = cursor.split('-').map(Number);
    const filter = { kinds: kind, statuses: status, since, offset: pools * pool, limit: pool };
    const ranked = await engine.search(runs, query, filter);
    const isOpen = !status && !since && (kind?.includes('line') ?? true);
    const lines = cursor === '0-0' && isOpen ? await passagesOf(context, runs, query, wanted, ranked) : [];
    const isLine = ({ row }: Ranked<Candidate>): boolean => row.kind === 'line';
    const page = merged(ranked.slice(passed, passed + wanted), lines).slice(0, wanted);
    const shown = passed + page.filter((one) => !isLine(one)).length;
    const isMore = ranked.length > shown;
    const next = isMore ? `${pools}-${shown}` : ranked.length >= pool ? `${pools + 1}-0` : null;
    const results = page.map(({ row, score, matched }) => resultOf(row, query, score, matched));
    return { data: { results, cursor: next } };
  },
  say: ({ results, cursor }, pen) =>
    results.length === 0
      ? line`Nothing was found.`
      : joined(
          [
            ...results.map(({ id, kind, status, snippet, place }) => {
              const facts = kind === 'line' ? line`line` : line`${word(kind)}, ${status === '' ? '' : word(status)}`;
              const name = NAMED.has(kind) ? pen.quote(place ?? id, 'path') : ownId(id);
              return line`${pen.bold(name)} ${pen.dim(facts)} ${pen.quote(snippet, 'title')}`;
            }),
            ...(cursor === null ? [] : [pen.dim(line`There is more: add \`--cursor ${ownId(cursor)}\`.`)]),
          ],
          '\n',
        ),
});

function resultOf(row: Candidate, query: SearchQuery, score: number, matched: string[]): SearchResult {
  const { run, kind, id, status, at, version, doc } = row;
  const { text: snippet, marks } = snippetOf(row.text ?? '', query.terms);
  const step = (doc as { step?: unknown }).step;
  return {
    ...{ run, kind, id, status, step: typeof step === 'string' ? step : null, at, version },
    ...{
      score: Math.round(score * 1000) / 1000,
      matched,
      isSuperseded: kind === 'decision' && status === 'superseded',
      place: kind === 'line' ? id : null,
    },
    ...{ text: excerpt(doc), snippet, marks, doc },
  };
}

/** Passages of adopted and mirrored files, without those that are records themselves. */
async function passagesOf(
  context: Context,
  runs: readonly string[],
  query: SearchQuery,
  limit: number,
  records: readonly Ranked<StoredRow>[],
): Promise<Ranked<Candidate>[]> {
  const { searchFiles } = await import('../files/parts/search-files.ts');
  const found: Ranked<Candidate>[] = [];
  for (const run of runs) found.push(...(await searchFiles(context, run, query, limit)));
  const said = records
    .flatMap(({ row }) => Object.values(row.doc as object))
    .filter((value) => typeof value === 'string')
    .map(spacedWords);
  return found.filter(({ row, matched }) => {
    const words = spacedWords(row.text ?? '');
    const isSame = (text: string): boolean =>
      matched.every((stem) => text.includes(` ${stem}`)) && (words.includes(text) || text.includes(words));
    return !said.some(isSame);
  });
}

/** Both by relevance; records first where they are equal, and where the order is by time. */
const merged = (records: readonly Ranked<StoredRow>[], lines: readonly Ranked<Candidate>[]): Ranked<Candidate>[] =>
  lines.reduce<Ranked<Candidate>[]>(
    (list, one) => {
      const at = list.findLastIndex(({ score }) => score >= one.score);
      return [...list.slice(0, at + 1), one, ...list.slice(at + 1)];
    },
    [...records],
  );

/** Rows whose id is a key, a path or a name that someone chose. */
const NAMED: ReadonlySet<string> = new Set(['step', 'result', 'file', 'usage', 'run', 'line']);

/** The text of a row, in one line. */
function excerpt(doc: unknown): string {
  const row = doc as Record<string, unknown>;
  const parts = [
    'title',
    'decision',
    'text',
    'subject',
    'name',
    'summary',
    'built',
    'message',
    'next',
    'path',
    'reason',
    'agent',
  ]
    .map((field) => row[field])
    .filter((value) => typeof value === 'string');
  return oneLine(parts.join(' · '), 300);
}
