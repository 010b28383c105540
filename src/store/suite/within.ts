import { describe, expect, it } from 'vitest';
import type { Within } from '../journal.ts';
import { batchOf, type Get, headOf, newRun, note, put } from './fixture.ts';

/** What a reader that may see only a part of the store gets. */
export function withinSuite(store: Get, other: Get): void {
  /** Three runs: two of one workspace, one of another. */
  async function threeRuns() {
    const [a, b, c] = [newRun(), newRun(), newRun()];
    const [mine, others] = [`w-${a}\u0000`, `w-${c}`];
    const { cursor } = await store().journal.feed('now', 1);
    const { head } = batchOf(a, [], null);
    for (const [run, workspace] of [
      [a, mine],
      [c, others],
      [b, mine],
    ] as const) {
      await put(store(), run, [note('first'), note('second')], { head: { ...head, workspace } });
    }
    return { a, b, c, mine, others, cursor };
  }

  describe('within', () => {
    it('lists only heads of the given workspaces and runs', async () => {
      const { a, b, c, mine, others } = await threeRuns();
      const list = async (within: Within, rest = {}) =>
        (await other().journal.heads({ ...within, ...rest })).map(({ run }) => run);
      expect(await list({ workspaces: [mine] })).toEqual([b, a]);
      expect(await list({ workspaces: [mine, others] })).toEqual([b, c, a]);
      expect(await list({ workspaces: [mine, others], runs: [c, 'nobody'] })).toEqual([c]);
      expect(await list({ workspaces: [mine], runs: [c] })).toEqual([]);
      expect(await list({ workspaces: [mine] }, { run: c })).toEqual([]);
      expect(await list({ workspaces: [mine] }, { run: a, status: 'active' })).toEqual([a]);
      expect(await list({ workspaces: [mine] }, { workspace: others })).toEqual([]);
      expect(await list({ workspaces: [mine] }, { limit: 1 })).toEqual([b]);
      expect(await list({ workspaces: [] })).toEqual([]);
      expect(await list({ runs: [] })).toEqual([]);
    });

    it('feeds only their events, each once, and passes the others over', async () => {
      const { a, b, c, mine, others, cursor } = await threeRuns();
      for (const [within, runs] of [
        [{ workspaces: [mine] }, [a, a, b, b]],
        [{ workspaces: [others] }, [c, c]],
        [{ workspaces: [mine, others], runs: [b] }, [b, b]],
      ] as const) {
        // What was recorded may reach the feed a moment later: the end is where all three runs can be seen.
        const end = await endAfter(cursor, [a, b, c]);
        const seen: string[] = [];
        for (let from = cursor; from !== end; ) {
          const page = await other().journal.feed(from, 1, within);
          expect(page.cursor).not.toBe(from);
          seen.push(...page.events.map(({ run }) => run));
          from = page.cursor;
        }
        expect(seen).toEqual(runs);
        expect(await other().journal.feed(end, 5, { workspaces: [] })).toMatchObject({ events: [] });
      }
    });

    it('reads heads again as they are after a run was recorded in', async () => {
      const { a, mine } = await threeRuns();
      await put(other(), a, [note('third')], { head: { ...batchOf(a, [], null).head, workspace: mine } });
      expect((await store().journal.heads({ workspaces: [mine], run: a }))[0]).toEqual(await headOf(other(), a));
    });
  });

  /** The cursor right after the last of two events of each run. */
  async function endAfter(start: string, runs: readonly string[]): Promise<string> {
    const wanted = new Set(runs.flatMap((run) => [`${run} 1`, `${run} 2`]));
    let from = start;
    while (wanted.size > 0) {
      const page = await store().journal.feed(from, 1);
      for (const { run, version } of page.events) wanted.delete(`${run} ${version}`);
      from = page.cursor;
    }
    return from;
  }
}
