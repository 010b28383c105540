import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, inject } from 'vitest';
import { makeRepository, takeForOwn } from './repository.ts';
import { runAtTerminal } from './terminal.ts';

/** The built program, run as a user runs it: as a process with its own environment. */
export const program = fileURLToPath(new URL('../dist/bin/holdfast.cjs', import.meta.url));

/** The data of a command; each test knows its shape. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
type Data = Record<string, any>;

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** The one object that `--json` prints. */
  json: {
    ok: boolean;
    data: Record<string, never>;
    changed: { path: string; before: unknown; after: unknown }[];
    fault: FaultOutput;
  };
}

interface FaultOutput {
  code: string;
  message: string;
  hints: string[];
  data: Data;
}

/** Command lines, given as words. */
interface Commands {
  run(...words: string[]): Ran;
  /** The same with `--json`, which must succeed. */
  data(...words: string[]): Data & { changed: Ran['json']['changed'] };
  /** The same with `--json`, which must be refused. */
  fault(...words: string[]): FaultOutput & { exit: number | null };
}

/** Its commands come from a script: no terminal, and no variable of an agent unless the test sets one. */
export interface Folder extends Commands {
  path: string;
  /** Commands of a person at a terminal. */
  person: Commands;
  /** A command that reads this text from standard input. */
  pipe(text: string, ...words: string[]): Ran;
  start(...words: string[]): Promise<Ran>;
  env: Record<string, string>;
  /** A file in the data folder. */
  own(...parts: string[]): string;
  /** A file in the user's state folder. */
  state(...parts: string[]): string;
}

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** An empty git repository, and beside it a home folder that is the state folder too. */
export function newFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-test-')));
  const state = stateOf(path);
  made.push(path, state);
  makeRepository(path);
  mkdirSync(state, { mode: 0o700 });
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOME: state, HOLDFAST_STATE_HOME: state };
  const pipe: Folder['pipe'] = (text, ...words) => {
    const ran = spawnSync(process.execPath, [program, ...words], {
      cwd: path,
      env,
      input: text,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      timeout: 25_000,
    });
    return read(ran.status, ran.stdout, ran.stderr);
  };
  const run: Commands['run'] = (...words) => pipe('', ...words);
  return {
    path,
    env,
    pipe,
    own: (...parts) => join(path, '.git/holdfast', ...parts),
    state: (...parts) => join(state, ...parts),
    ...commandsBy(run),
    person: commandsBy((...words) => {
      const { code, out, err } = runAtTerminal([process.execPath, program, ...words], { cwd: path, env });
      return read(code, out, err);
    }),
    start: (...words) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [program, ...words], {
          cwd: path,
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        let out = '';
        let err = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          out += text;
        });
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          err += text;
        });
        child.on('close', (code) => resolve(read(code, out, err)));
      }),
  };
}

function commandsBy(run: Commands['run']): Commands {
  return {
    run,
    data(...words) {
      const ran = run(...words, '--json');
      if (ran.code !== 0) throw new Error(`holdfast ${words.join(' ')} exited with ${ran.code}: ${ran.out}${ran.err}`);
      return { ...ran.json.data, changed: ran.json.changed } as ReturnType<Folder['data']>;
    },
    fault(...words) {
      const ran = run(...words, '--json');
      if (ran.code === 0) throw new Error(`holdfast ${words.join(' ')} was not refused: ${ran.out}`);
      return { ...ran.json.fault, exit: ran.code };
    },
  };
}

/** A folder with a run and a plan: a phase with two tasks, and a task after them. */
export function newWorkspace(): Folder {
  return copyOf('workspace', () => withWork(newFolder()));
}

/** The same in a folder without git, whose data is in the state folder. */
export function newPlainWorkspace(): Folder {
  const folder = newFolder();
  rmSync(join(folder.path, '.git'), { recursive: true });
  withWork(folder);
  const [name = ''] = readdirSync(folder.state('data'));
  return { ...folder, own: (...parts) => folder.state('data', name, ...parts) };
}

function withWork(folder: Folder): Folder {
  folder.data('init', '--title', 'User authentication', '--id', 'auth', '--goal', 'Login survives a stolen token');
  folder.data('plan', 'add', 'p1', 'Tokens', '--kind', 'phase');
  const checkpoints = ['--checkpoint', 'drafted', '--checkpoint', 'tested'];
  folder.data('plan', 'add', 't1', 'Issue tokens', '--parent', 'p1', ...checkpoints);
  folder.data('plan', 'add', 't2', 'Rotate tokens', '--parent', 'p1', '--after', 't1');
  folder.data('plan', 'add', 't3', 'Write the docs');
  return folder;
}

/**
 * A copy of a folder that many tests start with. The first test that needs it makes it, with a user's commands, and it is
 * kept for the rest of the run: making it for each test would take most of the time of all tests.
 */
export function copyOf(name: string, make: () => Folder): Folder {
  const kept = join(inject('sharedFolder'), name);
  if (!existsSync(kept)) {
    const { path } = make();
    keep(stateOf(path), stateOf(kept));
    keep(path, kept);
  }
  const folder = newFolder();
  cpSync(kept, folder.path, { recursive: true, preserveTimestamps: true });
  cpSync(stateOf(kept), stateOf(folder.path), { recursive: true, preserveTimestamps: true });
  takeForOwn(folder);
  return folder;
}

export const stateOf = (path: string): string => `${path}.state`;

function keep(path: string, kept: string): void {
  try {
    renameSync(path, kept);
  } catch (thrown) {
    // Another test file made it at the same time.
    if (!existsSync(kept)) throw thrown;
  }
}

function read(code: number | null, out: string, err: string): Ran {
  return {
    code,
    out,
    err,
    get json() {
      return JSON.parse(out) as Ran['json'];
    },
  };
}
