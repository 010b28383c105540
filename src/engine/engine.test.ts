import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serializeState } from '../core/fold/state-tables.ts';
import type { Command } from '../core/journal/command.ts';
import type { Event } from '../core/journal/event.ts';
import { parseQuestion, type SearchQuery } from '../core/search/query.ts';
import { openMemoryStore } from '../store/memory/store.ts';
import type { StoredRow } from '../store/projection.ts';
import { openDatabase } from '../store/sqlite/driver.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { at, note as draft, faultOf, put } from '../store/suite/fixture.ts';
import { createEngine, type Engine } from './engine.ts';
import type { EventRange } from './event-pages.ts';
import type { Identity } from './execute.ts';
import type { DescribeSnapshot } from './snapshots.ts';

const RUN = 'work';
const ada: Identity = { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal', session: null, key: null };
const bob: Identity = { actor: { kind: 'agent', name: 'bob' }, evidence: 'agent-shell', session: null, key: null };
const note = (text: string): Command => ({ type: 'note.add', kind: 'worklog', text });

const folder = mkdtempSync(join(tmpdir(), 'holdfast-engine-'));
const stores: Store[] = [];
let files = 0;
afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a new database; each call of the function it returns is another connection to it. */
const databases: Record<string, () => () => Promise<Store>> = {
  memory() {
    const store = openMemoryStore();
    return async () => store;
  },
  sqlite() {
    files += 1;
    const file = join(folder, `${files}.db`);
    return async () => {
      const store = await openSqliteStore({ file });
      stores.push(store);
      return store;
    };
  },
};

interface Calls {
  appends: number;
  /** Pages of events, and the events in them. */
  reads: number;
  events: number;
}

interface Opened {
  engine: Engine;
  /** The calls of the store since the last look. */
  calls(): Calls;
}

describe.each(Object.entries(databases))('the engine on %s', (_, open) => {
  /** A run with one step, and a way to open more engines on its database. */
  async function openRun() {
    const connect = open();
    let seconds = 0;
    const now = (): string => new Date(Date.UTC(2026, 0, 1) + ++seconds * 1000).toISOString();
    const openEngine = async (describe?: DescribeSnapshot): Promise<Opened> => {
      const store = await connect();
      const { journal } = store;
      let counted: Calls = { appends: 0, reads: 0, events: 0 };
      const counting: Store = {
        ...store,
        journal: {
          ...journal,
          append(batches) {
            counted.appends += 1;
            return journal.append(batches);
          },
          async read(...range) {
            const events = await journal.read(...range);
            counted.reads += 1;
            counted.events += events.length;
            return events;
          },
        },
      };
      const engine = createEngine({ store: counting, now, probe: () => undefined, random: () => 0, describe });
      const calls = () => {
        const seen = counted;
        counted = { appends: 0, reads: 0, events: 0 };
        return seen;
      };
      return { engine, calls };
    };
    const { engine, calls } = await openEngine();
    await engine.execute(RUN, { type: 'run.open', title: 'Work', workspace: 'w' }, ada);
    await engine.execute(RUN, { type: 'plan.add', steps: [{ key: 't1', title: 'Do it', kind: 'task' }] }, ada);
    calls();
    return { engine, calls, openEngine };
  }

  describe('on remembered state', () => {
    it('appends a success without reading again', async () => {
      const { engine, calls } = await openRun();
      const { events } = await engine.execute(RUN, note('first'), ada);
      expect(events.map(({ type }) => type)).toEqual(['note.added']);
      expect(calls()).toMatchObject({ appends: 1, reads: 0 });
    });

    it('decides a refusal again on fresh state before it throws', async () => {
      const { engine, calls, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await other.execute(RUN, { type: 'plan.add', steps: [{ key: 't2', title: 'More', kind: 'task' }] }, ada);
      const { events } = await engine.execute(RUN, { type: 'step.skip', step: 't2', reason: 'Not needed' }, ada);
      expect(events.map(({ type }) => type)).toEqual(['step.skipped']);
      expect(calls()).toMatchObject({ appends: 1, reads: 1 });
    });

    it('throws a refusal that holds on fresh state too, and records nothing', async () => {
      const { engine, calls } = await openRun();
      const skipping = engine.execute(RUN, { type: 'step.skip', step: 't9', reason: 'Not needed' }, ada);
      expect((await faultOf(skipping)).code).toBe('not_found');
      expect(calls()).toMatchObject({ appends: 0, reads: 1 });
    });

    it('decides a no-op again on fresh state before it is believed', async () => {
      const { engine, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await other.execute(RUN, { type: 'run.amend', title: 'Renamed' }, ada);
      const { events, state } = await engine.execute(RUN, { type: 'run.amend', title: 'Work' }, ada);
      expect(events.map(({ type }) => type)).toEqual(['run.amended']);
      expect(state.run?.title).toBe('Work');
    });

    it('records a success once when others were faster', async () => {
      const { engine, calls, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await other.execute(RUN, note('from the other'), ada);
      await engine.execute(RUN, note('mine'), ada);
      expect(calls()).toMatchObject({ appends: 2, reads: 1 });
      expect(texts(await eventsOf(engine))).toEqual(['from the other', 'mine']);
    });

    it('refuses what became illegal meanwhile', async () => {
      const { engine, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await other.execute(RUN, { type: 'run.abort', reason: 'Enough' }, ada);
      const fault = await faultOf(engine.execute(RUN, { type: 'step.start', step: 't1' }, bob));
      expect(fault.code).toBe('illegal');
      expect((await eventsOf(engine)).at(-1)?.type).toBe('run.abandoned');
    });
  });

  describe('an idempotency key', () => {
    const keyed: Identity = { ...ada, key: 'once' };

    it('records the same command once and returns its events again', async () => {
      const { engine, openEngine } = await openRun();
      const first = await engine.execute(RUN, note('hello'), keyed);
      expect(first.replayed).toBe(false);
      for (const { engine: again } of [{ engine }, await openEngine()]) {
        const done = await again.execute(RUN, note('hello'), keyed);
        expect(done).toMatchObject({ replayed: true, changed: [] });
        expect(hashes(done.events)).toEqual(hashes(first.events));
        expect(done.state.version).toBe(first.state.version);
      }
      expect(texts(await eventsOf(engine))).toEqual(['hello']);
    });

    it('replays a command that it made illegal itself', async () => {
      const { engine } = await openRun();
      const abort: Command = { type: 'run.abort', reason: 'Enough' };
      const { events } = await engine.execute(RUN, abort, keyed);
      const again = await engine.execute(RUN, abort, keyed);
      expect(again.replayed).toBe(true);
      expect(hashes(again.events)).toEqual(hashes(events));
    });

    it('is refused for another command or other words, and nothing is recorded', async () => {
      const { engine } = await openRun();
      const { state } = await engine.execute(RUN, note('hello'), keyed);
      for (const command of [note('goodbye'), { type: 'run.amend', title: 'hello' } satisfies Command]) {
        const fault = await faultOf(engine.execute(RUN, command, keyed));
        expect(fault.code).toBe('usage');
        expect(fault.message).toContain('once');
      }
      expect((await engine.load(RUN)).version).toBe(state.version);
    });

    it('still stands for its command after the text was erased', async () => {
      const { engine } = await openRun();
      const { events } = await engine.execute(RUN, note('hello'), keyed);
      const versions = events.map(({ version }) => version);
      await engine.execute(RUN, { type: 'text.erase', versions, reason: 'Leaked' }, ada);
      expect(await engine.execute(RUN, note('hello'), keyed)).toMatchObject({ replayed: true });
    });

    it('records once when two engines use it at the same time', async () => {
      const { engine, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await other.load(RUN);
      const done = await Promise.all([engine, other].map((one) => one.execute(RUN, note('hello'), keyed)));
      expect(done.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
      expect(hashes(done[0]?.events)).toEqual(hashes(done[1]?.events));
      expect(texts(await eventsOf(engine))).toEqual(['hello']);
    });
  });

  describe('on a conflict', () => {
    it('loses nothing and keeps the order of each engine', async () => {
      const { engine, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      const write = async (one: Engine, name: string): Promise<void> => {
        for (let count = 0; count < 15; count++) await one.execute(RUN, note(`${name}${count}`), ada);
      };
      await Promise.all([write(engine, 'a'), write(other, 'b')]);
      const recorded = texts(await eventsOf(engine));
      expect(recorded).toHaveLength(30);
      for (const name of ['a', 'b']) {
        const own = recorded.filter((text) => text.startsWith(name));
        expect(own).toEqual(Array.from({ length: 15 }, (_, index) => `${name}${index}`));
      }
      expect(await (await engine.maintenance()).audit(RUN)).toMatchObject({ chain: [], derived: [], complete: true });
    });

    it('keeps the order of commands that one engine gets at once', async () => {
      const { engine, calls } = await openRun();
      const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
      await Promise.all(names.map((name) => engine.execute(RUN, note(name), ada)));
      expect(calls().appends).toBe(20);
      expect(texts(await eventsOf(engine))).toEqual(names);
    });

    it('decides again on what the other recorded', async () => {
      const { engine: other, openEngine } = await openRun();
      await other.execute(RUN, { type: 'session.start' }, bob);
      const described: number[] = [];
      const { engine } = await openEngine(async ({ version }) => {
        if (described.push(version) === 1) await other.execute(RUN, note('in between'), ada);
        return { text: `Written for event ${version}`, token: 'T' };
      });
      const { events } = await engine.execute(RUN, { type: 'snapshot.take', next: 'Continue' }, bob);
      expect(described).toHaveLength(2);
      const taken = events.find((event) => event.type === 'snapshot.taken');
      expect(taken?.version).toBe(described[1]);
      expect(taken?.body).toMatchObject({ text: `Written for event ${taken?.version}` });
      expect(texts(await eventsOf(engine))).toEqual(['in between']);
    });

    it('gives up when others never pause, and records nothing', async () => {
      const { engine: other, openEngine } = await openRun();
      await other.execute(RUN, { type: 'session.start' }, bob);
      let tries = 0;
      const { engine } = await openEngine(async () => {
        tries += 1;
        await other.execute(RUN, { type: 'usage.add', input: 1, output: 0 }, ada);
        return null;
      });
      const fault = await faultOf(engine.execute(RUN, { type: 'snapshot.take', next: 'Continue' }, bob));
      expect(fault.code).toBe('conflict');
      expect(tries).toBe(fault.data?.['attempts']);
      const types = new Set((await eventsOf(engine)).map(({ type }) => type));
      expect([...types].sort()).toEqual(['run.opened', 'session.started', 'step.added', 'usage.added']);
    });
  });

  describe('saved state', () => {
    it('gives the same answers as folding all events, after every command', async () => {
      const { engine, openEngine } = await openRun();
      await engine.execute(RUN, { type: 'step.start', step: 't1' }, bob);
      const kinds = ['step', 'note', 'usage', 'session', 'item', 'file'];
      for (const command of someWork()) {
        await engine.execute(RUN, command, bob);
        const { engine: fresh } = await openEngine();
        const state = await fresh.load(RUN);
        expect(serializeState(state)).toBe(serializeState(await fresh.load(RUN, state.version)));
        expect(serializeState(await engine.load(RUN))).toBe(serializeState(state));
        for (const kind of kinds) {
          expect(await answers(fresh, kind), `${kind} at ${state.version}`).toEqual(await answers(engine, kind));
        }
      }
      const before = await Promise.all(kinds.map((kind) => answers(engine, kind)));
      expect(before.filter((rows) => rows.length > 0)).toHaveLength(kinds.length);
      const maintenance = await engine.maintenance();
      expect(await maintenance.audit(RUN)).toMatchObject({ chain: [], derived: [], complete: true });
      await maintenance.rebuild(RUN);
      const { engine: rebuilt } = await openEngine();
      expect(await Promise.all(kinds.map((kind) => answers(rebuilt, kind)))).toEqual(before);
    });

    it('is completed by rows that are not saved yet, from this engine and others', async () => {
      const { engine, openEngine } = await openRun();
      const { engine: other } = await openEngine();
      await engine.execute(RUN, note('alpha words'), ada);
      await other.execute(RUN, note('beta words'), ada);
      const { engine: fresh } = await openEngine();
      for (const one of [engine, other, fresh]) {
        expect((await one.rows(RUN, { kind: 'note', limit: 9 })).map(({ id }) => id)).toEqual(['N-2', 'N-1']);
        expect((await one.recall(RUN, ['N-1'])).map(({ text }) => text)).toEqual(['alpha words']);
        expect(await one.savedRows(RUN, { kind: 'note', limit: 9 })).toEqual([]);
      }
      for (const one of [engine, other, fresh]) {
        expect((await search(one, 'words')).map(({ id }) => id)).toEqual(['N-2', 'N-1']);
        expect(await one.savedRows(RUN, { kind: 'note', limit: 9 })).toHaveLength(2);
      }
    });

    it('spares a new engine the events before it', async () => {
      const { engine, openEngine } = await openRun();
      for (let count = 0; count < 40; count++) await engine.execute(RUN, note(`${count}`), ada);
      const { engine: fresh, calls } = await openEngine();
      expect((await fresh.load(RUN)).version).toBe(42);
      expect(calls().events).toBeLessThan(12);
    });
  });

  it('reads the events of a run in pages, after one version, up to another, or at most so many', async () => {
    const store = await open()();
    await put(
      store,
      RUN,
      Array.from({ length: 4100 }, (_, index) => draft(`${index}`)),
    );
    const engine = createEngine({ store, now: () => at(1), probe: () => undefined, random: () => 0 });
    const versions = async (range: EventRange): Promise<number[]> =>
      (await eventsOf(engine, range)).map(({ version }) => version);
    const from = (first: number, last: number): number[] =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index);
    expect(await versions({})).toEqual(from(1, 4100));
    expect(await versions({ upTo: 2 })).toEqual([1, 2]);
    expect(await versions({ upTo: 4000 })).toEqual(from(1, 4000));
    expect(await versions({ after: 1999, upTo: 4001 })).toEqual(from(2000, 4001));
    expect(await versions({ after: 10, limit: 2500 })).toEqual(from(11, 2510));
    expect(await versions({ after: 4100 })).toEqual([]);
    expect(await versions({ after: 5, upTo: 5 })).toEqual([]);
    expect((await engine.event(RUN, 4100))?.version).toBe(4100);
    expect(await engine.event(RUN, 4101)).toBeNull();
  });
});

it('reads on over events that are missing from a damaged journal', async () => {
  const connect = databases['sqlite']?.();
  const store = (await connect?.()) ?? expect.fail();
  await put(
    store,
    RUN,
    Array.from({ length: 6 }, (_, index) => draft(`${index}`)),
  );
  const database = openDatabase(store.place, false);
  database.exec('DELETE FROM events WHERE version IN (3, 5)');
  database.close();
  const engine = createEngine({ store, now: () => at(1), probe: () => undefined, random: () => 0 });
  const versions = (events: readonly Event[]): number[] => events.map(({ version }) => version);
  expect(versions(await eventsOf(engine))).toEqual([1, 2, 4, 6]);
  expect(versions(await eventsOf(engine, { upTo: 4 }))).toEqual([1, 2, 4]);
  expect(versions(await eventsOf(engine, { after: 2, limit: 2 }))).toEqual([4, 6]);
  expect(await engine.event(RUN, 3)).toBeNull();
});

/** Commands that touch rows that are saved at once and rows that are saved later. */
function someWork(): Command[] {
  return Array.from({ length: 30 }, (_, index): Command => {
    switch (index % 5) {
      case 0:
        return { type: 'step.checkpoint', name: `c${index}`, next: 'Continue' };
      case 1:
        return note(`n${index}`);
      case 2:
        return { type: 'usage.add', input: index, output: 1 };
      case 3:
        return { type: 'files.see', artifacts: [{ path: `src/${index % 4}.ts`, change: 'modified' }] };
      default:
        return index === 4
          ? { type: 'item.raise', kind: 'question', text: 'Why?' }
          : { type: 'run.amend', title: `Title ${index}` };
    }
  });
}

/** The rows of a kind as three ways to ask for them give them. */
async function answers(engine: Engine, kind: string): Promise<unknown[]> {
  const rows = await engine.rows(RUN, { kind, limit: 100 });
  const recalled = await engine.recall(
    RUN,
    rows.map(({ id }) => id),
  );
  const found = await search(engine, 'n1');
  const plain = (list: readonly StoredRow[]): unknown[] =>
    list
      .filter((row) => row.kind === kind)
      .map(({ id, status, version, text, doc }) => ({ id, status, version, text, doc }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  return rows.length === 0 ? [] : [plain(rows), plain(recalled), plain(found)];
}

async function search(engine: Engine, text: string): Promise<StoredRow[]> {
  const found = await engine.search([RUN], parseQuestion(text) as SearchQuery, { offset: 0, limit: 100 });
  return found.map(({ row }) => row);
}

async function eventsOf(engine: Engine, range?: EventRange): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of engine.eventPages(RUN, range)) events.push(...page);
  return events;
}

const hashes = (events: readonly Event[] = []): string[] => events.map(({ hash }) => hash);

function texts(events: readonly Event[]): string[] {
  return events.flatMap((event) => (event.type === 'note.added' ? [event.body.text] : []));
}
