import { describe, expect, it } from 'vitest';
import type { Tombstone } from '../journal.ts';
import { at, batchOf, follow, type Get, headOf, newRun, note, ofRun, put, row, withWords } from './fixture.ts';

/** `Journal.drop` and `Journal.dropped`. */
export function dropSuite(store: Get, other: Get): void {
  const tombstoneOf = (run: string, { version, hash }: { version: number; hash: string }): Tombstone => ({
    ...{ run, workspace: 'w', version, hash, at: at(version + 60), reason: 'the customer left\u0000' },
    by: { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal' },
  });
  const bytes = { sha256: 'a'.padEnd(64, '0'), encoding: 'plain', size: 1, data: Uint8Array.of(7) } as const;

  /** A run with something in every table. */
  async function fill(run: string, text = `xylophone${run.replace('-', '')}`): Promise<Tombstone> {
    await put(store(), run, [note('one'), note('two')], {
      key: 'k',
      rows: [row(run, 'N-1', { text, tags: ['t'], alias: 'first' })],
      cache: { format: 7, state: '{}' },
      values: { put: [bytes], drop: [] },
    });
    await store().presence.beat(run, 'S-1', at(9));
    return tombstoneOf(run, (await headOf(store(), run)) ?? expect.fail());
  }

  /** All that any method of the ports tells of a run. */
  async function told({ journal, projection, presence }: ReturnType<Get>, run: string): Promise<unknown[]> {
    return [
      await journal.heads({ run }),
      await journal.read(run, 0, 10),
      await journal.recorded(run, 'k'),
      await journal.value(run, bytes.sha256),
      await projection.cached(run, 7),
      await projection.recall(run, ['N-1', 'first']),
      await projection.rows(run, { kind: 'note', limit: 9 }),
      await projection.rows(run, { kind: 'note', tag: 't', limit: 9 }),
      await projection.count(run, 'note'),
      await withWords({ projection }, [run], [`xylophone${run.replace('-', '')}`], 9),
      [...(await presence.beats(run))],
    ];
  }

  describe('drop', () => {
    it('removes everything of the run and nothing of others, and keeps the tombstone', async () => {
      const [run, neighbour] = [newRun(), newRun()];
      await fill(neighbour);
      const before = JSON.stringify(await told(store(), neighbour));
      const tombstone = await fill(run);
      expect(await store().journal.dropped({ runs: [run] })).toEqual([]);
      expect(await store().journal.drop(tombstone)).toBe(true);
      for (const one of [store(), other()]) {
        expect(await told(one, run)).toEqual([[], [], [], null, null, [], [], [], {}, [], []]);
        expect(await one.journal.dropped({ runs: [run] })).toEqual([tombstone]);
      }
      expect(JSON.stringify(await told(other(), neighbour))).toBe(before);
      expect(await store().inspect()).toEqual([]);
    });

    it('refuses if the head is another event, and changes nothing', async () => {
      const run = newRun();
      const early = await fill(run);
      await put(other(), run, [note('three')]);
      const before = JSON.stringify(await told(store(), run));
      expect(await store().journal.drop(early)).toBe(false);
      const head = (await headOf(store(), run)) ?? expect.fail();
      expect(await store().journal.drop({ ...tombstoneOf(run, head), hash: early.hash })).toBe(false);
      expect(JSON.stringify(await told(store(), run))).toBe(before);
      expect(await store().journal.dropped({ runs: [run] })).toEqual([]);
    });

    it('is done once, also if two processes do it at the same time', async () => {
      const run = newRun();
      const tombstone = await fill(run);
      const both = [tombstone, { ...tombstone, reason: 'again' }];
      expect(await Promise.all(both.map((one, index) => [store, other][index]?.().journal.drop(one)))).toEqual([
        true,
        true,
      ]);
      expect(await store().journal.dropped({ runs: [run] })).toHaveLength(1);
    });

    it('lists tombstones within a workspace or runs, the last one first', async () => {
      const [first, second, third] = [newRun(), newRun(), newRun()];
      const tombstones = [
        { ...tombstoneOf(first, { version: 5, hash: 'a' }), workspace: `of ${first}` },
        { ...tombstoneOf(second, { version: 9, hash: 'b' }), workspace: `of ${first}` },
        tombstoneOf(third, { version: 7, hash: 'c' }),
      ];
      // Of runs that are not there, as a repair does.
      for (const one of tombstones) expect(await store().journal.drop(one)).toBe(true);
      const runsOf = async (within: object) => (await other().journal.dropped(within)).map(({ run }) => run);
      expect(await runsOf({ workspaces: [`of ${first}`] })).toEqual([second, first]);
      expect(await runsOf({ runs: [first, third] })).toEqual([third, first]);
      expect(await runsOf({ runs: [third], workspaces: [`of ${first}`] })).toEqual([]);
      expect(await runsOf({ runs: [] })).toEqual([]);
      expect(await runsOf({})).toEqual(expect.arrayContaining([first, second, third]));
    });

    it('leaves a feed in which nothing that is recorded later is missed', async () => {
      const [run, next] = [newRun(), newRun()];
      const tombstone = await fill(run);
      const { cursor } = await follow(store(), null, 500, (events) => events.filter(ofRun(run)).length === 2);
      expect(await store().journal.drop(tombstone)).toBe(true);
      const { cursor: now } = await other().journal.feed('now', 1);
      await put(other(), next, [note('after')]);
      for (const from of [cursor, now]) {
        const { events } = await follow(store(), from, 500, (found) => found.some(ofRun(next)));
        expect(events.filter(ofRun(next))).toHaveLength(1);
        expect(events.filter(ofRun(run))).toEqual([]);
      }
      const all = await follow(store(), null, 500, (found) => found.some(ofRun(next)));
      expect(all.events.filter(ofRun(run))).toEqual([]);
    });

    it('lets another run begin under the same name', async () => {
      const run = newRun();
      const tombstone = await fill(run);
      await store().journal.drop(tombstone);
      const stale = batchOf(run, [note('late')], tombstone);
      expect(await other().journal.append([stale])).toEqual({
        ...{ outcome: 'conflict', run, version: 0, reason: 'other_history' },
      });
      await put(other(), run, [note('new')], { key: 'k' });
      expect(await headOf(store(), run)).toMatchObject({ version: 1 });
      expect(await store().journal.dropped({ runs: [run] })).toEqual([tombstone]);
    });

    it('is undone with the batch that brings the run back, or not at all', async () => {
      const run = newRun();
      const tombstone = await fill(run);
      await store().journal.drop(tombstone);
      const back = batchOf(run, [note('one')], null, { revives: true });
      expect(await store().journal.append([{ ...back, expected: 3 }])).toMatchObject({ outcome: 'conflict' });
      expect(await other().journal.dropped({ runs: [run] })).toEqual([tombstone]);
      expect(await store().journal.append([back])).toEqual({ outcome: 'appended' });
      expect(await other().journal.dropped({ runs: [run] })).toEqual([]);
      const [kept] = await store().journal.dropped({});
      expect(kept?.run).not.toBe(run);
    });
  });
}
