import { describe, expect, it } from 'vitest';
import { Fault } from '../../core/fault.ts';
import { GENESIS } from '../../core/journal/chain.ts';
import type { Event } from '../../core/journal/event.ts';
import { ERASED } from '../../core/text.ts';
import type { Store } from '../store.ts';
import { appendingSeveral } from './append-several.ts';
import {
  at,
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

/** The page `journal.ts`, sentence by sentence. */
export function journalSuite(store: Get, other: Get): void {
  appending(store, other);
  appendingSeveral(store, other);
  feeding(store, other);
  readingHeads(store);
  erasing(store, other);
}

function appending(store: Get, other: Get): void {
  describe('append and read', () => {
    it('keeps the head columns that a batch leaves out', async () => {
      const run = newRun();
      await put(store(), run, [note('a')]);
      const before = await headOf(store(), run);
      const { head: _, ...batch } = batchOf(run, [note('b')], before);
      expect(await store().journal.append([batch])).toEqual({ outcome: 'appended' });
      const last = batch.events.at(-1);
      expect(await headOf(store(), run)).toEqual({ ...before, version: 2, hash: last?.hash, updatedAt: last?.at });
    });

    it('returns exactly what was recorded', async () => {
      const run = newRun();
      const texts = [
        'plain',
        'naïve ☃ 𝄞 עברית 中文',
        'a\u0000b',
        'half \ud83d pair \ude00',
        '\u001amark',
        '"quoted" \\ \n\t\u2028',
        'x'.repeat(1024 * 1024),
      ];
      const batch = batchOf(run, texts.map(note), null, { key: 'k\ud800\u0000', session: 'S-1' });
      expect(await store().journal.append([batch])).toEqual({ outcome: 'appended' });
      const events = await other().journal.read(run, 0, 100);
      expect(events).toEqual(batch.events);
      expect(chainProblems(events)).toEqual([]);
    });

    it('keeps the evidence of an event, and that an event of version 0.1 has none', async () => {
      const run = newRun();
      const batch = batchOf(run, [note('a'), note('b'), note('c')], null);
      const [first, second, third] = batch.events as [Event, Event, Event];
      const { evidence: _, ...old } = first;
      const events = [old as Event, { ...second, evidence: 'token:zed\u0000' as const }, third];
      expect(await store().journal.append([{ ...batch, events }])).toEqual({ outcome: 'appended' });
      expect(await other().journal.read(run, 0, 100)).toEqual(events);
      const page = await store().journal.feed(null, 10_000, { runs: [run] });
      expect(page.events).toEqual(events);
    });

    it('reads after a version, up to a limit', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b'), note('c'), note('d')]);
      expect((await store().journal.read(run, 1, 2)).map(({ version }) => version)).toEqual([2, 3]);
      expect(await store().journal.read(run, 4, 2)).toEqual([]);
      expect(await store().journal.read('unknown', 0, 2)).toEqual([]);
    });

    it('refuses a batch at another version and writes nothing of it', async () => {
      const run = newRun();
      await put(store(), run, [note('a')]);
      const before = await headOf(store(), run);
      const stale = batchOf(run, [note('late'), note('later')], null, {
        rows: [row(run, 'N-9', { text: 'late' })],
        cache: { format: 1, state: 'late' },
      });
      expect(await other().journal.append([stale])).toEqual(movedOn(run, 1));
      const ahead = batchOf(run, [note('early')], { version: 7, hash: GENESIS });
      expect(await other().journal.append([ahead])).toEqual(otherHistory(run, 1));
      const unknown = newRun();
      expect(await other().journal.append([{ ...ahead, run: unknown }])).toEqual(otherHistory(unknown, 0));
      expect(await store().journal.read(run, 0, 9)).toHaveLength(1);
      expect(await store().projection.recall(run, ['N-9'])).toEqual([]);
      expect(await withWords(store(), [run], ['late'], 9)).toEqual([]);
      expect(await store().projection.cached(run, 1)).toBeNull();
      expect(await headOf(store(), run)).toEqual(before);
    });

    it('refuses a batch that continues another event than the head, and writes nothing of it', async () => {
      const [run, missing] = [newRun(), newRun()];
      await put(store(), run, [note('a'), note('b')]);
      const before = await headOf(store(), run);
      const [first, second] = await store().journal.read(run, 0, 9);
      const foreign = batchOf(run, [note('c')], { version: 2, hash: 'f'.repeat(64) }, { rows: [row(run, 'N-9')] });
      expect(await other().journal.append([foreign])).toEqual(otherHistory(run, 2));
      const swapped = batchOf(run, [note('c')], { version: 2, hash: first?.hash ?? '' });
      expect(await other().journal.append([swapped])).toEqual(otherHistory(run, 2));
      const restored = batchOf(run, [note('z')], { version: 5, hash: 'e'.repeat(64) });
      expect(await other().journal.append([restored])).toEqual(otherHistory(run, 2));
      const older = batchOf(run, [note('late')], { version: 1, hash: first?.hash ?? '' });
      expect(await other().journal.append([older])).toEqual(movedOn(run, 2));
      const unbegun = batchOf(missing, [note('x')], { version: 0, hash: 'd'.repeat(64) });
      expect(await other().journal.append([unbegun])).toEqual(otherHistory(missing, 0));
      const empty = { run, expected: 2, events: [], rows: [row(run, 'N-9')] };
      expect(await other().journal.append([{ ...empty, after: first?.hash ?? '' }])).toEqual(otherHistory(run, 2));
      expect(await store().projection.recall(run, ['N-9'])).toEqual([]);
      expect(await headOf(store(), run)).toEqual(before);
      expect(await headOf(store(), missing)).toBeNull();
      expect(await store().journal.read(run, 0, 9)).toHaveLength(2);
      expect(await other().journal.append([{ ...empty, after: second?.hash ?? '' }])).toEqual({ outcome: 'appended' });
      expect(await store().projection.recall(run, ['N-9'])).toHaveLength(1);
    });

    it('checks the key before the version', async () => {
      const run = newRun();
      const batch = batchOf(run, [note('a'), note('b')], null, { key: 'once' });
      await store().journal.append([batch]);
      await put(store(), run, [note('c')], { key: 'other' });
      const again = batchOf(run, [note('a again')], null, { key: 'once', rows: [row(run, 'N-2')] });
      expect(await other().journal.append([again])).toEqual({ outcome: 'replayed', run, events: batch.events });
      expect(await store().journal.read(run, 0, 9)).toHaveLength(3);
      expect(await store().projection.recall(run, ['N-2'])).toEqual([]);
      const elsewhere = newRun();
      expect(await store().journal.append([batchOf(elsewhere, [note('x')], null, { key: 'once' })])).toEqual({
        outcome: 'appended',
      });
    });

    it('records a key once when many try at the same time', async () => {
      const run = newRun();
      await put(store(), run, [note('first')]);
      const head = await headOf(store(), run);
      const tries = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? store() : other()).journal.append([batchOf(run, [note('same')], head, { key: 'k' })]),
        ),
      );
      expect(tries.map(({ outcome }) => outcome).sort()).toEqual([
        'appended',
        ...Array.from({ length: 11 }, () => 'replayed'),
      ]);
      expect(await store().journal.read(run, 0, 99)).toHaveLength(2);
    });

    it('writes nothing of a batch that cannot be written completely', async () => {
      const run = newRun();
      await put(store(), run, [note('a')], { rows: [row(run, 'N-1', { text: 'before' })] });
      const before = await headOf(store(), run);
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const batch = batchOf(run, [note('b')], before, {
        rows: [row(run, 'N-1', { text: 'after' }), row(run, 'N-2', { doc: cyclic })],
      });
      await expect(store().journal.append([batch])).rejects.toThrow();
      expect(await headOf(store(), run)).toEqual(before);
      expect(await store().journal.read(run, 0, 9)).toHaveLength(1);
      expect(await withWords(store(), [run], ['before'], 9)).toHaveLength(1);
    });

    it('loses nothing when many write one run at once', async () => {
      const run = newRun();
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        const mine = writer % 2 === 0 ? store() : other();
        for (let count = 0; count < 5; count++) {
          let done = false;
          while (!done) {
            const batch = batchOf(run, [note(`${writer}.${count}`)], await headOf(mine, run));
            done = (await mine.journal.append([batch])).outcome === 'appended';
          }
        }
      });
      await Promise.all(writers);
      const events = await store().journal.read(run, 0, 999);
      expect(chainProblems(events)).toEqual([]);
      const texts = events.map((event) => (event.type === 'note.added' ? event.body.text : ''));
      const expected = Array.from({ length: 40 }, (_, index) => `${Math.floor(index / 5)}.${index % 5}`);
      expect(texts.sort()).toEqual(expected.sort());
    });

    it('accepts appends to many runs at once', async () => {
      const names = Array.from({ length: 16 }, newRun);
      await Promise.all(
        names.map(async (run, index) => {
          for (let count = 0; count < 4; count++)
            await put(index % 2 === 0 ? store() : other(), run, [note(`${count}`)]);
        }),
      );
      for (const run of names) expect((await headOf(store(), run))?.version).toBe(4);
    });
  });
}

