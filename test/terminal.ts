import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface AtTerminal {
  code: number | null;
  out: string;
  /** What the terminal showed: standard error, and what was typed. */
  err: string;
}

/**
 * Runs a program at a pseudo-terminal of its own, as a person does. The process is detached and has only the given
 * environment, so that neither a variable nor a parent process of the tests' own shell reaches it: the tests may be run by
 * an agent. Standard output goes to a file, because the terminal would break its lines.
 */
export function runAtTerminal(
  argv: readonly string[],
  { cwd, env, typed = '' }: { cwd: string; env: Readonly<Record<string, string>>; typed?: string },
): AtTerminal {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-terminal-'));
  const [out, code] = [join(folder, 'out'), join(folder, 'code')];
  try {
    // The first process ends at once; the call returns when the pipes of the second one are closed.
    const { stdout, error } = spawnSync(
      'setsid',
      detached(`${commandLine(argv, env)} >${quoted(out)}; echo $? >${quoted(code)}`),
      {
        cwd,
        env: ownEnvironment(),
        input: typed,
        encoding: 'utf8',
        timeout: 25_000,
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    if (error) throw error;
    return { code: Number(readFileSync(code, 'utf8')), out: readFileSync(out, 'utf8'), err: stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a program that goes on running at a pseudo-terminal of its own; resolves with its first line of output. */
export async function startAtTerminal(
  argv: readonly string[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<{ line: string; stop(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-terminal-'));
  const [out, pid] = [join(folder, 'out'), join(folder, 'pid')];
  spawnSync('mkfifo', [out]);
  const started = spawn('setsid', detached(`echo $$ >${quoted(pid)}; exec ${commandLine(argv, env)} >${quoted(out)}`), {
    cwd,
    env: ownEnvironment(),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const stop = (): void => {
    started.stdin.destroy();
    process.kill(Number(readFileSync(pid, 'utf8')));
    rmSync(folder, { recursive: true, force: true });
  };
  let text = '';
  for await (const piece of createReadStream(out, 'utf8')) {
    text += piece;
    if (text.includes('\n')) return { line: text.slice(0, text.indexOf('\n')), stop };
  }
  throw new Error(`It ended without a line: ${text}`);
}

const detached = (command: string): string[] => ['--fork', 'script', '-qefc', command, '/dev/null'];

const ownEnvironment = () => ({ PATH: process.env['PATH'] ?? '', SHELL: '/bin/sh' });

function commandLine(argv: readonly string[], env: Readonly<Record<string, string>>): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return ['env', '-i', ...variables, ...argv].map(quoted).join(' ');
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
