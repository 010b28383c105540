import { type ChildProcess, spawn } from 'node:child_process';

export interface Started {
  /** The id of the process, and of the group it leads. */
  pid: number;
  /** Resolves when the process and its output have ended. */
  ended: Promise<Ended>;
  /** `kill -9` for it and its process group. */
  kill(): void;
}

export interface Ended {
  code: number | null;
  output: string;
  isLate: boolean;
}

const OUTPUT_CHARS = 4000;

/** Process groups that may still run: stopping the check would not end them. */
const alive = new Set<number>();
process.on('exit', () => {
  for (const pid of alive) endById(-pid);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

/** Starts a program with nothing of this environment; it is killed when its time is over. */
export function start(
  [command, ...words]: readonly [string, ...string[]],
  cwd: string,
  environment: Record<string, string>,
  limitMs: number,
): Started {
  const child: ChildProcess = spawn(command, words, {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // It leads a process group, so that one id ends all of it.
    detached: true,
  });
  const pid = child.pid ?? 0;
  alive.add(pid);
  let output = '';
  let isLate = false;
  const kill = (): void => endById(-pid);
  const take = (piece: Buffer): void => {
    output = (output + piece.toString('utf8')).slice(-OUTPUT_CHARS);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const ended = new Promise<Ended>((resolve) => {
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, limitMs);
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      // A child it left behind may keep the output open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      kill();
      alive.delete(pid);
      resolve({ code, output, isLate });
    };
    child.on('error', (error) => {
      output += error.message;
      finish(null);
    });
    child.on('exit', (code) => setTimeout(() => finish(code), 200));
  });
  return { pid, ended, kill };
}

/** Kills a process by its id, a group by the negative id. Zero would mean our own group. */
export function endById(id: number): void {
  if (!Number.isSafeInteger(id) || Math.abs(id) < 2) return;
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Polls until there is a result; null when the time is over. */
export async function until<T>(look: () => T | null | undefined | false, limitMs: number): Promise<T | null> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > end) return null;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
