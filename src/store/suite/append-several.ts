import { describe, expect, it } from 'vitest';
import { GENESIS } from '../../core/journal/chain.ts';
import { ERASED } from '../../core/text.ts';
import {
  batchOf,
  chainProblems,
  follow,
  type Get,
  headOf,
  movedOn,
  newRun,
  note,
  ofRun,
  otherHistory,
  put,
  row,
  withWords,
} from './fixture.ts';

/** Several batches in one append: all or none. */
export function appendingSeveral(store: Get, other: Get): void {
  describe('append of several batches', () => {
    it('records batches of several runs at once', async () => {
      const [a, b] = [newRun(), newRun()];
      await put(store(), b, [note('b1')]);
      const first = batchOf(a, [note('a1'), note('a2')], null, { key: 'k', rows: [row(a, 'N-1', { text: 'alpha' })] });
      const second = batchOf(b, [note('b2')], await headOf(store(), b), { cache: { format: 1, state: 'two' } });
      expect(await store().journal.append([second, first])).toEqual({ outcome: 'appended' });
      expect(await other().journal.read(a, 0, 9)).toEqual(first.events);
      expect(chainProblems(await other().journal.read(b, 0, 9))).toEqual([]);
      expect(await withWords(other(), [a], ['alpha'], 9)).toHaveLength(1);
      expect(await other().projection.cached(b, 1)).toMatchObject({ version: 2, state: 'two' });
      const { events } = await follow(other(), null, 500, (seen) => seen.filter(ofRun(a)).length >= 2);
      expect(events.filter(ofRun(a)).map(({ version }) => version)).toEqual([1, 2]);
    });

    it('records batches of one run in the order given, each with its key', async () => {
      const run = newRun();
      const first = batchOf(run, [note('a'), note('b')], null, { key: 'one', rows: [row(run, 'N-1')] });
      const second = batchOf(run, [note('c')], first.events.at(-1) ?? null, {
        key: 'two',
        rows: [row(run, 'N-1', { version: 3, status: 'closed' })],
        head: { ...first.head, title: 'Later' },
      });
      // Batches without events keep the version, hash and saved state that those before them gave the run.
      const third = { run, expected: 3, events: [], rows: [], cache: { format: 1, state: 'third' } };
      const fourth = { run, expected: 3, events: [], rows: [] };
      expect(await store().journal.append([first, second, third, fourth])).toEqual({ outcome: 'appended' });
      const { hash = '' } = second.events[0] ?? {};
      expect(await store().projection.cached(run, 1)).toEqual({ version: 3, hash, state: 'third' });
      expect(await store().journal.read(run, 0, 9)).toEqual([...first.events, ...second.events]);
      expect(await store().journal.recorded(run, 'two')).toEqual(second.events);
      expect(await store().projection.count(run, 'note')).toEqual({ closed: 1 });
      expect(await headOf(store(), run)).toMatchObject({ version: 3, hash, title: 'Later' });
    });

    it('writes nothing of any batch when one conflicts, and names its run', async () => {
      const [a, b] = [newRun(), newRun()];
      await put(store(), b, [note('b1')]);
      const before = await headOf(store(), b);
      for (const [good, stale] of [
        [a, b],
        [b, a],
      ] as const) {
        const first = batchOf(good, [note('lost')], await headOf(store(), good), {
          rows: [row(good, 'N-9', { text: 'lost' })],
          cache: { format: 1, state: 'lost' },
        });
        const second = batchOf(stale, [note('late')], { version: 7, hash: GENESIS });
        const version = stale === b ? 1 : 0;
        expect(await other().journal.append([first, second])).toEqual(otherHistory(stale, version));
        expect(await other().journal.append([second, first])).toEqual(otherHistory(stale, version));
      }
      expect(await headOf(store(), a)).toBeNull();
      expect(await store().journal.read(a, 0, 9)).toEqual([]);
      expect(await headOf(store(), b)).toEqual(before);
      expect(await store().journal.read(b, 0, 9)).toHaveLength(1);
      expect(await withWords(store(), [a, b], ['lost'], 9)).toEqual([]);
      expect(await store().projection.cached(b, 1)).toBeNull();
    });

    it('refuses a second batch of a run that does not continue the first', async () => {
      const run = newRun();
      const first = batchOf(run, [note('a')], null);
      const second = batchOf(run, [note('b')], null);
      expect(await store().journal.append([first, second])).toEqual(movedOn(run, 0));
      expect(await headOf(store(), run)).toBeNull();
    });

    it('refuses a second batch that continues another event than the first one ends with', async () => {
      const run = newRun();
      const first = batchOf(run, [note('a')], null);
      const second = batchOf(run, [note('b')], { version: 1, hash: 'f'.repeat(64) });
      expect(await store().journal.append([first, second])).toEqual(otherHistory(run, 0));
      expect(await headOf(store(), run)).toBeNull();
    });

    it('writes nothing of any batch when one was recorded before, and returns its events', async () => {
      const [a, b] = [newRun(), newRun()];
      const known = batchOf(b, [note('b1')], null, { key: 'once' });
      await store().journal.append([known]);
      const fresh = batchOf(a, [note('a1')], null, { key: 'once' });
      const again = batchOf(b, [note('b1 again')], await headOf(store(), b), { key: 'once' });
      expect(await other().journal.append([fresh, again])).toEqual({
        outcome: 'replayed',
        run: b,
        events: known.events,
      });
      expect(await store().journal.read(a, 0, 9)).toEqual([]);
      expect(await store().journal.read(b, 0, 9)).toEqual(known.events);
      const next = batchOf(b, [note('b2')], await headOf(store(), b));
      const twice = batchOf(b, [note('b1 again')], next.events.at(-1) ?? null, { key: 'once' });
      expect(await store().journal.append([next, twice])).toMatchObject({ outcome: 'replayed', run: b });
      expect(await store().journal.read(b, 0, 9)).toEqual(known.events);
    });

    it('writes nothing of any batch when one cannot be written', async () => {
      const [a, b] = [newRun(), newRun()];
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const broken = batchOf(b, [note('b1')], null, { rows: [row(b, 'N-2', { doc: cyclic })] });
      await expect(store().journal.append([batchOf(a, [note('a1')], null), broken])).rejects.toThrow();
      expect(await headOf(store(), a)).toBeNull();
    });

    it('loses nothing when several write the same runs in different orders at once', async () => {
      const names = [newRun(), newRun(), newRun()];
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        const mine = writer % 2 === 0 ? store() : other();
        const order = writer % 3 === 0 ? names : names.toReversed();
        for (let count = 0; count < 4; count++) {
          let done = false;
          while (!done) {
            const batches = [];
            for (const run of order) batches.push(batchOf(run, [note(`${writer}.${count}`)], await headOf(mine, run)));
            done = (await mine.journal.append(batches)).outcome === 'appended';
          }
        }
      });
      await Promise.all(writers);
      const texts = async (run: string) =>
        (await store().journal.read(run, 0, 99)).map(({ body }) => (body as { text: string }).text);
      const [first, ...others] = await Promise.all(names.map(texts));
      expect(first).toHaveLength(24);
      for (const other of others) expect(other).toEqual(first);
    });

    it('erases in one batch what was recorded before it or by the batch before it', async () => {
      const [a, b] = [newRun(), newRun()];
      const erasure = (version: number, after: { version: number; hash: string } | null) =>
        batchOf(
          a,
          [{ type: 'text.erased', basis: 'verified', body: { versions: [version], reason: 'leaked' } }],
          after,
          { erase: [{ version, body: note(ERASED).body }] },
        );
      await put(store(), a, [note('hunter3secret')]);
      const first = erasure(1, await headOf(store(), a));
      const second = batchOf(a, [note('hunter4secret')], first.events[0] ?? null);
      const third = erasure(3, second.events[0] ?? null);
      const beside = batchOf(b, [note('b')], null);
      expect(await store().journal.append([first, beside, second, third])).toEqual({ outcome: 'appended' });
      const events = await other().journal.read(a, 0, 9);
      expect(JSON.stringify(events)).not.toMatch(/hunter[34]secret/);
      expect(chainProblems(events)).toEqual([]);
      expect(await other().journal.read(b, 0, 9)).toHaveLength(1);
    });
  });
}