function feeding(store: Get, other: Get): void {
  describe('feed', () => {
    it('returns every event once, page by page, while others write', async () => {
      const names = Array.from({ length: 6 }, newRun);
      const start = (await store().journal.feed('now', 1)).cursor;
      const writing = names.map(async (run, index) => {
        for (let count = 0; count < 8; count++)
          await put(index % 2 === 0 ? store() : other(), run, [note('a'), note('b')]);
      });
      const mine = (events: Event[]) => events.filter(({ run }) => names.includes(run));
      const { events, cursor } = await follow(other(), start, 5, (seen) => mine(seen).length >= 96);
      await Promise.all(writing);
      const seen = mine(events);
      expect(new Set(seen.map(({ run, version }) => `${run}/${version}`)).size).toBe(96);
      expect(seen).toHaveLength(96);
      for (const run of names) {
        expect(seen.filter(ofRun(run)).map(({ version }) => version)).toEqual(
          Array.from({ length: 16 }, (_, index) => index + 1),
        );
      }
      const rest = await store().journal.feed(cursor, 10);
      expect(mine(rest.events)).toEqual([]);
      const again = await follow(store(), null, 7, (all) => mine(all).length >= 96);
      expect(mine(again.events)).toEqual(seen);
    });

    it('starts from now', async () => {
      const run = newRun();
      await put(store(), run, [note('before')]);
      await follow(store(), null, 50, (events) => events.some(ofRun(run)));
      const now = await store().journal.feed('now', 10);
      expect(now.events).toEqual([]);
      await put(store(), run, [note('after')]);
      const { events } = await follow(store(), now.cursor, 10, (seen) => seen.some(ofRun(run)));
      expect(events.filter(ofRun(run)).map(({ version }) => version)).toEqual([2]);
    });

    it('refuses a cursor that is not its own', async () => {
      for (const cursor of ['', 'yesterday', "1'; --", '-1', '1:2:3']) {
        await expect(store().journal.feed(cursor, 1)).rejects.toThrow(Fault);
      }
    });
  });
}

