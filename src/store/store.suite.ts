import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENESIS, seal, verifyChain } from '../core/chain.ts';
import type { Draft, Event } from '../core/event.ts';
import { Fault } from '../core/fault.ts';
import { ERASED } from '../core/text.ts';
import type { Batch, Head, Store, StoredRecord } from './store.ts';

/**
 * What every store must do, whichever database it is on: the page `store.ts`, sentence by sentence. There is no way to
 * leave a test out. `open` gives another connection to one and the same database each time.
 */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    let store: Store;
    let other: Store;
    beforeAll(async () => {
      store = await open();
      other = await open();
    });
    afterAll(async () => {
      await store.close();
      await other.close();
    });

    appending(() => store, () => other);
    feeding(() => store, () => other);
    looking(() => store);
    searching(() => store);
    deriving(() => store);
    erasing(() => store, () => other);

    it('says where it is and finds itself well', async () => {
      expect(store.place).not.toBe('');
      expect(await store.inspect()).toEqual([]);
    });
  });
}

type Get = () => Store;

let runs = 0;

/** Every test has a run of its own: they share one database, as real ones do. */
export function newRun(): string {
  runs += 1;
  return `run-${runs}`;
}

export function note(text: string): Draft {
  return { type: 'note.added', basis: 'declared', body: { id: 'N-1', text, kind: 'worklog' } };
}

export function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
}

export function batchOf(run: string, drafts: readonly Draft[], after: { version: number; hash: string } | null, extra: Partial<Batch> & { key?: string | null; session?: string } = {}): Batch {
  const { key = null, session = null, ...rest } = extra;
  const head = after ?? { version: 0, hash: GENESIS };
  const stamp = { run, at: at(head.version + 1), actor: { kind: 'agent', name: 'tester' } as const, session, key };
  const position = { phase: 1, plan: null, task: 'Build it', wave: null, status: 'in_progress', progress: { done: 1 } };
  return {
    run,
    expected: head.version,
    events: seal(drafts, stamp, head),
    head: { workspace: 'w', title: 'Some work', status: 'active', position },
    records: [],
    ...rest,
  };
}

export function record(run: string, id: string, rest: Partial<StoredRecord> = {}): StoredRecord {
  return { run, kind: 'note', id, alias: null, status: 'open', version: 1, at: at(1), tags: [], text: null, doc: { id }, ...rest };
}

export async function headOf(store: Store, run: string): Promise<Head | null> {
  return (await store.heads({ run }))[0] ?? null;
}

/** Appends to where the run stands, whatever is there. */
export async function put(store: Store, run: string, drafts: readonly Draft[], extra: Parameters<typeof batchOf>[3] = {}): Promise<void> {
  const appended = await store.append(batchOf(run, drafts, await headOf(store, run), extra));
  expect(appended).toEqual({ outcome: 'appended' });
}

