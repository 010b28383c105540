import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Fault } from '../core/fault.ts';
import type { Command } from '../core/journal/command.ts';
import type { Event } from '../core/journal/event.ts';
import { openDatabase } from '../store/sqlite/driver.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { chainProblems, faultOf } from '../store/suite/fixture.ts';
import { createEngine, type Engine } from './engine.ts';
import type { Identity } from './execute.ts';
import { describeRewound } from './rewound.ts';

const RUN = 'work';
const ada: Identity = { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal', session: null, key: null };
const note = (text: string): Command => ({ type: 'note.add', kind: 'worklog', text });

const folder = mkdtempSync(join(tmpdir(), 'holdfast-rewound-'));
const stores: Store[] = [];
let files = 0;
afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run with two events, in a journal that can go back to a backup while engines have it open. */
async function openRun() {
  files += 1;
  const file = join(folder, `${files}.db`);
  let seconds = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1, 9) + ++seconds * 1000).toISOString();
  const openEngine = async (): Promise<Engine> => {
    const store = await openSqliteStore({ file });
    stores.push(store);
    return createEngine({ store, now, probe: () => undefined, random: () => 0 });
  };
  const engine = await openEngine();
  await engine.execute(RUN, { type: 'run.open', title: 'Work', workspace: 'w' }, ada);
  await engine.execute(RUN, { type: 'plan.add', steps: [{ key: 't1', title: 'Do it', kind: 'task' }] }, ada);
  const inFile = (sql: string): void => {
    const database = openDatabase(file, false);
    database.exec(sql);
    database.close();
  };
  const backup = (): string => {
    const copy = `${file}.${seconds}`;
    inFile(`VACUUM INTO '${copy}'`);
    return copy;
  };
  const restore = (copy: string): void => {
    const tables = ['runs', 'events', 'records', 'tags', 'cache'];
    const back = tables.map((table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM old.${table};`);
    inFile(`ATTACH '${copy}' AS old; BEGIN; ${back.join('\n')} COMMIT`);
  };
  return { engine, openEngine, backup, restore, inFile };
}

async function write(engine: Engine, ...texts: string[]): Promise<void> {
  for (const text of texts) await engine.execute(RUN, note(text), ada);
}

async function eventsOf(engine: Engine): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of engine.eventPages(RUN)) events.push(...page);
  return events;
}

const texts = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === 'note.added' ? [event.body.text] : []));

describe('a store that went back under an engine', () => {
  it('B1: gets no event on top of a state it no longer has, and the loss is named and recorded once', async () => {
    const { engine, openEngine, backup, restore } = await openRun();
    await write(engine, 'a', 'b');
    const old = backup();
    await write(engine, 'c', 'd', 'e');
    restore(old);
    const { rewound } = await engine.execute(RUN, note('f'), ada);
    expect(rewound.map(describeRewound)).toEqual([
      'Run `work`: events 5-7, acknowledged at 2026-01-01T09:00:07.000Z, are no longer in the store.',
    ]);
    const events = await eventsOf(await openEngine());
    expect(chainProblems(events)).toEqual([]);
    expect(texts(events)).toEqual(['a', 'b', 'f']);
    expect(events.at(-1)).toMatchObject({
      type: 'recovery.made',
      body: { from: 'rewound', findings: [expect.stringContaining('events 5-7'), expect.stringContaining('hash')] },
    });
    expect((await engine.execute(RUN, note('g'), ada)).rewound).toEqual([]);
    expect(engine.rewound(RUN)).toHaveLength(1);
    expect(await (await engine.maintenance()).audit(RUN)).toMatchObject({ chain: [], derived: [], complete: true });
  });

  it('is noticed when others wrote past the same version', async () => {
    const { engine, openEngine, backup, restore } = await openRun();
    const old = backup();
    await write(engine, 'a', 'b', 'c');
    restore(old);
    await write(await openEngine(), 'x', 'y', 'z', 'zz');
    const heard: string[] = [];
    engine.onRewound((rewound) => heard.push(describeRewound(rewound)));
    expect((await engine.load(RUN)).version).toBe(6);
    expect(heard).toEqual([
      'Run `work`: events 3-5, acknowledged at 2026-01-01T09:00:05.000Z, are no longer in the store.',
    ]);
    expect((await engine.rows(RUN, { kind: 'note', limit: 9 })).map(({ text }) => text)).toEqual(['zz', 'z', 'y', 'x']);
    expect((await engine.execute(RUN, note('after'), ada)).rewound).toHaveLength(1);
    const events = await eventsOf(engine);
    expect(chainProblems(events)).toEqual([]);
    expect(texts(events)).toEqual(['x', 'y', 'z', 'zz', 'after']);
  });

  it('names one event, and what is gone before the first one this engine knew', async () => {
    const { engine, openEngine, backup, restore } = await openRun();
    const old = backup();
    await write(engine, 'a');
    const late = await openEngine();
    const last = backup();
    await write(late, 'b');
    restore(last);
    await late.load(RUN);
    expect(late.rewound().map(({ first, last: end }) => [first, end])).toEqual([[4, 4]]);
    expect(describeRewound(late.rewound()[0] ?? expect.fail())).toMatch(/: event 4, .* is no longer/);
    restore(old);
    await late.load(RUN);
    expect(late.rewound()[1]).toMatchObject({ first: 3, last: 3, keptHash: null });
  });

  it('refuses with what is gone if the run is not there at all, and a refusal on what is left says it', async () => {
    const { engine, backup, restore, inFile } = await openRun();
    const old = backup();
    await engine.execute(RUN, { type: 'plan.add', steps: [{ key: 't2', title: 'More', kind: 'task' }] }, ada);
    restore(old);
    const left = await faultOf(engine.execute(RUN, { type: 'step.skip', step: 't2', reason: 'Not needed' }, ada));
    expect(left).toMatchObject({ code: 'not_found', data: { rewound: [{ first: 3, last: 3 }] } });
    expect(left.hints[0]).toContain('event 3, acknowledged');
    inFile('DELETE FROM events; DELETE FROM runs; DELETE FROM cache; DELETE FROM records; DELETE FROM tags;');
    const fault = await faultOf(engine.execute(RUN, note('a'), ada));
    expect(fault.code).toBe('rewound');
    expect(fault.message).toMatch(/events 1-2, acknowledged at .* Nothing of the run is there/);
    expect((await faultOf(engine.load(RUN))).code).toBe('rewound');
  });

  it('is not a loss when others only wrote more', async () => {
    const { engine, openEngine } = await openRun();
    await write(await openEngine(), 'x', 'y');
    await write(engine, 'a');
    expect(engine.rewound()).toEqual([]);
  });
});

it('does not use saved state that the events do not lead to', async () => {
  const { engine, openEngine, inFile } = await openRun();
  await write(engine, ...Array.from({ length: 12 }, (_, index) => `${index}`));
  inFile("UPDATE cache SET hash = 'another', state = replace(state, 'Do it', 'Do harm')");
  const state = await (await openEngine()).load(RUN);
  expect(state.steps.get('t1')?.title).toBe('Do it');
  expect(state.version).toBe(14);
});

it('refuses to write when the head names another last event than the journal has', async () => {
  const { engine, inFile } = await openRun();
  inFile("UPDATE runs SET hash = 'another'");
  expect((await faultOf(engine.execute(RUN, note('a'), ada))).code).toBe('corrupt');
});

it('B3: does not try again after a write whose outcome is not known, and says so', async () => {
  const store = await openSqliteStore({ file: join(folder, 'failing.db') });
  stores.push(store);
  const answers: string[] = [];
  // A disk on which waiting for the log fails, and then every write.
  const append: Store['journal']['append'] = async (batches) => {
    const recorded = answers.shift();
    if (recorded === undefined) return store.journal.append(batches);
    throw new Fault('unavailable', 'The disk failed.', { data: { recorded } });
  };
  const now = () => '2026-01-01T09:00:00.000Z';
  const failing = { ...store, journal: { ...store.journal, append } };
  const engine = createEngine({ store: failing, now, probe: () => undefined, random: () => 0 });
  await engine.execute(RUN, { type: 'run.open', title: 'Work', workspace: 'w' }, ada);
  answers.push('unknown', 'no');
  expect((await faultOf(engine.execute(RUN, note('a'), ada))).data['recorded']).toBe('unknown');
  expect(answers).toEqual(['no']);
});