function erasing(store: Get, other: Get): void {
  describe('erase', () => {
    it('removes the text everywhere, and the chain still verifies', async () => {
      const run = newRun();
      const secret = 'hunter2secret';
      await put(store(), run, [note('harmless'), note(`the password is ${secret}`)], {
        rows: [
          row(run, 'N-2', {
            text: `the password is ${secret}`,
            doc: { text: `the password is ${secret}` },
            version: 2,
          }),
        ],
        cache: { format: 1, state: secret },
      });
      const erased = { ...note(ERASED).body };
      await put(store(), run, [{ type: 'text.erased', basis: 'verified', body: { versions: [2], reason: 'leaked' } }], {
        erase: [{ version: 2, body: erased }],
        rows: [row(run, 'N-2', { text: ERASED, doc: { text: ERASED }, version: 2 })],
        cache: { format: 1, state: 'clean' },
      });
      const events = await other().journal.read(run, 0, 9);
      expect(events[1]?.body).toEqual(erased);
      expect(JSON.stringify(events)).not.toContain(secret);
      expect(chainProblems(events)).toEqual([]);
      // Without the event that records the erasure, the changed body is a problem.
      expect(chainProblems(events.slice(0, 2))).toHaveLength(1);
      expect(await withWords(store(), [run], [secret], 9)).toEqual([]);
      expect(JSON.stringify(await store().projection.recall(run, ['N-2']))).not.toContain(secret);
      const { events: fed } = await follow(other(), null, 500, (seen) => seen.filter(ofRun(run)).length >= 3);
      expect(JSON.stringify(fed.filter(ofRun(run)))).not.toContain(secret);
    });
  });
}

function readingHeads(store: Get): void {
  describe('heads', () => {
    it('lists heads by run, workspace and status, last changed first', async () => {
      const [a, b, c] = [newRun(), newRun(), newRun()];
      const workspace = `w-${a}\u0000\ud800`;
      const head = batchOf(a, [], null).head;
      await put(store(), a, [note('1')], { head: { ...head, workspace, title: 'A \u0000 \udfff title' } });
      await put(store(), b, [note('1')], { head: { ...head, workspace, status: 'completed' } });
      await put(store(), c, [note('1')], { head: { ...head, workspace } });
      await put(store(), a, [note('2')], { head: { ...head, workspace, title: 'Changed \u0000 \udfff' } });
      const runsOf = async (filter: Parameters<Store['journal']['heads']>[0]) =>
        (await store().journal.heads(filter)).map(({ run }) => run);
      expect(await runsOf({ workspace })).toEqual([a, c, b]);
      expect(await runsOf({ workspace, status: 'active' })).toEqual([a, c]);
      expect(await runsOf({ workspace, limit: 1 })).toEqual([a]);
      expect(await runsOf({ run: b })).toEqual([b]);
      expect(await runsOf({ run: 'unknown' })).toEqual([]);
      expect((await runsOf({})).slice(0, 2)).toEqual([a, c]);
      const last = (await store().journal.read(a, 1, 1))[0];
      expect(await headOf(store(), a)).toEqual({
        ...head,
        workspace,
        title: 'Changed \u0000 \udfff',
        run: a,
        version: 2,
        hash: last?.hash,
        openedAt: at(1),
        updatedAt: at(2),
      });
    });
  });
}
