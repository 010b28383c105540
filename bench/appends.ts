import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, type Engine } from '../src/engine/engine.ts';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Store } from '../src/store/store.ts';
import { inTurns, type Row, ratioRow, ratios } from './measure.ts';

/** Durable commands in one process, compared with the driver's own durable insert of the same body. */
export async function measureAppends(folder: string, rounds: number): Promise<Row[]> {
  mkdirSync(folder, { recursive: true });
  const store = await openSqliteStore({ file: join(folder, 'journal.db') });
  const database = openDatabase(join(folder, 'bare.db'), false);
  try {
    const agent = await openWorker(store, 'bench');
    database.exec('PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    database.exec('CREATE TABLE bodies (number INTEGER PRIMARY KEY, body TEXT NOT NULL)');
    // Prepared once, as the store does: the driver leaks statements that are prepared again and again.
    const [begin, insert, commit] = ['BEGIN IMMEDIATE', 'INSERT INTO bodies (body) VALUES (?)', 'COMMIT'].map((sql) =>
      database.prepare(sql),
    );
    const body = JSON.stringify(await agent.checkpoint('first'));
    const times = await inTurns(rounds, {
      bare: () => {
        for (let count = 0; count < APPENDS_PER_ROUND; count++) {
          begin?.run();
          insert?.run(body);
          commit?.run();
        }
      },
      holdfast: async () => {
        for (let count = 0; count < APPENDS_PER_ROUND; count++) await agent.checkpoint(`point-${count}`);
      },
    });
    return [
      ratioRow('durable appends in one process, against the bare driver', ratios(times.bare, times.holdfast), {
        atLeast: 0.7,
      }),
    ];
  } finally {
    await store.close();
    database.close();
  }
}

const APPENDS_PER_ROUND = 100;

export interface Worker {
  engine: Engine;
  /** Records a checkpoint and returns the body of its event. */
  checkpoint(name: string): Promise<unknown>;
}

/** A run of one step with an agent that has taken it. */
export async function openWorker(store: Store, run: string): Promise<Worker> {
  const now = () => new Date().toISOString();
  const engine = createEngine({ store, now, probe: () => undefined, random: Math.random });
  const identity = {
    actor: { kind: 'agent' as const, name: 'claude' },
    evidence: 'agent-shell' as const,
    session: null,
    key: null,
  };
  await engine.execute(run, { type: 'run.open', title: 'Appends', workspace: 'w-bench' }, identity);
  await engine.execute(run, { type: 'plan.add', steps: [{ key: 't1', title: 'Append', kind: 'task' }] }, identity);
  await engine.execute(run, { type: 'step.start', step: 't1' }, identity);
  const next = 'Move the callers of the old ledger, then replay the traffic of yesterday';
  return {
    engine,
    async checkpoint(name) {
      const { events } = await engine.execute(run, { type: 'step.checkpoint', name, next }, identity);
      return events[0]?.body;
    },
  };
}
