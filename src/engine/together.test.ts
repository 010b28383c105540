import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { Fault } from '../core/fault.ts';
import { serializeState } from '../core/fold/state-tables.ts';
import type { Command } from '../core/journal/command.ts';
import type { Event } from '../core/journal/event.ts';
import { openMemoryStore } from '../store/memory/store.ts';
import { openPostgresStore } from '../store/postgres/store.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { faultOf } from '../store/suite/fixture.ts';
import { createEngine, type Engine } from './engine.ts';
import type { Identity } from './execute.ts';

const ada: Identity = { actor: { kind: 'agent', name: 'ada' }, session: null, key: null, evidence: 'library' };
const note = (text: string): Command => ({ type: 'note.add', kind: 'worklog', text });
const keyed = (key: string): Identity => ({ ...ada, key });

const folder = mkdtempSync(join(tmpdir(), 'holdfast-together-'));
const stores: Store[] = [];
afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
const memory = openMemoryStore();
const databases: Record<string, () => Promise<Store>> = {
  memory: async () => memory,
  sqlite: () => openSqliteStore({ file: join(folder, 'journal.db') }),
  postgres: () => openPostgresStore({ url: inject('postgresUrl'), schema: `together ${process.pid}` }),
};

describe.each(Object.entries(databases))('commands that run together on %s', (_, open) => {
  /** A run with one step that ada holds, and another engine on the same database. */
  async function openRun() {
    const run = `work-${++count}`;
    let seconds = 0;
    const now = (): string => new Date(Date.UTC(2026, 0, 1) + ++seconds * 1000).toISOString();
    let appends = 0;
    const connect = async (): Promise<Engine> => {
      const store = await open();
      stores.push(store);
      const journal: Store['journal'] = {
        ...store.journal,
        append(batches) {
          appends += 1;
          return store.journal.append(batches);
        },
      };
      return createEngine({ store: { ...store, journal }, now, probe: () => undefined, random: () => 0 });
    };
    const [engine, other] = [await connect(), await connect()];
    await engine.execute(run, { type: 'run.open', title: 'Work', workspace: run }, ada);
    await engine.execute(run, { type: 'plan.add', steps: [{ key: 't1', title: 'Do it', kind: 'task' }] }, ada);
    await engine.execute(run, { type: 'step.start', step: 't1' }, ada);
    const notes = async (): Promise<string[]> => texts(await eventsOf(other, run));
    const sound = async (): Promise<void> => {
      const { chain, derived } = await (await other.maintenance()).audit(run);
      expect([chain, derived]).toEqual([[], []]);
    };
    return { run, engine, other, notes, sound, appends: () => appends };
  }

  it('are appended at once, and leave what they leave one by one', async () => {
    const { run, engine, appends, sound } = await openRun();
    const { run: second, engine: alone } = await openRun();
    const before = appends();
    await engine.together(async (held) => {
      for (const command of someWork()) await held.execute(run, command, ada);
    });
    expect(appends() - before).toBe(1);
    for (const command of someWork()) await alone.execute(second, command, ada);
    // Times and names of the two runs differ.
    const plain = async (from: Engine, name: string) =>
      serializeState(await from.load(name))
        .replaceAll(name, 'RUN')
        .replace(/2026-01-01T[\d:.]+Z/g, 'TIME')
        .replace(/"hash":"\w+"/g, '');
    expect(await plain(engine, run)).toBe(await plain(alone, second));
    await sound();
  });

  it('see each other before they are recorded, and nobody else sees them', async () => {
    const { run, engine, other } = await openRun();
    await engine.together(async (held) => {
      const { session } = await held.execute(run, { type: 'session.start' }, { ...ada, actor: BOB });
      await held.execute(run, { type: 'item.raise', kind: 'question', text: 'Why?' }, ada);
      await held.execute(run, { type: 'effect.begin', name: 'npm test', class: 'idempotent' }, ada);
      await held.execute(run, { type: 'run.amend', title: 'Renamed' }, ada);
      await held.execute('new-run', { type: 'run.open', title: 'Another', workspace: run }, ada);
      expect((await held.recall(run, [session ?? ''])).map(({ kind }) => kind)).toEqual(['session']);
      expect(await held.rows(run, { kind: 'session', limit: 1 })).toMatchObject([{ id: session }]);
      expect(await held.rows(run, { kind: 'effect', limit: 9 })).toHaveLength(1);
      expect(await held.hasRecorded(run, 'none')).toBe(false);
      expect((await held.heads({ workspace: run, limit: 9 })).map(({ title }) => title)).toEqual([
        'Another',
        'Renamed',
      ]);
      expect((await held.heads({ workspace: [run, 'other'], limit: 9 })).length).toBe(2);
      expect((await held.heads({ workspace: run, status: 'archived' })).length).toBe(0);
      expect((await held.heads({ run })).map(({ title }) => title)).toEqual(['Renamed']);
      const [last] = (await eventsOf(held, run)).slice(-1);
      expect((await held.load(run)).version).toBe(last?.version);
      expect(await other.heads({ workspace: run })).toMatchObject([{ title: 'Work' }]);
      expect((await eventsOf(other, run)).length).toBeLessThan(last?.version ?? 0);
      await held.execute(
        'new-run',
        { type: 'run.abort', reason: 'No' },
        { ...ada, actor: { kind: 'person', name: 'eve' }, evidence: 'terminal' },
      );
    });
    const after = await other.heads({ workspace: run, limit: 9 });
    expect(after.map(({ title, status }) => [title, status]).sort()).toEqual([
      ['Another', 'abandoned'],
      ['Renamed', 'active'],
    ]);
    expect(await eventsOf(other, run)).toEqual(await eventsOf(engine, run));
  });

  it('are recorded although one of them is refused', async () => {
    const { run, engine, notes, sound } = await openRun();
    const outcomes = await engine.together(async (held) => {
      const tried: string[] = [];
      for (const command of [note('a'), { type: 'step.start', step: 'none' } as Command, note('b')]) {
        await held.execute(run, command, ada).then(
          () => tried.push('recorded'),
          (thrown: Fault) => tried.push(thrown.code),
        );
      }
      return tried;
    });
    expect(outcomes).toEqual(['recorded', 'not_found', 'recorded']);
    expect(await notes()).toEqual(['a', 'b']);
    await sound();
  });

  it('are not recorded at all if the work fails', async () => {
    const { run, engine, notes } = await openRun();
    const failing = engine.together(async (held) => {
      await held.execute(run, note('a'), ada);
      throw new Fault('invalid', 'No.');
    });
    expect((await faultOf(failing)).code).toBe('invalid');
    expect(await notes()).toEqual([]);
  });

  it('replay a key that was used before, or earlier among them, and refuse it for another command', async () => {
    const { run, engine, notes } = await openRun();
    await engine.execute(run, note('a'), keyed('k1'));
    const seen = await engine.together(async (held) => {
      const again = await held.execute(run, note('a'), keyed('k1'));
      const first = await held.execute(run, note('b'), keyed('k2'));
      const twice = await held.execute(run, note('b'), keyed('k2'));
      expect((await faultOf(held.execute(run, note('c'), keyed('k2')))).code).toBe('usage');
      expect(await held.hasRecorded(run, 'k2')).toBe(true);
      return [again.replayed, first.replayed, twice.replayed];
    });
    expect(seen).toEqual([true, false, true]);
    expect(await notes()).toEqual(['a', 'b']);
  });

  it('are decided again if another process records meanwhile, and lose nothing of either', async () => {
    const { run, engine, other, notes, sound } = await openRun();
    let tries = 0;
    await engine.together(async (held) => {
      tries += 1;
      await held.execute(run, note('a'), ada);
      if (tries === 1) await other.execute(run, note('theirs'), ada);
      await held.execute(run, note('b'), ada);
      const versions = (await eventsOf(held, run)).map(({ version }) => version);
      expect(versions).toEqual(versions.map((_version, index) => index + 1));
    });
    expect(tries).toBe(2);
    expect(await notes()).toEqual(['theirs', 'a', 'b']);
    await sound();
  });

  it('are recorded once if another process records one of them meanwhile', async () => {
    const { run, engine, other, notes, sound } = await openRun();
    let tries = 0;
    const replayed = await engine.together(async (held) => {
      tries += 1;
      const dones = [];
      for (const text of ['a', 'b', 'c']) dones.push(await held.execute(run, note(text), keyed(text)));
      if (tries === 1) await other.execute(run, note('b'), keyed('b'));
      return dones.map((done) => done.replayed);
    });
    expect(replayed).toEqual([false, true, false]);
    expect(await notes()).toEqual(['b', 'a', 'c']);
    await sound();
  });

  it('are given up if others record without pause, and nothing is recorded', async () => {
    const { run, engine, other, notes } = await openRun();
    const failing = engine.together(async (held) => {
      await held.execute(run, note('mine'), ada);
      await other.execute(run, note('theirs'), ada);
    });
    expect((await faultOf(failing)).code).toBe('conflict');
    expect(new Set(await notes())).toEqual(new Set(['theirs']));
  });

  it('have the time they are given', async () => {
    const { run, engine, other } = await openRun();
    const then = '2026-02-03T04:05:06.000Z';
    await engine.together((held) => held.execute(run, note('a'), ada), { now: () => then });
    expect((await eventsOf(other, run)).at(-1)?.at).toBe(then);
  });

  it('are refused if they erase text', async () => {
    const { run, engine, notes } = await openRun();
    await engine.execute(run, note('a'), ada);
    const [last] = (await eventsOf(engine, run)).slice(-1);
    const erase: Command = { type: 'text.erase', versions: [last?.version ?? 0], reason: 'r' };
    const person: Identity = { ...ada, actor: { kind: 'person', name: 'eve' }, evidence: 'terminal' };
    expect((await faultOf(engine.together((held) => held.execute(run, erase, person)))).code).toBe('internal');
    expect(await notes()).toEqual(['a']);
  });
});

const BOB = { kind: 'agent', name: 'bob' } as const;

/** More events than state is saved after, of kinds whose rows are saved at once and later. */
function someWork(): Command[] {
  return Array.from({ length: 30 }, (_, index): Command => {
    if (index % 4 === 0) return { type: 'step.checkpoint', name: `c${index}`, next: 'Continue' };
    if (index % 4 === 1) return note(`n${index}`);
    if (index % 4 === 2) return { type: 'files.see', artifacts: [{ path: `src/${index % 8}.ts`, change: 'modified' }] };
    return index === 3
      ? { type: 'item.raise', kind: 'question', text: 'Why?' }
      : { type: 'run.amend', title: `T${index}` };
  });
}

async function eventsOf(engine: Engine, run: string): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of engine.eventPages(run)) events.push(...page);
  return events;
}

const texts = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === 'note.added' ? [event.body.text] : []));
