import { describe, expect, it } from 'vitest';
import type { StoredValue } from '../../core/journal/value.ts';
import { ERASED } from '../../core/text.ts';
import { batchOf, type Get, headOf, newRun, note, put } from './fixture.ts';

/** The bytes beside the journal: `Batch.values` and `Journal.value`. */
export function valuesSuite(store: Get, other: Get): void {
  const valueNamed = (name: string, bytes: readonly number[] = [1, 2, 3]): StoredValue => ({
    sha256: name.padEnd(64, '0'),
    encoding: 'plain',
    size: bytes.length,
    data: Uint8Array.from(bytes),
  });
  const read = async (get: Get, run: string, { sha256 }: StoredValue): Promise<number[] | null> => {
    const value = await get().journal.value(run, sha256);
    return value && [...value.data];
  };

  describe('values', () => {
    it('come back byte for byte, with what is said of them, and belong to their run', async () => {
      const [run, another] = [newRun(), newRun()];
      const every = valueNamed(
        'a',
        Array.from({ length: 70_000 }, (_, index) => index % 256),
      );
      const empty: StoredValue = { ...valueNamed('b', []), encoding: 'deflate', size: 64 * 1024 * 1024 };
      await put(store(), run, [note('n')], { values: { put: [every, empty], drop: [] } });
      const stored = await other().journal.value(run, every.sha256);
      expect({ ...stored, data: null }).toEqual({ ...every, data: null });
      expect(Buffer.compare(stored?.data ?? Buffer.of(), every.data)).toBe(0);
      expect(await other().journal.value(run, empty.sha256)).toMatchObject({ encoding: 'deflate', size: 67_108_864 });
      expect(await read(other, run, empty)).toEqual([]);
      expect(await read(store, another, every)).toBeNull();
      expect(await read(store, run, valueNamed('c'))).toBeNull();
    });

    it('are written and deleted with the events of their batch, or not at all', async () => {
      const run = newRun();
      const [first, second] = [valueNamed('1'), valueNamed('2')];
      await put(store(), run, [note('a')], { values: { put: [first], drop: [] } });
      const stale = batchOf(run, [note('b')], null, { values: { put: [second], drop: [first.sha256] } });
      expect(await store().journal.append([stale])).toMatchObject({ outcome: 'conflict' });
      expect([await read(other, run, first), await read(other, run, second)]).toEqual([[1, 2, 3], null]);
      await put(store(), run, [note('b')], { values: { put: [second], drop: [first.sha256] } });
      expect([await read(other, run, first), await read(other, run, second)]).toEqual([null, [1, 2, 3]]);
    });

    it('are stored once where the content is equal', async () => {
      const run = newRun();
      await put(store(), run, [note('a')], { values: { put: [valueNamed('1', [7])], drop: [] } });
      await put(store(), run, [note('b')], { values: { put: [valueNamed('1', [7])], drop: [] } });
      expect(await read(other, run, valueNamed('1'))).toEqual([7]);
    });

    it('of several batches are as the last batch leaves them', async () => {
      const run = newRun();
      const [gone, back, kept] = [valueNamed('1'), valueNamed('2'), valueNamed('3')];
      await put(store(), run, [note('a')], { values: { put: [back], drop: [] } });
      const one = batchOf(run, [note('b')], await headOf(store(), run), {
        values: { put: [gone, kept], drop: [back.sha256] },
      });
      const two = batchOf(run, [note('c')], one.events.at(-1) ?? null, {
        values: { put: [back], drop: [gone.sha256] },
      });
      expect(await store().journal.append([one, two])).toEqual({ outcome: 'appended' });
      expect(await Promise.all([gone, back, kept].map((value) => read(other, run, value)))).toEqual([
        null,
        [1, 2, 3],
        [1, 2, 3],
      ]);
    });

    it('go with an erasure', async () => {
      const run = newRun();
      const value = valueNamed('1');
      await put(store(), run, [note('a')], { values: { put: [value], drop: [] } });
      await put(store(), run, [note('b')], {
        erase: [{ version: 1, body: { id: 'N-1', text: ERASED, kind: 'worklog' } }],
        values: { put: [], drop: [value.sha256] },
      });
      expect(await read(other, run, value)).toBeNull();
    });
  });
}
