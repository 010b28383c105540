import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MAIN as APEX, v3 } from '../../formats/apex/samples.suite.ts';
import { short } from '../../formats/codewalk/samples.suite.ts';
import { page } from '../../formats/gsd/pages.suite.ts';
import { fixture } from '../../formats/snap/fixture.suite.ts';
import { pages } from '../../formats/text/page.ts';
import { trees } from '../../formats/text/yaml.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { loadOperation, type OperationName } from '../index.ts';
import { openContext } from '../open.ts';
import { callOperation } from '../operation.ts';

const opened: { dir: string; context: Context & { close(): Promise<void> }; store: Store }[] = [];
afterEach(async () => {
  for (const { dir, context, store } of opened.splice(0)) {
    await context.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

interface Counted {
  /** Calls of the database, each a fixed number of statements, by name. */
  calls: Map<string, number>;
  /** Rows that were read. */
  rows: number;
}

/** The real store; its calls are counted. */
function counting(store: Store, counted: Counted): Store {
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value === 'object' && value !== null) return wrap(value);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          counted.calls.set(String(name), (counted.calls.get(String(name)) ?? 0) + 1);
          const answer: unknown = value.apply(target, args);
          if (name !== 'rows') return answer;
          return (answer as Promise<unknown[]>).then((rows) => {
            counted.rows += rows.length;
            return rows;
          });
        };
      },
    });
  return wrap(store);
}

async function mirrored(main: string, files: ReadonlyMap<string, string>) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-cost-'));
  const counted: Counted = { calls: new Map(), rows: 0 };
  const store = await openSqliteStore({ file: join(dir, 'journal.db') });
  const context = openContext({
    dir,
    store: counting(store, counted),
    actor: { kind: 'agent', name: 'ada' },
    evidence: 'library',
  });
  opened.push({ dir, context, store });
  const call = async (name: OperationName, input: object = {}) =>
    (await callOperation(await loadOperation(name), context, input)).data as Record<string, unknown>;
  for (const [path, text] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  await call('init', { title: 'Other work', id: 'other' });
  const { found } = (await call('adopt', { mirror: true })) as { found: { run: string; path: string }[] };
  context.run = found.find(({ path }) => path === main)?.run ?? '';
  /** What an operation asks of the database, and how many texts it parses. */
  const cost = async (name: OperationName, input: object = {}) => {
    counted.calls.clear();
    counted.rows = 0;
    const before = pages.computed + trees.computed;
    const data = await call(name, input);
    return {
      data,
      calls: { ...Object.fromEntries(counted.calls) },
      rows: counted.rows,
      parses: pages.computed + trees.computed - before,
    };
  };
  return { dir, context, call, cost };
}

const notes = 150;

describe('the cost of a mirror', () => {
  it.each([
    ['apex', APEX, new Map([[APEX, v3]])],
    ['codewalk', 'STATE.md', new Map([['STATE.md', short]])],
    ['gsd', '.planning/STATE.md', new Map([['.planning/STATE.md', page('G3')]])],
  ])('of %s does not grow with the notes of a run', { timeout: 120_000 }, async (_, main, files) => {
    const { context, call, cost } = await mirrored(main, files);
    const engine = await context.engine();
    const run = context.run ?? '';
    await call('raise', { kind: 'blocker', text: 'The first one' });
    const early = await cost('mirror.sync', { keep: 'journal' });
    for (let count = 0; count < notes; count++)
      await engine.execute(run, { type: 'note.add', text: `Note ${count}`, kind: 'worklog' }, context.identity);
    await cost('mirror.sync');
    const late = await cost('mirror.sync', { keep: 'journal' });
    expect({ calls: late.calls, rows: late.rows }).toEqual({ calls: early.calls, rows: early.rows });
  });

  it('asks for nothing and parses nothing if neither journal nor files changed', async () => {
    for (const [main, files] of [
      [APEX, new Map([[APEX, v3]])],
      [fixture('pilot').found.main, fixture('pilot').files],
    ] as const) {
      const { cost } = await mirrored(main, files);
      await cost('mirror.sync');
      const again = await cost('mirror.sync');
      expect([again.parses, again.rows]).toEqual([0, 0]);
    }
  });

  it('parses each text of a snap folder once, and after a write the new one', async () => {
    const { found, files } = fixture('pilot');
    const { dir, cost, call } = await mirrored(found.main, files);
    await call('session.start');
    const mailbox = join(dir, dirname(found.main), 'MAILBOX.md');
    writeFileSync(mailbox, `${readFileSync(mailbox, 'utf8')}\n## Lore\n\nBlue.\n`);
    const { parses, data } = await cost('mirror.sync');
    const { written } = (data as { mirrors: { written: string[] }[] }).mirrors[0] as { written: string[] };
    expect(parses).toBeLessThanOrEqual(1 + written.length);
  });

  it('of the snapshots in chats is paid once: their texts are read when a file lacks them', async () => {
    const { found, files } = fixture('pilot');
    const { cost, call } = await mirrored(found.main, files);
    for (let count = 0; count < 3; count++) {
      await call('session.start');
      await call('session.end', { reason: 'completed' });
    }
    const { calls } = await cost('mirror.sync', { keep: 'journal' });
    expect(calls['event'] ?? 0).toBe(0);
  });
});

describe('adopting', () => {
  it('loads each run once, however many files there are', { timeout: 60_000 }, async () => {
    const files = new Map(
      [APEX, ...['a', 'b', 'c', 'd'].map((name) => `agent-output/${name}/00-session-state.json`)].map((path) => [
        path,
        v3,
      ]),
    );
    const { call, cost } = await mirrored(APEX, files);
    const few = await cost('adopt');
    expect((few.data as { found: unknown[] }).found).toHaveLength(5);
    for (let count = 0; count < 10; count++) await call('init', { title: `Work ${count}`, id: `work-${count}` });
    const many = await cost('adopt');
    // One look at the files of each run, and not one for each run and file.
    const more = (name: string): number => (many.calls[name] ?? 0) - (few.calls[name] ?? 0);
    expect([more('rows'), more('recall')]).toEqual([10, 0]);
  });
});
