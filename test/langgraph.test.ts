import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vitest from 'vitest';
import { HoldfastSaver } from '../src/adapters/langgraph.ts';
import { type Holdfast, openHoldfast } from '../src/index.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import type { Store } from '../src/store/store.ts';

/**
 * LangGraph's own validation of checkpointers. `npm run test:long langgraph` sets LANGGRAPH_SUITE and runs all 718 tests on
 * every store; here all but those of `list` run on memory and a file.
 */
const isWhole = process.env['LANGGRAPH_SUITE'] === 'whole';

// The package expects them as globals.
const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } = vitest;
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test });
const { specTest } = await import('@langchain/langgraph-checkpoint-validation');

const folder = mkdtempSync(join(tmpdir(), 'holdfast-langgraph-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let opened = 0;
const stores: Readonly<Record<string, () => Store | string | Promise<Store>>> = {
  memory: () => openMemoryStore(),
  SQLite: () => join(folder, `${opened}.db`),
  ...(isWhole
    ? {
        PostgreSQL: () =>
          openPostgresStore({
            url: vitest.inject('postgresUrl'),
            schema: `lg ${process.pid} ${opened}`,
            connections: 2,
          }),
      }
    : {}),
};

for (const [name, open] of Object.entries(stores)) {
  const close = new Map<HoldfastSaver, () => Promise<void>>();
  specTest<HoldfastSaver>(
    {
      checkpointerName: `HoldfastSaver on ${name}`,
      async createCheckpointer() {
        opened += 1;
        const store = await open();
        const hf: Holdfast = await openHoldfast({ store, agent: 'graph' });
        const saver = new HoldfastSaver(hf);
        close.set(saver, async () => {
          await hf.close();
          if (typeof store === 'object') await store.close();
        });
        return saver;
      },
      async destroyCheckpointer(saver) {
        await close.get(saver)?.();
        close.delete(saver);
      },
    },
    isWhole ? [] : ['put', 'putWrites', 'getTuple', 'deleteThread'],
  );
}
