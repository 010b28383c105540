import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { parseAllWords, parseQuestion, type SearchQuery } from '../../core/search/query.ts';
import { snippetOf } from '../../core/search/snippet.ts';
import { oneLine } from '../../core/text.ts';
import type { StoredRow } from '../../store/projection.ts';
import { openGuarded } from '../../workspace/guarded/tree-files.ts';
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
    const page = ranked.slice(passed, passed + wanted);
    const tree = context.workspace()?.tree;
    const isMore = ranked.length > passed + wanted;
    const next = isMore ? `${pools}-${passed + wanted}` : ranked.length >= pool ? `${pools + 1}-0` : null;
    const records = page.map(({ row, score, matched }) => {
      const result = resultOf(row, query, score, matched);
      return row.kind === 'foreign' && tree ? { ...result, place: placeOf(tree, result) } : result;
    });
    // Sections that a format does not know are not rows: their lines come last, unless the file was found already.
    const isOpen = next === null && !kind && !status && !since && tree !== undefined;
    const isFileFound = records.some((record) => record.kind === 'foreign');
    const docs = ranked.map(({ row }) => row.doc);
    const lines = isOpen && !isFileFound ? await linesOf(context, runs, text, docs) : [];
    return { data: { results: [...records, ...lines].slice(0, wanted), cursor: next } };
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

function resultOf(row: StoredRow, query: SearchQuery, score: number, matched: string[]): SearchResult {
  const { run, kind, id, status, at, version, doc } = row;
  const { text: snippet, marks } = snippetOf(row.text ?? '', query.terms);
  const step = (doc as { step?: unknown }).step;
  return {
    ...{ run, kind, id, status, step: typeof step === 'string' ? step : null, at, version },
    ...{
      score: Math.round(score * 1000) / 1000,
      matched,
      isSuperseded: kind === 'decision' && status === 'superseded',
      place: null,
    },
    ...{ text: excerpt(doc), snippet, marks, doc },
  };
}

/** The line of the file, as it is now, that has most of the words that were found. */
function placeOf(tree: string, { doc, snippet, marks }: SearchResult): string | null {
  const { path } = doc as { path: string };
  const text = openGuarded(tree).read(path);
  if (text === null) return null;
  const words = new Set(marks.map(([start, end]) => snippet.slice(start, end).toLowerCase()));
  let best = { line: 0, count: 0 };
  for (const [index, one] of text.toLowerCase().split('\n').entries()) {
    const count = [...words].filter((found) => one.includes(found)).length;
    if (count > best.count) best = { line: index + 1, count };
  }
  return best.count > 0 ? `${path}:${best.line}` : path;
}

/** Lines of adopted and mirrored files that have all the words, without those that are records themselves. */
async function linesOf(
  context: Context,
  runs: readonly string[],
  text: string,
  docs: readonly unknown[],
): Promise<SearchResult[]> {
  const { plain, searchFiles } = await import('../files/parts/search-files.ts');
  const terms = plain(text).split(' ');
  const said = docs.flatMap((doc) => Object.values(doc as object)).filter((value) => typeof value === 'string');
  const records = said.map(plain).filter((words) => terms.every((term) => words.includes(term)));
  const isRecord = (words: string): boolean =>
    records.some((record) => record !== '' && (words.includes(record) || record.includes(words)));
  const results: SearchResult[] = [];
  for (const run of runs) {
    for (const { path, line: number, text: found } of await searchFiles(context, run, terms)) {
      if (isRecord(plain(found))) continue;
      const known = {
        run,
        kind: 'line',
        id: `${path}:${number}`,
        status: '',
        step: null,
        at: context.now(),
        version: 0,
      };
      const shown = { text: found, snippet: found, marks: [], place: null, doc: { path, line: number } };
      results.push({ ...known, score: 0, matched: [...terms], isSuperseded: false, ...shown });
    }
  }
  return results;
}

/** Rows whose id is a key, a path or a name that someone chose. */
const NAMED: ReadonlySet<string> = new Set(['step', 'result', 'file', 'usage', 'foreign', 'run', 'line']);

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
