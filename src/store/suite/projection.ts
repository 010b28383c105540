import { describe, expect, it } from 'vitest';
import type { Projection, StoredRow } from '../projection.ts';
import { at, batchOf, type Get, headOf, newRun, note, put, row, withWords } from './fixture.ts';
import { searchSuite } from './search.ts';

/** The page `projection.ts`, sentence by sentence. */
export function projectionSuite(store: Get): void {
  looking(store);
  searchSuite(store);
  replacing(store);
}

function looking(store: Get): void {
  describe('saved state and rows', () => {
    it('keeps folded state with the version it was saved at, for one format', async () => {
      const run = newRun();
      expect(await store().projection.cached(run, 1)).toBeNull();
      await put(store(), run, [note('a')], { cache: { format: 1, state: '{"a":"\\u0000"}' } });
      const hash = (await headOf(store(), run))?.hash;
      await put(store(), run, [note('b')]);
      expect(await store().projection.cached(run, 1)).toEqual({ version: 1, hash, state: '{"a":"\\u0000"}' });
      expect(await store().projection.cached(run, 2)).toBeNull();
      await put(store(), run, [note('c')], { cache: { format: 2, state: 'c' } });
      expect(await store().projection.cached(run, 1)).toBeNull();
      expect(await store().projection.cached(run, 2)).toMatchObject({ version: 3, state: 'c' });
    });

    it('recalls rows of any kind by id and by alias, exactly as they were written', async () => {
      const run = newRun();
      const odd = row(run, 'D-1', {
        kind: 'decision',
        alias: 'OQ-\ud800',
        tags: ['key:a\u0000', 'b'],
        text: 'odd \u0000 \udc00 text that is long enough',
        doc: { text: 'odd \u0000 \udc00 text that is long enough', n: [1, null, { x: true }] },
      });
      const twin = row(run, 'D-1', { kind: 'item', doc: null });
      const plain = row(run, 'N-1', {
        alias: 'block-001',
        text: 'one two three four; and then some more',
        doc: { b: 'and then some more', a: 'one two three four' },
      });
      await put(store(), run, [note('a')], { rows: [odd, twin, plain] });
      const sorted = (found: StoredRow[]) => found.sort((x, y) => (x.kind < y.kind ? -1 : 1));
      expect(sorted(await store().projection.recall(run, ['D-1', 'unknown', 'D-1']))).toEqual([odd, twin]);
      expect(sorted(await store().projection.recall(run, ['OQ-\ud800', 'N-1', 'block-001']))).toEqual([odd, plain]);
      expect(await store().projection.recall(run, [])).toEqual([]);
      expect(await store().projection.recall(newRun(), ['D-1'])).toEqual([]);
    });

    it('keeps the later of two versions of a row in one batch', async () => {
      const run = newRun();
      const later = row(run, 'N-1', { version: 2, status: 'closed', tags: ['b'], text: 'later' });
      await put(store(), run, [note('a'), note('b')], {
        rows: [row(run, 'N-1', { tags: ['a'], text: 'sooner' }), later],
      });
      expect(await store().projection.recall(run, ['N-1'])).toEqual([later]);
      expect(await store().projection.count(run, 'note')).toEqual({ closed: 1 });
      expect(await store().projection.rows(run, { kind: 'note', tag: 'a', limit: 9 })).toEqual([]);
      expect(await withWords(store(), [run], ['sooner'], 9)).toEqual([]);
    });

    it('lists rows of a kind by status and tag, page by page, last changed first', async () => {
      const run = newRun();
      const make = (version: number, rest: Partial<StoredRow> = {}) =>
        row(run, `N-${version}`, {
          version,
          at: at(version),
          status: version % 2 === 0 ? 'open' : 'closed',
          tags: version % 3 === 0 ? ['third', 'x'] : ['x'],
          ...rest,
        });
      const rows = [1, 2, 3, 4, 5, 6].map((version) => make(version));
      await put(
        store(),
        run,
        rows.map((_, index) => note(`${index}`)),
        { rows: [...rows, row(run, 'D-1', { kind: 'decision' })] },
      );
      const ids = async (filter: Omit<Parameters<Projection['rows']>[1], 'kind'>) =>
        (await store().projection.rows(run, { kind: 'note', ...filter })).map(({ id }) => id);
      expect(await ids({ limit: 4 })).toEqual(['N-6', 'N-5', 'N-4', 'N-3']);
      expect(await ids({ limit: 4, before: 3 })).toEqual(['N-2', 'N-1']);
      expect(await ids({ limit: 0 })).toEqual([]);
      expect(await ids({ limit: 2, status: 'open' })).toEqual(['N-6', 'N-4']);
      expect(await ids({ limit: 9, tag: 'third' })).toEqual(['N-6', 'N-3']);
      expect(await ids({ limit: 9, tag: 'third', status: 'closed' })).toEqual(['N-3']);
      expect(await ids({ limit: 9, tag: 'third', before: 6 })).toEqual(['N-3']);
      expect(await store().projection.count(run, 'note')).toEqual({ open: 3, closed: 3 });
      await put(store(), run, [note('7')], {
        rows: [make(3, { version: 7, at: at(7), id: 'N-3', status: 'open', tags: ['x'] })],
      });
      expect(await ids({ limit: 2 })).toEqual(['N-3', 'N-6']);
      expect(await ids({ limit: 9, tag: 'third' })).toEqual(['N-6']);
      expect(await ids({ limit: 9, status: 'closed' })).toEqual(['N-5', 'N-1']);
      expect(await store().projection.count(run, 'note')).toEqual({ open: 4, closed: 2 });
      expect(await store().projection.count(run, 'nothing')).toEqual({});
    });

    it('accepts any text as a tag', async () => {
      const run = newRun();
      const tags = [
        "it's",
        '\\',
        '"',
        "'",
        '#',
        'a:* & b',
        'nul \u0000',
        'half \ud800',
        '',
        'x'.repeat(5000),
        `${'x'.repeat(5000)}y`,
      ];
      const rows = tags.map((tag, index) => row(run, `N-${index}`, { tags: [tag] }));
      await put(store(), run, [note('a')], { rows: rows });
      for (const [index, tag] of tags.entries()) {
        expect((await store().projection.rows(run, { kind: 'note', tag, limit: 99 })).map(({ id }) => id)).toEqual([
          `N-${index}`,
        ]);
        expect(await store().projection.rows(run, { kind: 'item', tag, limit: 99 })).toEqual([]);
      }
    });

    it('keeps rows changed by one event on one page', async () => {
      const run = newRun();
      const touched = ['a', 'b', 'c', 'd'].map((id, index) =>
        row(run, id, { version: index === 3 ? 1 : 2, status: index === 0 ? 'shut' : 'open', tags: ['t'] }),
      );
      await put(store(), run, [note('1'), note('2')], { rows: touched });
      for (const filter of [
        { kind: 'note', limit: 2 },
        { kind: 'note', tag: 't', limit: 1 },
      ]) {
        expect((await store().projection.rows(run, filter)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
        expect((await store().projection.rows(run, { ...filter, before: 2 })).map(({ id }) => id)).toEqual(['d']);
      }
    });
  });
}

function replacing(store: Get): void {
  describe('replaceDerived', () => {
    it('replaces derived data and leaves the journal unchanged', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b')], {
        rows: [row(run, 'old', { text: 'ancient', tags: ['t'], alias: 'o' })],
        cache: { format: 1, state: 'old' },
      });
      const before = await headOf(store(), run);
      const head = { ...batchOf(run, [], null).head, title: 'Rebuilt', status: 'completed' };
      const fresh = row(run, 'new', { text: 'modern', tags: ['t'], version: 2 });
      expect(
        await store().projection.replaceDerived(run, 2, { head, rows: [fresh], cache: { format: 2, state: 'new' } }),
      ).toBe(true);
      expect(await headOf(store(), run)).toEqual({ ...before, ...head });
      expect(await store().projection.recall(run, ['old', 'o', 'new'])).toEqual([fresh]);
      expect(await store().projection.rows(run, { kind: 'note', tag: 't', limit: 9 })).toEqual([fresh]);
      expect(await store().projection.count(run, 'note')).toEqual({ open: 1 });
      expect(await withWords(store(), [run], ['ancient'], 9)).toEqual([]);
      expect(await withWords(store(), [run], ['modern'], 9)).toEqual([fresh]);
      expect(await store().projection.cached(run, 2)).toEqual({ version: 2, hash: before?.hash, state: 'new' });
      expect(await store().journal.read(run, 0, 9)).toHaveLength(2);
    });

    it('does nothing if the run has changed since', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b')], { rows: [row(run, 'kept')] });
      const derived = { head: batchOf(run, [], null).head, rows: [], cache: { format: 1, state: '' } };
      expect(await store().projection.replaceDerived(run, 1, derived)).toBe(false);
      expect(await store().projection.replaceDerived(newRun(), 0, derived)).toBe(false);
      expect(await store().projection.recall(run, ['kept'])).toHaveLength(1);
    });
  });
}
