import { describe, expect, it } from 'vitest';
import { Fault } from '../core/fault.ts';
import { parseQuestion, type SearchQuery } from '../core/search/query.ts';
import { openMemoryStore } from '../store/memory/store.ts';
import { createEngine, type Engine } from './engine.ts';
import type { Identity } from './execute.ts';
import { limitEngine } from './limit.ts';

const ada: Identity = { actor: { kind: 'person', name: 'ada' }, evidence: 'terminal', session: null, key: null };

/** A store with a run in each of two workspaces, and the engine of a caller that reaches the first. */
async function open() {
  const whole = createEngine({
    store: openMemoryStore(),
    now: () => '2026-01-01T00:00:00.000Z',
    probe: () => undefined,
    random: Math.random,
  });
  for (const [run, workspace] of [
    ['ours', 'w-ours'],
    ['theirs', 'w-theirs'],
  ] as const) {
    await whole.execute(run, { type: 'run.open', title: `The ${run}`, workspace }, { ...ada, key: 'opened' });
    await whole.execute(run, { type: 'note.add', text: 'xylophone', kind: 'worklog' }, ada);
  }
  return { whole, limited: limitEngine(whole, { workspaces: ['w-ours'] }) };
}

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (thrown) {
    return thrown instanceof Fault ? `${thrown.code} ${thrown.message}` : String(thrown);
  }
}

/** Every way to ask about one run. */
const questions: Record<string, (engine: Engine, run: string) => Promise<unknown>> = {
  execute: (engine, run) => engine.execute(run, { type: 'note.add', text: 'more', kind: 'worklog' }, ada),
  replay: (engine, run) =>
    engine.execute(run, { type: 'note.add', text: 'more', kind: 'worklog' }, { ...ada, key: 'opened' }),
  together: (engine, run) =>
    engine.together((held) => held.execute(run, { type: 'note.add', text: 'more', kind: 'worklog' }, ada)),
  recall: (engine, run) => engine.recall(run, ['N-1']),
  rows: (engine, run) => engine.rows(run, { kind: 'note', limit: 9 }),
  savedRows: (engine, run) => engine.savedRows(run, { kind: 'note', limit: 9 }),
  count: (engine, run) => engine.count(run, 'note'),
  hasRecorded: (engine, run) => engine.hasRecorded(run, 'opened'),
  event: (engine, run) => engine.event(run, 1),
  eventPages: (engine, run) => engine.eventPages(run).next(),
  value: (engine, run) => engine.value(run, '0'),
  load: (engine, run) => engine.load(run),
  loadAt: (engine, run) => engine.load(run, 1),
  beat: (engine, run) => engine.beat(run, 'S-1', '2026-01-01T00:00:00.000Z'),
  audit: async (engine, run) => (await engine.maintenance()).audit(run),
  rebuild: async (engine, run) => (await engine.maintenance()).rebuild(run),
  versionsAbout: async (engine, run) => (await engine.maintenance()).versionsAbout(run, 'N-1'),
  drop: async (engine, run) =>
    (await engine.maintenance()).drop(run, { at: '2026-01-01T00:00:00.000Z', by: ada, reason: 'x' }),
  openImport: async (engine, run) =>
    (await engine.maintenance()).openImport(run, { importer: { ...ada, at: '2026-01-01T00:00:00.000Z', file: '' } }),
};

describe('an engine that reaches a part of the store', () => {
  for (const [name, ask] of Object.entries(questions)) {
    it(`answers ${name} about a run outside as about none`, async () => {
      const { limited } = await open();
      expect(await codeOf(() => ask(limited, 'theirs'))).toBe('not_found There is no run `theirs` in memory.');
      expect(await codeOf(() => ask(limited, 'nobody'))).toBe('not_found There is no run `nobody` in memory.');
      // A refusal by a rule is an answer too: the key was used for another command.
      expect(await codeOf(() => ask(limited, 'ours'))).toMatch(name === 'replay' ? /^(?!not_found)/ : /^done$/);
    });
  }

  it('lists, searches and feeds only what is within', async () => {
    const { whole, limited } = await open();
    expect((await limited.heads({})).map(({ run }) => run)).toEqual(['ours']);
    expect(await limited.heads({ run: 'theirs' })).toEqual([]);
    expect(await limited.heads({ workspaces: ['w-theirs'] })).toEqual([]);
    const runsOf = (rows: readonly { run: string }[]) => [...new Set(rows.map(({ run }) => run))];
    const query = parseQuestion('xylophone') as SearchQuery;
    const search = async (engine: Engine) =>
      runsOf((await engine.search(['ours', 'theirs'], query, { offset: 0, limit: 9 })).map(({ row }) => row));
    expect((await search(whole)).sort()).toEqual(['ours', 'theirs']);
    expect(await search(limited)).toEqual(['ours']);
    expect(runsOf((await limited.feed(null, 99)).events)).toEqual(['ours']);
    expect((await limited.feed(null, 99, { runs: ['theirs'] })).events).toEqual([]);
    expect(await (await limited.maintenance()).inspect()).toEqual([]);
  });

  it('opens a run in its workspaces only, and does not tell of one outside with the same id', async () => {
    const { limited, whole } = await open();
    const openRun = (engine: Engine, run: string, workspace: string) =>
      codeOf(() => engine.execute(run, { type: 'run.open', title: 'New', workspace }, { ...ada, key: 'opened' }));
    expect(await openRun(limited, 'new', 'w-ours')).toBe('done');
    expect(await openRun(limited, 'other', 'w-theirs')).toMatch(/^not_allowed/);
    expect(await openRun(limited, 'theirs', 'w-ours')).toBe('illegal The id `theirs` is taken.');
    expect(await openRun(limitEngine(whole, { runs: ['ours'] }), 'fresh', 'w-ours')).toMatch(/^not_allowed/);
    await (await whole.maintenance()).drop('theirs', { at: '2026-01-01T00:00:00.000Z', by: ada, reason: 'over' });
    expect(await openRun(limited, 'theirs', 'w-ours')).toBe('illegal The id `theirs` is taken.');
    expect([await limited.dropped({}), await whole.dropped({})]).toEqual([
      [],
      [expect.objectContaining({ run: 'theirs' })],
    ]);
    expect(await codeOf(() => limited.load('theirs'))).toBe('not_found There is no run `theirs` in memory.');
    expect(await codeOf(() => whole.load('theirs'))).toMatch(
      /^not_found Run `theirs` was dropped at .* by `ada`: `over`/,
    );
  });
});
