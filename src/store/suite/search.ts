import { describe, expect, it } from 'vitest';
import { parseQuestion, type SearchQuery } from '../../core/search/query.ts';
import type { SearchFilter } from '../projection.ts';
import { at, type Get, newRun, note, put, row, withWords } from './fixture.ts';

/** The page of the port about `search`, sentence by sentence. */
export function searchSuite(store: Get): void {
  async function filled(texts: Record<string, string>): Promise<string> {
    const run = newRun();
    const entries = Object.entries(texts);
    const rows = entries.map(([id, text], index) =>
      row(run, id, { text, doc: { id, text }, version: index + 1, at: at(index + 1) }),
    );
    await put(
      store(),
      run,
      entries.map(([, text]) => note(text)),
      { rows: rows },
    );
    return run;
  }

  describe('search for all words', () => {
    it('finds all beginnings of words in any case and without accents, last changed first', async () => {
      const run = await filled({
        a: 'Token rotation is Déjà vu',
        b: 'rotate the tokens',
        c: 'ÉCOLE straße ΟΔΟΣ',
        d: 'phase_2_waf deploy-to-prod',
      });
      const ids = async (...words: string[]) => (await withWords(store(), [run], words, 9)).map(({ id }) => id);
      expect(await ids('tok')).toEqual(['b', 'a']);
      expect(await ids('TOK', 'rotat')).toEqual(['b', 'a']);
      expect(await ids('tok', 'vu')).toEqual(['a']);
      expect(await ids('deja')).toEqual(['a']);
      expect(await ids('école')).toEqual(['c']);
      expect(await ids('οδοσ')).toEqual(['c']);
      expect(await ids('STRASS')).toEqual([]);
      expect(await ids('oken')).toEqual([]);
      expect(await ids('phase_2')).toEqual(['d']);
      expect(await ids('to-pr')).toEqual(['d']);
      expect((await withWords(store(), [run], ['tok'], 1)).map(({ id }) => id)).toEqual(['b']);
    });

    it('finds words anywhere in scripts without spaces', async () => {
      const run = await filled({
        a: '我们决定使用数据库连接池',
        b: 'データベースの移行 plan',
        c: 'ระบบฐานข้อมูล',
        d: '证据库里有很多数据',
      });
      const ids = async (...words: string[]) => (await withWords(store(), [run], words, 9)).map(({ id }) => id).sort();
      expect(await ids('数据库')).toEqual(['a']);
      expect(await ids('数据')).toEqual(['a', 'd']);
      expect(await ids('库')).toEqual(['a', 'd']);
      expect(await ids('ベース')).toEqual(['b']);
      expect(await ids('移行', 'pla')).toEqual(['b']);
      expect(await ids('ฐานข้อมูล')).toEqual(['c']);
      expect(await ids('没有')).toEqual([]);
    });

    it('accepts any text as words', async () => {
      const run = await filled({ a: 'near or not and select', b: 'abc' });
      for (const word of [
        '"',
        "'",
        '*',
        '(',
        'NEAR(a b)',
        'a OR',
        'text:',
        "'; drop table runs; --",
        '\\',
        '%',
        '_',
        ':*',
        '&',
        '!',
        '<->',
        'a\u0000b',
        '\ud800',
        '🙂',
        '-',
        '^a',
        '{a b}',
        'x'.repeat(5000),
        '\u0301'.repeat(5000),
      ]) {
        await withWords(store(), [run], [word], 9);
        await withWords(store(), [run], [word, 'abc', word], 9);
      }
      await withWords(
        store(),
        [run],
        Array.from({ length: 500 }, (_, index) => `w${index}`),
        9,
      );
      expect((await withWords(store(), [run], ['NOT', '"OR"'], 9)).map(({ id }) => id)).toEqual(['a']);
      expect(await withWords(store(), [run], [], 9)).toEqual([]);
      expect(await withWords(store(), [run], ['***'], 9)).toEqual([]);
    });

    it('searches only the given runs', async () => {
      const [one, two, three] = [
        await filled({ a: 'shared word' }),
        await filled({ b: 'shared word' }),
        await filled({ c: 'shared word' }),
      ];
      const found = await withWords(store(), [one, three], ['shared'], 9);
      expect(found.map(({ id }) => id).sort()).toEqual(['a', 'c']);
      expect(await withWords(store(), [], ['shared'], 9)).toEqual([]);
      expect((await withWords(store(), [two], ['shared'], 9)).map(({ id }) => id)).toEqual(['b']);
    });

    it('no longer finds the old words of a text that changed', async () => {
      const run = await filled({ a: 'former words of it', b: 'kept words here' });
      await put(store(), run, [note('c')], {
        rows: [
          row(run, 'a', { text: 'later terms of it', doc: {}, version: 3, at: at(3) }),
          row(run, 'b', { text: 'kept words here', doc: { more: 1 }, version: 3, at: at(3) }),
        ],
      });
      const ids = async (word: string) => (await withWords(store(), [run], [word], 9)).map(({ id }) => id);
      expect(await ids('former')).toEqual([]);
      expect(await ids('later')).toEqual(['a']);
      expect(await ids('kept')).toEqual(['b']);
      await put(store(), run, [note('d')], { rows: [row(run, 'a', { text: null, version: 4 })] });
      expect(await ids('later')).toEqual([]);
    });

    it('finds rows among many, before and after they change', async () => {
      const run = newRun();
      const make = (id: number, word: string, version: number) =>
        row(run, `N-${id}`, { text: `${word} number${id}`, doc: { id }, version, at: at(version) });
      for (let id = 1; id <= 150; id++) await put(store(), run, [note('x')], { rows: [make(id, 'plain', id)] });
      const found = async (...words: string[]) => (await withWords(store(), [run], words, 999)).map(({ id }) => id);
      expect(await found('plain')).toEqual(Array.from({ length: 150 }, (_, index) => `N-${150 - index}`));
      await put(store(), run, [note('x')], { rows: [make(3, 'changed', 151), make(149, 'changed', 151)] });
      expect((await found('changed')).sort()).toEqual(['N-149', 'N-3']);
      expect(await found('plain')).toHaveLength(148);
      for (let id = 201; id <= 280; id++) {
        await put(store(), run, [note('x')], { rows: [make(id, 'further', id - 49)] });
      }
      expect((await found('changed')).sort()).toEqual(['N-149', 'N-3']);
      expect(await found('plain')).toHaveLength(148);
      expect(await found('further')).toHaveLength(80);
      expect(await found('plain', 'number3')).toEqual(Array.from({ length: 10 }, (_, index) => `N-${39 - index}`));
    });

    it('indexes a megabyte of different words', async () => {
      const text = Array.from({ length: 120_000 }, (_, index) => `w${index.toString(36)}`).join(' ');
      const run = await filled({ a: text });
      expect((await withWords(store(), [run], ['w1', 'wz'], 9)).map((found) => found.text === text)).toEqual([true]);
    });
  });

  describe('search by relevance', () => {
    const ask = async (runs: readonly string[], text: string, filter: Partial<SearchFilter> = {}) =>
      store().projection.search(runs, parseQuestion(text) as SearchQuery, { offset: 0, limit: 9, ...filter });
    const ids = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).rows.map(({ id }) => id);

    it('finds rows with any of the words, those with rare ones first, and counts them', async () => {
      const run = await filled({
        a: 'the token rotates every hour',
        b: 'token and token store',
        c: 'we retry a failed token request twice',
        d: 'nothing of that',
      });
      const found = await ask([run], 'Why do we retry token requests?');
      expect(found.rows.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
      expect(found.counts).toEqual({ rows: 100, having: [1, 3, 1] });
      expect(await ids([run], 'which unheard words')).toEqual([]);
    });

    it('finds words with other endings, and short words only whole', async () => {
      const run = await filled({ a: 'stories were retried', b: 'go to it', c: 'goal' });
      expect(await ids([run], 'story')).toEqual(['a']);
      expect(await ids([run], 'retrying')).toEqual(['a']);
      expect(await ids([run], 'go')).toEqual(['b']);
    });

    it('takes stop words where there is nothing else', async () => {
      const run = await filled({ a: 'to be or not', b: 'else' });
      expect(await ids([run], 'to be')).toEqual(['a']);
    });

    it('keeps to phrases and words that must occur', async () => {
      const run = await filled({ a: 'the job store moved', b: 'a store for each job', c: 'job only' });
      expect(await ids([run], '"job store"')).toEqual(['a']);
      expect(await ids([run], 'job +store')).toEqual(['b', 'a']);
      expect(await ids([run], '"job store" only')).toEqual(['a']);
      expect(await ids([run], '"数据库"')).toEqual([]);
    });

    it('gives pages that follow each other, also where words must follow each other', async () => {
      const run = await filled(
        Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`r${index}`, `job store ${index} job`])),
      );
      for (const text of ['job', '"job store"']) {
        const all = await ids([run], text, { limit: 99 });
        expect(all).toHaveLength(25);
        const pages = [0, 10, 20].map((offset) => ids([run], text, { offset, limit: 10 }));
        expect((await Promise.all(pages)).flat()).toEqual(all);
      }
    });

    it('keeps to kinds, statuses and a time', async () => {
      const run = newRun();
      const rows = [
        row(run, 'a', { kind: 'note', text: 'shared', status: 'worklog', version: 1, at: at(1) }),
        row(run, 'b', { kind: 'decision', text: 'shared', status: 'active', version: 1, at: at(2) }),
        row(run, 'c', { kind: 'decision', text: 'shared', status: 'superseded', version: 1, at: at(3) }),
      ];
      await put(store(), run, [note('x')], { rows });
      expect(await ids([run], 'shared')).toEqual(['c', 'b', 'a']);
      expect(await ids([run], 'shared', { kinds: ['decision'] })).toEqual(['c', 'b']);
      expect(await ids([run], 'shared', { kinds: ['note', 'decision'], statuses: ['active', 'worklog'] })).toEqual([
        'b',
        'a',
      ]);
      expect(await ids([run], 'shared', { since: at(2) })).toEqual(['c', 'b']);
      expect(await ids([run], 'shared', { kinds: [] })).toEqual([]);
    });

    it('names the runs whose rows may not be saved yet', async () => {
      const [behind, saved] = [await filled({ a: 'shared' }), newRun()];
      await put(store(), saved, [note('x')], { cache: { format: 1, state: '' } });
      expect((await ask([behind, saved, 'nobody'], 'shared')).behind).toEqual([behind]);
    });

    it('leaves a word that most of very many rows have to those that are rarer', async () => {
      const run = newRun();
      const rows = Array.from({ length: 10_001 }, (_, index) =>
        row(run, `N-${index}`, { text: index % 2 ? 'common' : index === 4 ? 'common rare' : 'other', at: at(1) }),
      );
      await put(store(), run, [note('x')], { rows });
      expect(await ids([run], 'common rare')).toEqual(['N-4']);
      expect(await ids([run], 'common', { limit: 3 })).toHaveLength(3);
    }, 60_000);
  });
}
