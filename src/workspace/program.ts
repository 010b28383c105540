import type { ChildProcessByStdio } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { programEndings } from './platform/system.ts';

/** Every program that is started, except git. A name is looked for outside of a working tree, where anyone may have put one. */

/** The output goes to standard error: the command's own answer is on standard output. */
const OUTPUT_TO_STDERR = ['ignore', 2, 2] as const;

/** Runs a program to its end and returns its exit code. Throws if it cannot be started. */
export async function runProgram(
  [program = '', ...words]: readonly string[],
  cwd: string,
  outside: string,
): Promise<number | null> {
  const file = mustFind(program, outside);
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(file, words, { cwd, stdio: [...OUTPUT_TO_STDERR], windowsHide: true });
    child.on('error', reject);
    child.on('close', (code) => resolve(code));
  });
}

/** Runs a line of shell, which the caller of the command gave, to its end and returns its exit code. */
export async function runShell(command: string, cwd: string): Promise<number | null> {
  const { spawnSync } = await import('node:child_process');
  return spawnSync(command, { shell: true, cwd, stdio: [...OUTPUT_TO_STDERR] }).status;
}

export interface Fed {
  cwd: string;
  outside: string;
  input: string;
  /** Added to the variables of this process. */
  variables: Readonly<Record<string, string>>;
  timeoutMs: number;
}

/** Runs a program with a text on its standard input and throws unless it exits with 0. */
export async function feedProgram([program = '', ...words]: readonly string[], given: Fed): Promise<void> {
  const { cwd, input, variables, timeoutMs: timeout } = given;
  const file = mustFind(program, given.outside);
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    // biome-ignore lint/style/noProcessEnv: a program of the user gets the variables that it gets in the user's shell
    const env = { ...process.env, ...variables };
    const child = spawn(file, words, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'], timeout });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`the command exited with ${code}`))));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Starts a program whose standard input and output are the caller's to use; its errors are shown as they are. */
export async function startPiped(
  [program = '', ...words]: readonly string[],
  cwd: string,
  outside: string,
): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const file = program.includes('/') || program.includes(sep) ? program : mustFind(program, outside);
  const { spawn } = await import('node:child_process');
  return spawn(file, words, { cwd, stdio: ['pipe', 'pipe', 'inherit'], windowsHide: true });
}

/** Starts a program that outlives this process; one that is not found is not started. */
export async function startDetached([program = '', ...words]: readonly string[], outside: string): Promise<void> {
  const file = mustFind(program, outside);
  const { spawn } = await import('node:child_process');
  const child = spawn(file, words, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

const OUTPUT_BYTES = 16 * 1024 * 1024;

/** What a program of the system prints; null if it is not found, fails or takes too long. */
export async function askProgram(
  [program = '', ...words]: readonly string[],
  { cwd, outside, timeoutMs }: Pick<Fed, 'cwd' | 'outside' | 'timeoutMs'>,
): Promise<string | null> {
  const file = isAbsolute(program) ? program : findProgram(program, outside);
  if (file === null) return null;
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    const options = { cwd, timeout: timeoutMs, maxBuffer: OUTPUT_BYTES, windowsHide: true };
    execFile(file, words, options, (failed, output) => resolve(failed ? null : output));
  });
}

/** What a program of the system prints, waited for; null if it fails or takes too long. */
export function askSystem(
  program: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
  timeoutMs = 2000,
): string | null {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  // biome-ignore lint/style/noProcessEnv: the program gets the variables of this process
  const env = { ...process.env, ...variables };
  const { status, stdout } = spawnSync(program, words, {
    encoding: 'utf8',
    env,
    timeout: timeoutMs,
    maxBuffer: OUTPUT_BYTES,
    windowsHide: true,
  });
  return status === 0 ? stdout : null;
}

function mustFind(program: string, outside: string): string {
  const file = isAbsolute(program) ? program : findProgram(program, outside);
  if (file === null) throw new Error(`${program} was not found outside the workspace`);
  return file;
}

/** A program from the absolute entries of the search path that lie outside a folder; null when there is none. */
export function findProgram(name: string, outside: string): string | null {
  // biome-ignore lint/style/noProcessEnv: a program is looked for where the user's own shell would find it
  const entries = (process.env['PATH'] ?? '').split(delimiter);
  const endings = programEndings();
  for (const folder of entries) {
    if (!isAbsolute(folder) || folder === outside || folder.startsWith(`${outside}${sep}`)) continue;
    for (const ending of endings) {
      const file = join(folder, `${name}${ending}`);
      if (isProgram(file)) return file;
    }
  }
  return null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