/** Reads on until `enough`: what was recorded may reach the feed a moment later. */
export async function follow(store: Store, cursor: string | null, limit: number, enough: (events: Event[]) => boolean) {
  const events: Event[] = [];
  let from = cursor;
  while (!enough(events)) {
    const page = await store.feed(from, limit);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    if (page.events.length === 0) {
      expect(from === null || page.cursor === from).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    events.push(...page.events);
    from = page.cursor;
  }
  return { events, cursor: from as string };
}

function ofRun(run: string) {
  return (event: Event) => event.run === run;
}

function appending(store: Get, other: Get): void {
  describe('append and read', () => {
    it('gives back exactly what was recorded', async () => {
      const run = newRun();
      const texts = ['plain', 'naïve ☃ 𝄞 עברית 中文', 'a\u0000b', 'half \ud83d pair \ude00', '\u001amark', '"quoted" \\ \n\t\u2028', 'x'.repeat(1024 * 1024)];
      const batch = batchOf(run, texts.map(note), null, { key: 'k\ud800\u0000', session: 'S-1' });
      expect(await store().append(batch)).toEqual({ outcome: 'appended' });
      const events = await other().read(run, 0, 100);
      expect(events).toEqual(batch.events);
      expect(verifyChain(events, new Set()).problems).toEqual([]);
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
      const stale = batchOf(run, [note('late'), note('later')], null, { records: [record(run, 'N-9', { text: 'late' })], cache: { format: 1, state: 'late' } });
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
      const again = batchOf(run, [note('a again')], null, { key: 'once', records: [record(run, 'N-2')] });
      expect(await other().append(again)).toEqual({ outcome: 'replayed', events: batch.events });
      expect(await store().read(run, 0, 9)).toHaveLength(3);
      expect(await store().recall(run, ['N-2'])).toEqual([]);
      const elsewhere = newRun();
      expect(await store().append(batchOf(elsewhere, [note('x')], null, { key: 'once' }))).toEqual({ outcome: 'appended' });
    });

    it('records a key once however many try at the same time', async () => {
      const run = newRun();
      await put(store(), run, [note('first')]);
      const head = await headOf(store(), run);
      const tries = await Promise.all(Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? store() : other()).append(batchOf(run, [note('same')], head, { key: 'k' }))));
      expect(tries.map(({ outcome }) => outcome).sort()).toEqual(['appended', ...Array.from({ length: 11 }, () => 'replayed')]);
      expect(await store().read(run, 0, 99)).toHaveLength(2);
    });

    it('writes nothing of a batch that cannot be written whole', async () => {
      const run = newRun();
      await put(store(), run, [note('a')], { records: [record(run, 'N-1', { text: 'before' })] });
      const before = await headOf(store(), run);
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const batch = batchOf(run, [note('b')], before, { records: [record(run, 'N-1', { text: 'after' }), record(run, 'N-2', { doc: cyclic })] });
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
      expect(verifyChain(events, new Set()).problems).toEqual([]);
      const texts = events.map((event) => (event.type === 'note.added' ? event.body.text : ''));
      const expected = Array.from({ length: 40 }, (_, index) => `${Math.floor(index / 5)}.${index % 5}`);
      expect(texts.sort()).toEqual(expected.sort());
    });

    it('takes appends to many runs at once', async () => {
      const names = Array.from({ length: 16 }, newRun);
      await Promise.all(
        names.map(async (run, index) => {
          for (let count = 0; count < 4; count++) await put(index % 2 === 0 ? store() : other(), run, [note(`${count}`)]);
        }),
      );
      for (const run of names) expect((await headOf(store(), run))?.version).toBe(4);
    });
  });
}

