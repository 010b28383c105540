import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Tool } from '../adapter.ts';
import { type Entry, keepingAdapter } from './ledger.ts';

/**
 * DBOS as the memory of an agent that runs outside it: each entry is the input of a workflow, acknowledged when
 * the workflow has succeeded, and a resuming agent lists the workflows. An agent inside one of its workflows would have
 * its steps repeated from the last that ended, at least once each.
 */
export const dbos: Tool = {
  id: 'dbos',
  name: 'DBOS 5.3.0',
  durability: 'PostgreSQL, synchronous_commit=on',
  isProcess: true,
  needsDatabase: true,
  packages: ['@dbos-inc/dbos-sdk@5.3.0'],
  async open({ installed, database }) {
    const records = await openRecords(installed, database);
    return keepingAdapter({
      keep: (entries) => records.keep(entries),
      async tell() {
        const kept = (await records.list()) as Entry[][];
        const byName = new Map(kept.flat().map((entry) => [`${entry.kind} ${entry.id}`, entry]));
        return { text: kept.length === 0 ? '' : JSON.stringify(kept), calls: 1, entries: [...byName.values()] };
      },
      close: () => records.close(),
    });
  },
};

export interface Records {
  keep(value: unknown): Promise<void>;
  /** All entries, oldest first. */
  list(): Promise<unknown[]>;
  close(): Promise<void>;
}

/** The functions used here; it is installed outside the project and has no types here. */
interface Library {
  setConfig(config: object): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow(run: Keep, options: { name: string }): Keep;
  startWorkflow(
    run: Keep,
    options: { workflowID: string },
  ): (value: unknown) => Promise<{ getResult(): Promise<void> }>;
  listWorkflows(options: object): Promise<{ input?: unknown[] }[]>;
}
type Keep = (value: unknown) => Promise<void>;

// A workflow can be registered only once per process.
let keep: Keep | undefined;

export async function openRecords(installed: string, database: string): Promise<Records> {
  const load = createRequire(join(installed, 'package.json'));
  const { DBOS } = load('@dbos-inc/dbos-sdk') as { DBOS: Library };
  const silent = () => undefined;
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: database, runAdminServer: false, logger });
  keep ??= DBOS.registerWorkflow(async () => undefined, { name: 'keep' });
  const run = keep;
  await DBOS.launch();
  return {
    async keep(value) {
      const handle = await DBOS.startWorkflow(run, { workflowID: `record-${randomUUID()}` })(value);
      await handle.getResult();
    },
    async list() {
      const found = await DBOS.listWorkflows({ workflowName: 'keep', loadInput: true, loadOutput: false });
      return found.map(({ input }) => input?.[0]);
    },
    close: () => DBOS.shutdown(),
  };
}
