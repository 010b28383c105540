import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bring, bringNode } from './bring.ts';
import { type Client, type ClientName, clients, startOf } from './clients.ts';
import { type Model, openModel, type Request, type Turn } from './model.ts';
import { type Ended, endById, type Started, start, until } from './start.ts';

/** A client that is installed from npm. */
export interface Ready {
  client: Client;
  /** The program and its first arguments. */
  start: readonly [string, ...string[]];
}

/** All of them; `failed` learns of one that cannot be installed. */
export function bringClients(failed: (client: ClientName, why: string) => void): Ready[] {
  const node = bringNode();
  return clients.flatMap((client) => {
    try {
      const folder = bring(client.name, client.package, client.version, node, client.finish);
      return [{ client, start: startOf(client, folder, node) }];
    } catch (thrown) {
      failed(client.name, (thrown as Error).message);
      return [];
    }
  });
}

/** One machine: a home folder, a repository and a scripted model that all clients use. */
export interface Scene {
  home: string;
  project: string;
  model: Model;
  /** Installs Holdfast for a client in the repository; null, or why that failed. */
  install(ready: Ready): string | null;
  /** Starts a client on a prompt; the model plays these turns. */
  talk(ready: Ready, prompt: string, turns: readonly Turn[], how?: How): Talk;
  /** Makes the settings of a client without Holdfast, and gives its environment. */
  settle(client: Client): Record<string, string>;
  git(...words: string[]): void;
  /** Puts a program into the user's own folder of programs, or a script into the repository. */
  script(path: string, text: string): void;
  holdfast(...words: string[]): Record<string, unknown>;
  journal(...words: string[]): Recorded[];
  /** Keeps repository and home folder as they are now; the result brings them back. */
  keep(): () => void;
  close(): void;
}

export interface How {
  /** Continues the client's last conversation. */
  continues?: boolean;
  /** A folder of the repository. */
  in?: string;
}

export interface Talk extends Started {
  /** What the model was asked since. */
  requests(): Request[];
}

export interface Recorded {
  type: string;
  session: string | null;
  text: string;
}

/** Time limits for one conversation and for all of them together. */
export const LIMIT_MS = 180_000;
const SCENE_LIMIT_MS = 1_800_000;

const program = join(process.cwd(), 'dist/bin/holdfast.cjs');

