import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRepository, takeForOwn } from '../../repository.ts';

/** The project: tests and the long run are started there. */
const root = process.cwd();
export const program = join(root, 'dist', 'bin', 'holdfast.cjs');

// biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asked for
export type Data = Record<string, any>;

export interface Answer {
  /** Null when the process was killed. */
  code: number | null;
  out: string;
  err: string;
  ok: boolean;
  data: Data;
  fault: { code: string; message: string; hints: string[]; data: Data } | null;
  warnings: string[];
}

/** A folder that the program works in, as a user would. */
export interface Place {
  path: string;
  env: Record<string, string>;
  run(words: readonly string[], more?: RunOptions): Answer;
  start(words: readonly string[], more?: RunOptions): Promise<Answer>;
  /** A command that must succeed. */
  data(...words: string[]): Data;
  copy(): Place;
  file(...parts: string[]): string;
  /** A file in the data folder. */
  own(...parts: string[]): string;
  remove(): void;
}

export interface RunOptions {
  env?: Environment;
  input?: string;
  /** Arguments of Node itself. */
  node?: readonly string[];
  /** Called with the process id once it runs. */
  onStart?: (pid: number) => void;
}

/** Variables for the commands of a place; they may name another store than the folder's own. */
export type Environment = Readonly<Record<string, string>>;

/** A command that takes longer counts as hanging. */
const HANG_MS = 60_000;

export function newPlace(more: Environment = {}, path = mkdtempSync(join(tmpdir(), 'holdfast-faults-'))): Place {
  // The user's state lies inside too, so that a copy of the place has everything; `HOME` allows that.
  const state = join(path, '.git', 'state');
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: path,
    HOLDFAST_STATE_HOME: state,
    ...more,
  };
  makeRepository(path);
  const place: Place = {
    path,
    env,
    run(words, { env: more, input, node = [] } = {}) {
      const ran = spawnSync(process.execPath, [...node, program, ...words, '--json'], {
        cwd: path,
        env: { ...env, ...more },
        encoding: 'utf8',
        input: input ?? '',
        maxBuffer: 1 << 28,
        timeout: HANG_MS,
        killSignal: 'SIGKILL',
      });
      if (ran.error) throw new Error(`holdfast ${words.join(' ')} did not end: ${ran.error.message}`);
      return answerOf(ran.status, ran.stdout, ran.stderr);
    },
    start: (words, { env: more, input, node = [], onStart } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [...node, program, ...words, '--json'], {
          cwd: path,
          env: { ...env, ...more },
          stdio: ['pipe', 'pipe', 'pipe'],
        });
        const hanging = setTimeout(() => {
          child.kill('SIGKILL');
          reject(new Error(`holdfast ${words.join(' ')} did not end.`));
        }, HANG_MS);
        // A killed process does not read its input to the end.
        child.stdin.on('error', () => undefined).end(input ?? '');
        const printed = { out: '', err: '' };
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed.out += text;
        });
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          printed.err += text;
        });
        child.on('close', (code) => {
          clearTimeout(hanging);
          resolve(answerOf(code, printed.out, printed.err));
        });
        if (child.pid !== undefined) onStart?.(child.pid);
      }),
    data(...words) {
      const answer = place.run(words);
      if (!answer.ok) throw new Error(`holdfast ${words.join(' ')}: ${answer.out}${answer.err}`);
      return answer.data;
    },
    copy() {
      const other = newPlace();
      cpSync(path, other.path, { recursive: true, preserveTimestamps: true });
      Object.assign(other.env, { ...env, HOME: other.path, HOLDFAST_STATE_HOME: join(other.path, '.git', 'state') });
      takeForOwn(other);
      return other;
    },
    file: (...parts) => join(path, ...parts),
    own: (...parts) => join(path, '.git', 'holdfast', ...parts),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  return place;
}

/** A run with a phase of two tasks, another task, an active session, and something of every kind. */
export function workedPlace(env?: Environment): Place {
  if (env !== undefined) return workAt(newPlace(env));
  if (worked === undefined) {
    worked = workAt(newPlace());
    process.on('exit', () => worked?.remove());
  }
  return worked.copy();
}
/** Created once and copied, because creating it takes a second. */
let worked: Place | undefined;

function workAt(place: Place): Place {
  place.data('init', '--title', 'User authentication', '--id', 'auth', '--goal', 'Login survives a stolen token');
  place.data('plan', 'add', 'p1', 'Tokens', '--kind', 'phase');
  place.data('plan', 'add', 't1', 'Issue tokens', '--parent', 'p1', '--checkpoint', 'drafted');
  place.data('plan', 'add', 't2', 'Rotate tokens', '--parent', 'p1', '--after', 't1');
  place.data('plan', 'add', 't3', 'Write the docs');
  place.data('start', 't1', '--agent', 'ada');
  place.data('checkpoint', 'drafted', '--agent', 'ada', '--next', 'Test the draft');
  place.data('decide', '--context', 'Storage', '--decision', 'A cookie', '--reason', 'XSS', '--agent', 'ada');
  place.data('raise', 'question', 'Who owns the vault?');
  place.data('note', 'The vault is slow', '--agent', 'ada');
  return place;
}

export function answerOf(code: number | null, out: string, err: string): Answer {
  const parsed = parse(out);
  return {
    code,
    out,
    err,
    ok: parsed?.['ok'] === true,
    data: parsed?.['data'] ?? {},
    fault: parsed?.['fault'] ?? null,
    warnings: parsed?.['warnings'] ?? [],
  };
}

function parse(out: string): Data | null {
  try {
    return JSON.parse(out) as Data;
  } catch {
    return null;
  }
}

/** Which fault happens at which of the calls that write; see `fault-point.c`. */
export interface FaultPoint {
  at: number;
  action: 'kill' | 'torn' | 'sent' | 'stop' | 'short' | `${number}` | `once:${number}`;
  /** Whether sends over sockets count too. */
  sockets?: boolean;
}

/** The environment in which the program meets a fault. */
export function withFault(place: Place, { at, action, sockets = false }: FaultPoint): Record<string, string> {
  return {
    LD_PRELOAD: libraryFile(),
    FAULT_AT: String(at),
    FAULT_DO: action,
    FAULT_UNDER: place.path,
    ...(sockets ? { FAULT_SOCKETS: '1' } : {}),
  };
}

/** Runs the action and returns the calls that write, in order, each with its name and its file. */
export async function callsOf(
  place: Place,
  carryOut: (env: Environment) => Promise<Answer>,
  sockets = false,
): Promise<{ answer: Answer; calls: string[] }> {
  const log = join(mkdtempSync(join(tmpdir(), 'holdfast-calls-')), 'calls');
  const answer = await carryOut({ ...withFault(place, { at: 0, action: 'kill', sockets }), FAULT_LOG: log });
  const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
  rmSync(join(log, '..'), { recursive: true, force: true });
  const calls = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(`${place.path}/`, '').replace(/\.\d+\.tmp/g, '.PID.tmp'));
  return { answer, calls };
}

/** Faults are injected into system calls by a preloaded library, which needs Linux and a C compiler. */
export const canInject: boolean = process.platform === 'linux' && hasCompiler();

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function libraryFile(): string {
  if (library === undefined) {
    const folder = join(root, 'node_modules', '.cache', 'holdfast-faults');
    mkdirSync(folder, { recursive: true });
    library = join(folder, `fault-point-${process.pid}.so`);
    const source = join(root, 'test', 'long', 'faults', 'fault-point.c');
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
    process.on('exit', () => rmSync(library as string, { force: true }));
  }
  return library;
}
let library: string | undefined;
