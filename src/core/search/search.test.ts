import { describe, expect, it } from 'vitest';
import { questions, records } from './corpus.suite.ts';
import { parseAllWords, parseQuestion, type SearchQuery } from './query.ts';
import { type Candidate, rank, recruit, successorsFirst, termWeights } from './rank.ts';
import { snippetOf } from './snippet.ts';
import { stemOf } from './stem.ts';

const question = (text: string): SearchQuery => parseQuestion(text) as SearchQuery;

function row(id: string, text: string, more: Partial<Candidate> = {}): Candidate {
  return { run: 'work', kind: 'note', id, status: 'worklog', at: '2026-01-01', version: 1, text, doc: {}, ...more };
}

function answers(rows: readonly Candidate[], text: string): string[] {
  const query = question(text);
  const found = recruit(rows, query, { offset: 0, limit: 50 });
  return rank(found.rows, query, found.counts).map(({ row: one }) => one.id);
}

describe('a question', () => {
  it('is cut into stems without words that say nothing', () => {
    expect(question('Why do we retry failed webhooks?').terms.map(({ stem }) => stem)).toEqual([
      'retri',
      'fail',
      'webhook',
    ]);
    expect(question('what is it').terms.map(({ stem }) => stem)).toEqual(['what', 'is', 'it']);
    expect(parseQuestion(' ?! ""')).toBeNull();
    expect(parseAllWords('…')).toBeNull();
  });

  it('knows phrases and words that must occur', () => {
    const { required, fragments } = question('+token "job store" else "one"');
    expect(required).toEqual(['token', 'job', 'store', 'one']);
    expect(fragments).toEqual([' job store ']);
  });

  it.each([
    ['stories', 'stori'],
    ['story', 'stori'],
    ['retried', 'retri'],
    ['classes', 'class'],
    ['status', 'status'],
    ['running', 'run'],
    ['filled', 'fill'],
    ['cached', 'cach'],
    ['cache', 'cach'],
    ['string', 'string'],
    ['bed', 'bed'],
    ['v2s', 'v2s'],
    ['écoles', 'écoles'],
  ])('counts %s as %s', (word, stem) => {
    expect(stemOf(word)).toBe(stem);
  });
});

describe('ranking', () => {
  it('answers forty questions about sixty records', () => {
    const rows = Object.entries(records).map(([id, text]) => row(id, text));
    const misses = questions.filter(([text, wanted]) => answers(rows, text)[0] !== wanted);
    expect(misses).toEqual([]);
    expect([rows.length, questions.length]).toEqual([60, 40]);
  });

  it('puts more of the words, rarer words and shorter texts first', () => {
    const rows = [
      row('long', 'retry the token, and so on'),
      row('both', 'retry token'),
      row('token', 'token token token'),
      row('other', 'token of another kind'),
    ];
    expect(answers(rows, 'retry token')).toEqual(['both', 'long', 'token', 'other']);
  });

  it('counts a longer word half where the word itself is absent', () => {
    const rows = [
      row('longer', 'authentication here', { at: '2026-02-01' }),
      row('exact', 'auth here'),
      row('none', 'else'),
    ];
    expect(answers(rows, 'auth')).toEqual(['exact', 'longer']);
  });

  it('puts what is settled or removed after the same that is open, and of equals the last changed first', () => {
    const rows = [
      row('settled', 'disk full', { kind: 'item', status: 'resolved', at: '2026-02-02' }),
      row('removed', 'disk full', { kind: 'step', status: 'removed', at: '2026-02-01' }),
      row('older', 'disk full', { kind: 'item', status: 'open', at: '2026-01-01' }),
      row('newer', 'disk full', { kind: 'item', status: 'open', at: '2026-01-02' }),
    ];
    expect(answers(rows, 'full disk')).toEqual(['newer', 'older', 'settled', 'removed']);
  });

  it('puts the decision in force before the one it replaced, also one that has none of the words', () => {
    const decision = (id: string, text: string, supersededBy?: string) =>
      row(id, text, { kind: 'decision', status: supersededBy ? 'superseded' : 'active', doc: { supersededBy } });
    const rows = [
      decision('D-1', 'cache sessions in memory', 'D-2'),
      decision('D-2', 'in Redis', 'D-3'),
      decision('D-3', 'in the database'),
      decision('D-4', 'memory of sessions'),
    ];
    const query = question('cache sessions memory');
    const found = recruit(rows, query, { offset: 0, limit: 50 });
    const ordered = successorsFirst(rank(found.rows, query, found.counts), (_, id) =>
      rows.find((one) => one.id === id),
    );
    expect(ordered.map(({ row: one }) => one.id)).toEqual(['D-3', 'D-1', 'D-4']);
    const loop = [decision('D-1', 'loop', 'D-2'), decision('D-2', 'loop', 'D-1')];
    expect(successorsFirst(rank(loop, query, found.counts), (_, id) => loop.find((one) => one.id === id))).toHaveLength(
      2,
    );
  });

  it('gives no weight to a word of most rows while there is a rarer one', () => {
    expect(termWeights({ rows: 20_000, having: [15_000, 3, 0] }).map((weight) => weight > 0)).toEqual([
      false,
      true,
      false,
    ]);
    expect(termWeights({ rows: 20_000, having: [15_000, 0] })[0]).toBeGreaterThan(0);
    expect(termWeights({ rows: 9_000, having: [8_000, 3] })[0]).toBeGreaterThan(0);
  });
});

describe('a snippet', () => {
  it('is the densest part of a long text, in one line, with the words marked', () => {
    const text = `retry first. ${'Nothing here. '.repeat(30)}We retry\n the failed webhooks twice. ${'More of it. '.repeat(30)}`;
    const { text: part, marks } = snippetOf(text, question('failed webhook retry').terms);
    expect(part.length).toBeLessThan(210);
    expect(part).toMatch(/^… .*We retry the failed webhooks twice\. .* …$/);
    expect(marks.map(([start, end]) => part.slice(start, end))).toEqual(['retry', 'failed', 'webhooks']);
  });

  it('is a short text whole', () => {
    expect(snippetOf('One  line\nof text', question('text').terms)).toEqual({
      text: 'One line of text',
      marks: [[12, 16]],
    });
    expect(snippetOf('', question('text').terms)).toEqual({ text: '', marks: [] });
  });
});
