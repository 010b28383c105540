import { describe, expect, it } from 'vitest';
import { Fault } from '../../core/fault.ts';
import { GENESIS } from '../../core/journal/chain.ts';
import type { Event } from '../../core/journal/event.ts';
import { ERASED } from '../../core/text.ts';
import { batchOf, chainProblems, follow, type Get, headOf, newRun, note, ofRun, put, record } from './fixture.ts';

export function appending(store: Get, other: Get): void {
  describe('append and read', () => {
    it('keeps what the head says where a batch leaves it out', async () => {
      const run = newRun();
      await put(store(), run, [note('a')]);
      const before = await headOf(store(), run);
      const { head: _, ...batch } = batchOf(run, [note('b')], before);
      expect(await store().append(batch)).toEqual({ outcome: 'appended' });
      const last = batch.events.at(-1);
      expect(await headOf(store(), run)).toEqual({ ...before, version: 2, hash: last?.hash, updatedAt: last?.at });
    });

    it('gives back exactly what was recorded', async () => {
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
      expect(await store().append(batch)).toEqual({ outcome: 'appended' });
      const events = await other().read(run, 0, 100);
      expect(events).toEqual(batch.events);
      expect(chainProblems(events)).toEqual([]);
    });

    it('reads after a version, up to a limit', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b'), note('c'), note('d')]);
      expect((await store().read(run, 1, 2)).map(({ version }) => version)).toEqual([2, 3]);
      expect(await store().read(run, 4, 2)).toEqual([]);
      expect(await store().read('nobody', 0, 2)).toEqual([]);
    });

    it('refuses a batch on another version and writes nothing of it', async () => {
      const run = newRun();
      await put(store(), run, [note('a')]);
      const before = await headOf(store(), run);
      const stale = batchOf(run, [note('late'), note('later')], null, {
        rows: [record(run, 'N-9', { text: 'late' })],
        cache: { format: 1, state: 'late' },
      });
      expect(await other().append(stale)).toEqual({ outcome: 'conflict', version: 1 });
      const ahead = batchOf(run, [note('early')], { version: 7, hash: GENESIS });
      expect(await other().append(ahead)).toEqual({ outcome: 'conflict', version: 1 });
      expect(await other().append({ ...ahead, run: newRun() })).toEqual({ outcome: 'conflict', version: 0 });
      expect(await store().read(run, 0, 9)).toHaveLength(1);
      expect(await store().recall(run, ['N-9'])).toEqual([]);
      expect(await store().search([run], ['late'], 9)).toEqual([]);
      expect(await store().cached(run, 1)).toBeNull();
      expect(await headOf(store(), run)).toEqual(before);
    });

    it('recognises a key before it looks at the version', async () => {
      const run = newRun();
      const batch = batchOf(run, [note('a'), note('b')], null, { key: 'once' });
      await store().append(batch);
      await put(store(), run, [note('c')], { key: 'other' });
      const again = batchOf(run, [note('a again')], null, { key: 'once', rows: [record(run, 'N-2')] });
      expect(await other().append(again)).toEqual({ outcome: 'replayed', events: batch.events });
      expect(await store().read(run, 0, 9)).toHaveLength(3);
      expect(await store().recall(run, ['N-2'])).toEqual([]);
      const elsewhere = newRun();
      expect(await store().append(batchOf(elsewhere, [note('x')], null, { key: 'once' }))).toEqual({
        outcome: 'appended',
      });
    });

    it('records a key once however many try at the same time', async () => {
      const run = newRun();
      await put(store(), run, [note('first')]);
      const head = await headOf(store(), run);
      const tries = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? store() : other()).append(batchOf(run, [note('same')], head, { key: 'k' })),
        ),
      );
      expect(tries.map(({ outcome }) => outcome).sort()).toEqual([
        'appended',
        ...Array.from({ length: 11 }, () => 'replayed'),
      ]);
      expect(await store().read(run, 0, 99)).toHaveLength(2);
    });

    it('writes nothing of a batch that cannot be written whole', async () => {
      const run = newRun();
      await put(store(), run, [note('a')], { rows: [record(run, 'N-1', { text: 'before' })] });
      const before = await headOf(store(), run);
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const batch = batchOf(run, [note('b')], before, {
        rows: [record(run, 'N-1', { text: 'after' }), record(run, 'N-2', { doc: cyclic })],
      });
      await expect(store().append(batch)).rejects.toThrow();
      expect(await headOf(store(), run)).toEqual(before);
      expect(await store().read(run, 0, 9)).toHaveLength(1);
      expect(await store().search([run], ['before'], 9)).toHaveLength(1);
    });

    it('loses nothing when many write one run at once', async () => {
      const run = newRun();
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        const mine = writer % 2 === 0 ? store() : other();
        for (let count = 0; count < 5; count++) {
          let done = false;
          while (!done) {
            const batch = batchOf(run, [note(`${writer}.${count}`)], await headOf(mine, run));
            done = (await mine.append(batch)).outcome === 'appended';
          }
        }
      });
      await Promise.all(writers);
      const events = await store().read(run, 0, 999);
      expect(chainProblems(events)).toEqual([]);
      const texts = events.map((event) => (event.type === 'note.added' ? event.body.text : ''));
      const expected = Array.from({ length: 40 }, (_, index) => `${Math.floor(index / 5)}.${index % 5}`);
      expect(texts.sort()).toEqual(expected.sort());
    });

    it('takes appends to many runs at once', async () => {
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

export function feeding(store: Get, other: Get): void {
  describe('feed', () => {
    it('gives every event once, page by page, while others write', async () => {
      const names = Array.from({ length: 6 }, newRun);
      const start = (await store().feed('now', 1)).cursor;
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
      const rest = await store().feed(cursor, 10);
      expect(mine(rest.events)).toEqual([]);
      const again = await follow(store(), null, 7, (all) => mine(all).length >= 96);
      expect(mine(again.events)).toEqual(seen);
    });

    it('starts from now', async () => {
      const run = newRun();
      await put(store(), run, [note('before')]);
      await follow(store(), null, 50, (events) => events.some(ofRun(run)));
      const now = await store().feed('now', 10);
      expect(now.events).toEqual([]);
      await put(store(), run, [note('after')]);
      const { events } = await follow(store(), now.cursor, 10, (seen) => seen.some(ofRun(run)));
      expect(events.filter(ofRun(run)).map(({ version }) => version)).toEqual([2]);
    });

    it('refuses a cursor it did not give', async () => {
      for (const cursor of ['', 'yesterday', "1'; --", '-1', '1:2:3']) {
        await expect(store().feed(cursor, 1)).rejects.toThrow(Fault);
      }
    });
  });
}

export function erasing(store: Get, other: Get): void {
  describe('erase', () => {
    it('takes the words out everywhere and the chain still verifies', async () => {
      const run = newRun();
      const secret = 'hunter2secret';
      await put(store(), run, [note('harmless'), note(`the password is ${secret}`)], {
        rows: [
          record(run, 'N-2', {
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
        rows: [record(run, 'N-2', { text: ERASED, doc: { text: ERASED }, version: 2 })],
        cache: { format: 1, state: 'clean' },
      });
      const events = await other().read(run, 0, 9);
      expect(events[1]?.body).toEqual(erased);
      expect(JSON.stringify(events)).not.toContain(secret);
      expect(chainProblems(events)).toEqual([]);
      // Without the event that tells of the erasure, the changed body is a problem.
      expect(chainProblems(events.slice(0, 2))).toHaveLength(1);
      expect(await store().search([run], [secret], 9)).toEqual([]);
      expect(JSON.stringify(await store().recall(run, ['N-2']))).not.toContain(secret);
      const { events: fed } = await follow(other(), null, 500, (seen) => seen.filter(ofRun(run)).length >= 3);
      expect(JSON.stringify(fed.filter(ofRun(run)))).not.toContain(secret);
    });
  });
}
