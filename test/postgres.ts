import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One real PostgreSQL for the whole test run. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'));
  const server = await startPostgres(folder, false);
  project.provide('postgresUrl', server.url);
  stop = server.stop;
}

export async function teardown(): Promise<void> {
  await stop();
}

let stop = async () => {};