export async function openScene(folder: string): Promise<Scene> {
  const end = Date.now() + SCENE_LIMIT_MS;
  const home = join(folder, 'home');
  const project = join(folder, 'harbour');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  mkdirSync(project);
  const environment = plainEnvironment(home);
  const git = (...words: string[]): void => {
    execFileSync('git', words, { cwd: project, env: environment, stdio: 'ignore' });
  };
  writeFileSync(join(project, 'README.md'), '# Harbour\n');
  git('init', '-b', 'main');
  // Gemini's shell does not see the user's own settings of git.
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', '-A');
  git('commit', '-m', 'Begin');
  const model = await openModel(join(folder, 'model.jsonl'));
  const stage = { home, project, url: model.url };
  // Requests to other hosts end at the model, which refuses them.
  const outside = { HTTP_PROXY: model.url, HTTPS_PROXY: model.url, NO_PROXY: '127.0.0.1,localhost' };
  const run = (words: readonly string[]) =>
    spawnSync(process.execPath, [program, ...words], {
      cwd: project,
      env: environment,
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 64 * 1024 * 1024,
    });
  const holdfast = (...words: string[]): Record<string, unknown> => {
    const ran = run([...words, '--json']);
    const { ok, data } = JSON.parse(ran.stdout || '{}') as { ok?: boolean; data?: Record<string, unknown> };
    if (ok !== true || !data) throw new Error(`holdfast ${words.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return data;
  };
  return {
    home,
    project,
    model,
    install({ client }) {
      const ran = run(['install', client.name, '--project']);
      if (ran.status !== 0) return `exit ${ran.status}: ${ran.stderr || ran.stdout}`;
      client.settle(stage);
      return null;
    },
    talk({ client, start: words }, prompt, turns, { continues = false, in: below = '' } = {}) {
      const cwd = join(project, below);
      const from = model.requests.length;
      model.play(turns, cwd);
      const limitMs = Math.max(1000, Math.min(LIMIT_MS, end - Date.now()));
      const own = { ...environment, ...outside, ...client.environment(stage) };
      const started = start([...words, ...client.words(prompt, continues)], cwd, own, limitMs);
      return { ...started, requests: () => model.requests.slice(from) };
    },
    settle(client) {
      client.settle(stage);
      return { ...environment, ...outside, ...client.environment(stage) };
    },
    git,
    script(path, text) {
      const file = join(path.startsWith('~/') ? home : project, path.replace('~/', ''));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    },
    holdfast,
    journal(...words) {
      const { events } = holdfast('log', '--limit', '1000', ...words) as { events: Omit<Recorded, 'text'>[] };
      return events.map((event) => ({ type: event.type, session: event.session, text: JSON.stringify(event) }));
    },
    keep() {
      const kept = mkdtempSync(join(folder, 'kept-'));
      copy(folder, kept);
      return () => {
        for (const name of parts) rmSync(join(folder, name), { recursive: true, force: true });
        copy(kept, folder);
      };
    },
    close: () => model.close(),
  };
}

const parts = ['home', 'harbour'];

function copy(from: string, to: string): void {
  // A client that was killed leaves its socket behind.
  const filter = (path: string): boolean => !lstatSync(path).isSocket();
  const how = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter };
  for (const name of parts) cpSync(join(from, name), join(to, name), how);
}

/** Nothing of this environment; both commands of the package are on the search path, in login shells too. */
function plainEnvironment(home: string): Record<string, string> {
  const bin = join(home, 'bin');
  const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  if (!existsSync(bin)) {
    mkdirSync(bin, { recursive: true });
    symlinkSync(program, join(bin, 'holdfast'));
    symlinkSync(join(dirname(program), 'holdfast-hook'), join(bin, 'holdfast-hook'));
    writeFileSync(join(home, '.profile'), `PATH=${path}\n`);
  }
  return {
    PATH: path,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TERM: 'dumb',
    CI: '1',
    NO_COLOR: '1',
  };
}

/** A command that writes its process id outside the repository, so that it can be ended after its client was killed. */
export const longCommand = (name: string): string => `echo $$ > ~/${name}.pid; echo ${name}; exec sleep 300`;

/** Kills the client while its `longCommand` runs. The process of the command; null if it never began. */
export async function killDuring(
  talk: Talk,
  { home }: Scene,
  name: string,
  endsCommand = true,
): Promise<number | null> {
  const file = join(home, `${name}.pid`);
  const pid = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8')), LIMIT_MS - 10_000);
  talk.kill();
  await talk.ended;
  if (pid && endsCommand) endById(pid);
  return pid;
}

/** Waits until a client has written down what it said: some do that a moment later, and a kill before it loses the words. */
export async function isWritten({ home }: Scene, folder: string, words: string): Promise<void> {
  const has = (): boolean => {
    const root = join(home, folder);
    const files = existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [];
    return files.some((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(words));
  };
  await until(has, 20_000);
}

/** Kills the client while the model thinks. */
export async function killThinking(talk: Talk, { model }: Scene): Promise<void> {
  await until(() => model.isHanging(), LIMIT_MS - 10_000);
  talk.kill();
  await talk.ended;
}

export function endedWell({ code, isLate, output }: Ended): string | null {
  if (isLate) return `its time was over; its last output: ${oneLine(output)}`;
  return code === 0 ? null : `exit ${code}: ${oneLine(output)}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(-300);

export const turnsIn = (requests: readonly Request[]): Request[] => requests.filter(({ kind }) => kind === 'turn');

/** The briefs in a request, as the model reads them, each once. */
export function briefsIn(requests: readonly Request[]): string[] {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const [brief] of value.matchAll(/Holdfast record of \d{4}-[^<]*?(?=\n\n|\n*(?:<|&lt;)|\s*$(?![\s\S]))/g))
        found.add(brief.trim());
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  for (const { text } of requests) look(JSON.parse(text));
  return [...found];
}