function feeding(store: Get, other: Get): void {
  describe('feed', () => {
    it('gives every event once, page by page, while others write', async () => {
      const names = Array.from({ length: 6 }, newRun);
      const start = (await store().feed('now', 1)).cursor;
      const writing = names.map(async (run, index) => {
        for (let count = 0; count < 8; count++) await put(index % 2 === 0 ? store() : other(), run, [note('a'), note('b')]);
      });
      const mine = (events: Event[]) => events.filter(({ run }) => names.includes(run));
      const { events, cursor } = await follow(other(), start, 5, (seen) => mine(seen).length >= 96);
      await Promise.all(writing);
      const seen = mine(events);
      expect(new Set(seen.map(({ run, version }) => `${run}/${version}`)).size).toBe(96);
      expect(seen).toHaveLength(96);
      for (const run of names) {
        expect(seen.filter(ofRun(run)).map(({ version }) => version)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
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

function looking(store: Get): void {
  describe('heads, cache, records, beats', () => {
    it('lists heads, the last touched first, by run, workspace and status', async () => {
      const [a, b, c] = [newRun(), newRun(), newRun()];
      const workspace = `w-${a}\u0000\ud800`;
      const head = batchOf(a, [], null).head;
      await put(store(), a, [note('1')], { head: { ...head, workspace, title: 'A \u0000 \udfff title' } });
      await put(store(), b, [note('1')], { head: { ...head, workspace, status: 'completed' } });
      await put(store(), c, [note('1')], { head: { ...head, workspace } });
      await put(store(), a, [note('2')], { head: { ...head, workspace, title: 'Changed \u0000 \udfff' } });
      const runsOf = async (filter: Parameters<Store['heads']>[0]) => (await store().heads(filter)).map(({ run }) => run);
      expect(await runsOf({ workspace })).toEqual([a, c, b]);
      expect(await runsOf({ workspace, status: 'active' })).toEqual([a, c]);
      expect(await runsOf({ workspace, limit: 1 })).toEqual([a]);
      expect(await runsOf({ run: b })).toEqual([b]);
      expect(await runsOf({ run: 'nobody' })).toEqual([]);
      expect((await runsOf({})).slice(0, 2)).toEqual([a, c]);
      const last = (await store().read(a, 1, 1))[0];
      expect(await headOf(store(), a)).toEqual({ ...head, workspace, title: 'Changed \u0000 \udfff', run: a, version: 2, hash: last?.hash, openedAt: at(1), updatedAt: at(2) });
    });

    it('keeps folded state with the version it was saved at, for one format', async () => {
      const run = newRun();
      expect(await store().cached(run, 1)).toBeNull();
      await put(store(), run, [note('a')], { cache: { format: 1, state: '{"a":"\\u0000"}' } });
      const hash = (await headOf(store(), run))?.hash;
      await put(store(), run, [note('b')]);
      expect(await store().cached(run, 1)).toEqual({ version: 1, hash, state: '{"a":"\\u0000"}' });
      expect(await store().cached(run, 2)).toBeNull();
      await put(store(), run, [note('c')], { cache: { format: 2, state: 'c' } });
      expect(await store().cached(run, 1)).toBeNull();
      expect(await store().cached(run, 2)).toMatchObject({ version: 3, state: 'c' });
    });

    it('recalls records by id and by alias, whatever their kind, exactly as they were written', async () => {
      const run = newRun();
      const odd = record(run, 'D-1', { kind: 'decision', alias: 'OQ-\ud800', tags: ['key:a\u0000', 'b'], text: 'odd \u0000 \udc00 text that is long enough', doc: { text: 'odd \u0000 \udc00 text that is long enough', n: [1, null, { x: true }] } });
      const twin = record(run, 'D-1', { kind: 'item', doc: null });
      const plain = record(run, 'N-1', { alias: 'block-001', text: 'one two three four; and then some more', doc: { b: 'and then some more', a: 'one two three four' } });
      await put(store(), run, [note('a')], { records: [odd, twin, plain] });
      const sorted = (found: StoredRecord[]) => found.sort((x, y) => (x.kind < y.kind ? -1 : 1));
      expect(sorted(await store().recall(run, ['D-1', 'nobody', 'D-1']))).toEqual([odd, twin]);
      expect(sorted(await store().recall(run, ['OQ-\ud800', 'N-1', 'block-001']))).toEqual([odd, plain]);
      expect(await store().recall(run, [])).toEqual([]);
      expect(await store().recall(newRun(), ['D-1'])).toEqual([]);
    });

    it('takes the later of two versions of a record in one batch', async () => {
      const run = newRun();
      const later = record(run, 'N-1', { version: 2, status: 'closed', tags: ['b'], text: 'later' });
      await put(store(), run, [note('a'), note('b')], { records: [record(run, 'N-1', { tags: ['a'], text: 'sooner' }), later] });
      expect(await store().recall(run, ['N-1'])).toEqual([later]);
      expect(await store().count(run, 'note')).toEqual({ closed: 1 });
      expect(await store().records(run, { kind: 'note', tag: 'a', limit: 9 })).toEqual([]);
      expect(await store().search([run], ['sooner'], 9)).toEqual([]);
    });

    it('lists records of a kind by status and tag, page by page, the last touched first', async () => {
      const run = newRun();
      const make = (version: number, rest: Partial<StoredRecord> = {}) => record(run, `N-${version}`, { version, at: at(version), status: version % 2 === 0 ? 'open' : 'closed', tags: version % 3 === 0 ? ['third', 'x'] : ['x'], ...rest });
      const records = [1, 2, 3, 4, 5, 6].map((version) => make(version));
      await put(store(), run, records.map((_, index) => note(`${index}`)), { records: [...records, record(run, 'D-1', { kind: 'decision' })] });
      const ids = async (filter: Omit<Parameters<Store['records']>[1], 'kind'>) => (await store().records(run, { kind: 'note', ...filter })).map(({ id }) => id);
      expect(await ids({ limit: 4 })).toEqual(['N-6', 'N-5', 'N-4', 'N-3']);
      expect(await ids({ limit: 4, before: 3 })).toEqual(['N-2', 'N-1']);
      expect(await ids({ limit: 0 })).toEqual([]);
      expect(await ids({ limit: 2, status: 'open' })).toEqual(['N-6', 'N-4']);
      expect(await ids({ limit: 9, tag: 'third' })).toEqual(['N-6', 'N-3']);
      expect(await ids({ limit: 9, tag: 'third', status: 'closed' })).toEqual(['N-3']);
      expect(await ids({ limit: 9, tag: 'third', before: 6 })).toEqual(['N-3']);
      expect(await store().count(run, 'note')).toEqual({ open: 3, closed: 3 });
      await put(store(), run, [note('7')], { records: [make(3, { version: 7, at: at(7), id: 'N-3', status: 'open', tags: ['x'] })] });
      expect(await ids({ limit: 2 })).toEqual(['N-3', 'N-6']);
      expect(await ids({ limit: 9, tag: 'third' })).toEqual(['N-6']);
      expect(await ids({ limit: 9, status: 'closed' })).toEqual(['N-5', 'N-1']);
      expect(await store().count(run, 'note')).toEqual({ open: 4, closed: 2 });
      expect(await store().count(run, 'nothing')).toEqual({});
    });

    it('takes anything for a tag', async () => {
      const run = newRun();
      const tags = ["it's", '\\', '"', "'", '#', 'a:* & b', 'nul \u0000', 'half \ud800', '', 'x'.repeat(5000), `${'x'.repeat(5000)}y`];
      const records = tags.map((tag, index) => record(run, `N-${index}`, { tags: [tag] }));
      await put(store(), run, [note('a')], { records });
      for (const [index, tag] of tags.entries()) {
        expect((await store().records(run, { kind: 'note', tag, limit: 99 })).map(({ id }) => id)).toEqual([`N-${index}`]);
        expect(await store().records(run, { kind: 'item', tag, limit: 99 })).toEqual([]);
      }
    });

    it('keeps records touched by one event on one page', async () => {
      const run = newRun();
      const touched = ['a', 'b', 'c', 'd'].map((id, index) => record(run, id, { version: index === 3 ? 1 : 2, status: index === 0 ? 'shut' : 'open', tags: ['t'] }));
      await put(store(), run, [note('1'), note('2')], { records: touched });
      for (const filter of [{ kind: 'note', limit: 2 }, { kind: 'note', tag: 't', limit: 1 }]) {
        expect((await store().records(run, filter)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
        expect((await store().records(run, { ...filter, before: 2 })).map(({ id }) => id)).toEqual(['d']);
      }
    });

    it('keeps the newest sign of life of each session', async () => {
      const run = newRun();
      await store().beat(run, 'S-1', at(5));
      await store().beat(run, 'S-1', at(3));
      await store().beat(run, 'S-2', at(4));
      await store().beat(run, 'S-2', at(6));
      expect(await store().beats(run)).toEqual(new Map([['S-1', at(5)], ['S-2', at(6)]]));
      expect(await store().beats(newRun())).toEqual(new Map());
    });
  });
}

function searching(store: Get): void {
  describe('search', () => {
    async function filled(texts: Record<string, string>): Promise<string> {
      const run = newRun();
      const entries = Object.entries(texts);
      const records = entries.map(([id, text], index) => record(run, id, { text, doc: { id, text }, version: index + 1, at: at(index + 1) }));
      await put(store(), run, entries.map(([, text]) => note(text)), { records });
      return run;
    }

    it('finds beginnings of words in any case and without accents, all of them, the last touched first', async () => {
      const run = await filled({ a: 'Token rotation is Déjà vu', b: 'rotate the tokens', c: 'ÉCOLE straße ΟΔΟΣ', d: 'phase_2_waf deploy-to-prod' });
      const ids = async (...words: string[]) => (await store().search([run], words, 9)).map(({ id }) => id);
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
      expect((await store().search([run], ['tok'], 1)).map(({ id }) => id)).toEqual(['b']);
    });

    it('finds words anywhere in scripts without spaces', async () => {
      const run = await filled({ a: '我们决定使用数据库连接池', b: 'データベースの移行 plan', c: 'ระบบฐานข้อมูล', d: '数据很多，然后是库' });
      const ids = async (...words: string[]) => (await store().search([run], words, 9)).map(({ id }) => id).sort();
      expect(await ids('数据库')).toEqual(['a']);
      expect(await ids('数据')).toEqual(['a', 'd']);
      expect(await ids('库')).toEqual(['a', 'd']);
      expect(await ids('ベース')).toEqual(['b']);
      expect(await ids('移行', 'pla')).toEqual(['b']);
      expect(await ids('ฐานข้อมูล')).toEqual(['c']);
      expect(await ids('没有')).toEqual([]);
    });

    it('takes whatever is typed for words', async () => {
      const run = await filled({ a: 'near or not and select', b: 'abc' });
      for (const word of ['"', "'", '*', '(', 'NEAR(a b)', 'a OR', 'text:', "'; drop table runs; --", '\\', '%', '_', ':*', '&', '!', '<->', 'a\u0000b', '\ud800', '🙂', '-', '^a', '{a b}', 'x'.repeat(5000), '\u0301'.repeat(5000)]) {
        await store().search([run], [word], 9);
        await store().search([run], [word, 'abc', word], 9);
      }
      await store().search([run], Array.from({ length: 500 }, (_, index) => `w${index}`), 9);
      expect((await store().search([run], ['NOT', '"OR"'], 9)).map(({ id }) => id)).toEqual(['a']);
      expect(await store().search([run], [], 9)).toEqual([]);
      expect(await store().search([run], ['***'], 9)).toEqual([]);
    });

    it('looks in the runs it is given and in no others', async () => {
      const [one, two, three] = [await filled({ a: 'shared word' }), await filled({ b: 'shared word' }), await filled({ c: 'shared word' })];
      const found = await store().search([one, three], ['shared'], 9);
      expect(found.map(({ id }) => id).sort()).toEqual(['a', 'c']);
      expect(await store().search([], ['shared'], 9)).toEqual([]);
      expect((await store().search([two], ['shared'], 9)).map(({ id }) => id)).toEqual(['b']);
    });

    it('forgets the old words of a text that changed', async () => {
      const run = await filled({ a: 'former words of it', b: 'kept words here' });
      await put(store(), run, [note('c')], { records: [record(run, 'a', { text: 'later terms of it', doc: {}, version: 3, at: at(3) }), record(run, 'b', { text: 'kept words here', doc: { more: 1 }, version: 3, at: at(3) })] });
      const ids = async (word: string) => (await store().search([run], [word], 9)).map(({ id }) => id);
      expect(await ids('former')).toEqual([]);
      expect(await ids('later')).toEqual(['a']);
      expect(await ids('kept')).toEqual(['b']);
      await put(store(), run, [note('d')], { records: [record(run, 'a', { text: null, version: 4 })] });
      expect(await ids('later')).toEqual([]);
    });

    it('finds among many, before and after they are changed', async () => {
      const run = newRun();
      const make = (id: number, word: string, version: number) => record(run, `N-${id}`, { text: `${word} number${id}`, doc: { id }, version, at: at(version) });
      for (let id = 1; id <= 150; id++) await put(store(), run, [note('x')], { records: [make(id, 'plain', id)] });
      const found = async (...words: string[]) => (await store().search([run], words, 999)).map(({ id }) => id);
      expect(await found('plain')).toEqual(Array.from({ length: 150 }, (_, index) => `N-${150 - index}`));
      await put(store(), run, [note('x')], { records: [make(3, 'changed', 151), make(149, 'changed', 151)] });
      expect((await found('changed')).sort()).toEqual(['N-149', 'N-3']);
      expect(await found('plain')).toHaveLength(148);
      expect(await found('plain', 'number3')).toEqual(Array.from({ length: 10 }, (_, index) => `N-${39 - index}`));
    });

    it('indexes a megabyte of different words', async () => {
      const text = Array.from({ length: 120_000 }, (_, index) => `w${index.toString(36)}`).join(' ');
      const run = await filled({ a: text });
      expect((await store().search([run], ['w1', 'wz'], 9)).map((found) => found.text === text)).toEqual([true]);
    });
  });
}

function deriving(store: Get): void {
  describe('replaceDerived', () => {
    it('puts new derived rows in place of the old ones, and leaves the journal alone', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b')], { records: [record(run, 'old', { text: 'ancient', tags: ['t'], alias: 'o' })], cache: { format: 1, state: 'old' } });
      const before = await headOf(store(), run);
      const head = { ...batchOf(run, [], null).head, title: 'Rebuilt', status: 'completed' };
      const fresh = record(run, 'new', { text: 'modern', tags: ['t'], version: 2 });
      expect(await store().replaceDerived(run, 2, { head, records: [fresh], cache: { format: 2, state: 'new' } })).toBe(true);
      expect(await headOf(store(), run)).toEqual({ ...before, ...head });
      expect(await store().recall(run, ['old', 'o', 'new'])).toEqual([fresh]);
      expect(await store().records(run, { kind: 'note', tag: 't', limit: 9 })).toEqual([fresh]);
      expect(await store().count(run, 'note')).toEqual({ open: 1 });
      expect(await store().search([run], ['ancient'], 9)).toEqual([]);
      expect(await store().search([run], ['modern'], 9)).toEqual([fresh]);
      expect(await store().cached(run, 2)).toEqual({ version: 2, hash: before?.hash, state: 'new' });
      expect(await store().read(run, 0, 9)).toHaveLength(2);
    });

    it('does nothing once the run has moved on', async () => {
      const run = newRun();
      await put(store(), run, [note('a'), note('b')], { records: [record(run, 'kept')] });
      const derived = { head: batchOf(run, [], null).head, records: [], cache: { format: 1, state: '' } };
      expect(await store().replaceDerived(run, 1, derived)).toBe(false);
      expect(await store().replaceDerived(newRun(), 0, derived)).toBe(false);
      expect(await store().recall(run, ['kept'])).toHaveLength(1);
    });
  });
}

function erasing(store: Get, other: Get): void {
  describe('erase', () => {
    it('takes the words out everywhere and the chain still verifies', async () => {
      const run = newRun();
      const secret = 'hunter2secret';
      await put(store(), run, [note('harmless'), note(`the password is ${secret}`)], {
        records: [record(run, 'N-2', { text: `the password is ${secret}`, doc: { text: `the password is ${secret}` }, version: 2 })],
        cache: { format: 1, state: secret },
      });
      const erased = { ...note(ERASED).body };
      await put(store(), run, [{ type: 'text.erased', basis: 'verified', body: { versions: [2], reason: 'leaked' } }], {
        erase: [{ version: 2, body: erased }],
        records: [record(run, 'N-2', { text: ERASED, doc: { text: ERASED }, version: 2 })],
        cache: { format: 1, state: 'clean' },
      });
      const events = await other().read(run, 0, 9);
      expect(events[1]?.body).toEqual(erased);
      expect(JSON.stringify(events)).not.toContain(secret);
      expect(verifyChain(events, new Set([2])).problems).toEqual([]);
      expect(verifyChain(events, new Set()).problems).toHaveLength(1);
      expect(await store().search([run], [secret], 9)).toEqual([]);
      expect(JSON.stringify(await store().recall(run, ['N-2']))).not.toContain(secret);
      const { events: fed } = await follow(other(), null, 500, (seen) => seen.filter(ofRun(run)).length >= 3);
      expect(JSON.stringify(fed.filter(ofRun(run)))).not.toContain(secret);
    });
  });
}
