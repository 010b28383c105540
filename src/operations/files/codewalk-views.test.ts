import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, expect, inject, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import { codewalk } from '../../formats/codewalk/format.ts';
import { tableColumns, tableNames } from '../../formats/codewalk/sql.ts';
import { toTables } from '../../formats/codewalk/tables.ts';
import { openPostgresStore } from '../../store/postgres/store.ts';
import { openDatabase } from '../../store/sqlite/driver.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import type { Store } from '../../store/store.ts';
import { readWholeRun } from './parts/run-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-views-'));
const schema = `views ${process.pid}`;
const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => {} });
afterAll(async () => {
  await sql.end();
  rmSync(folder, { recursive: true, force: true });
});

const file = join(folder, 'journal.db');
const databases: Record<string, { open(): Promise<Store>; rows(view: string): Promise<Row[]> }> = {
  sqlite: {
    open: () => openSqliteStore({ file }),
    rows: async (view) => {
      const database = openDatabase(file, true);
      const rows = database.prepare(`SELECT * FROM ${view}`).all() as Row[];
      database.close();
      return rows;
    },
  },
  postgres: {
    open: () => openPostgresStore({ url: inject('postgresUrl'), schema }),
    rows: async (view) => [...(await sql`SELECT * FROM ${sql(schema)}.${sql(view)}`)] as Row[],
  },
};

type Row = Record<string, unknown>;

/** Databases differ in how they write JSON, large numbers and booleans. */
function plain(rows: readonly Row[], view: (typeof tableNames)[number]): Row[] {
  const kinds = new Map<string, string>(tableColumns[view]);
  return rows
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          if (value === null) return [name, null];
          if (name.endsWith('_json')) return [name, JSON.parse(String(value))];
          return [name, kinds.get(name)?.startsWith('TEXT') ? value : Number(value)];
        }),
      ),
    )
    .sort((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1));
}

it.each(Object.entries(databases))('the views of %s show what the exported tables hold', async (_, { open, rows }) => {
  const store = await open();
  let seconds = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1) + ++seconds * 1000).toISOString();
  const engine = createEngine({ store, now, probe: () => undefined, random: () => 0 });
  const run = 'auth';
  const identity = {
    actor: { kind: 'agent' as const, name: 'ada' },
    evidence: 'library' as const,
    session: null,
    key: null,
  };
  const act = (command: Parameters<typeof engine.execute>[1]) => engine.execute(run, command, identity);
  await act({ type: 'run.open', title: 'Auth', workspace: 'w' });
  await act({
    type: 'account.read',
    format: 'codewalk',
    path: 'STATE.md',
    account: {
      run: { title: 'Auth', alias: 'init-7', status: 'active' },
      steps: [
        { key: '1', title: 'Schema', kind: 'phase', status: 'pending' },
        { key: '1-1', title: 'Tables', kind: 'plan', parent: '1', status: 'pending', wave: 2 },
        { key: '2', title: 'Tokens', kind: 'phase', status: 'pending' },
        { key: '2-3', title: 'Rotation', kind: 'plan', parent: '2', status: 'pending' },
      ],
      items: [{ alias: 'block-007', kind: 'blocker', text: 'No key', status: 'resolved', raisedAt: '2025-01-15' }],
      sessions: [{ alias: 'session-004', status: 'crashed', completed: ['Phase 0: Setup'] }],
      decisions: [
        { decision: 'Old', status: 'retracted' },
        { decision: 'No', status: 'active', at: '2025-01-15' },
      ],
      kept: { 'codewalk-counted': { phase: '2', tasks: 8, done: 5 } },
    },
  });
  await act({ type: 'step.start', step: '1-1' });
  await act({ type: 'step.complete', step: '1-1' });
  await act({
    type: 'decision.make',
    context: '',
    decision: 'jose',
    reason: 'Types',
    irreversible: true,
    alternatives: ['x'],
  });
  await act({
    type: 'item.raise',
    kind: 'blocker',
    text: 'No creds',
    affects: ['Phase 2: Tokens'],
    workaround: 'wait',
  });
  await act({ type: 'item.raise', kind: 'finding', text: 'Logs tokens' });
  await act({ type: 'session.end', reason: 'context-exhausted', issues: ['Slow', 'Logs tokens'], contextUsage: 62 });
  await act({ type: 'step.start', step: '2-3' }).catch(() => act({ type: 'item.settle', id: 'B-2', as: 'bypassed' }));
  await act({ type: 'step.start', step: '2-3' });
  await act({ type: 'item.settle', id: 'B-2', as: 'active' });
  await act({ type: 'item.raise', kind: 'finding', text: 'No limit' });
  await act({ type: 'session.end', reason: 'completed', why: 'Lunch' });
  const tables = toTables(await readWholeRun(engine, await engine.load(run), codewalk));
  await store.close();
  for (const view of tableNames)
    expect(plain(await rows(view), view), view).toEqual(plain(tables[view] as unknown as Row[], view));
  expect(tables.initiative_blockers.map(({ id }) => id)).toEqual(['init-7/block-007', 'init-7/block-008']);
  expect(tables.initiative_state).toMatchObject([{ current_phase: 2, current_plan: 3, status: 'blocked' }]);
  expect(tables.session_history.map(({ handoff_reason }) => handoff_reason)).toEqual([
    'crashed',
    'Context limit reached',
    'Lunch',
  ]);
  expect(tables.session_history[1]).toMatchObject({
    id: 'init-7/session-005',
    completed_json: '["Phase 1, Plan 1: Tables"]',
    issues_json: '["Slow","Logs tokens"]',
  });
});
