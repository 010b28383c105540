import { closeSync, mkdirSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** After this long a lock whose owner cannot be asked is taken for left behind. */
const STALE_MS = 60_000;

/**
 * Runs something while no other process of ours does the same, or gives null when it was not our turn in time. Work
 * under it is short. A lock left by a process that died is recognised by its process number.
 */
export async function withFileLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T | null> {
  mkdirSync(dirname(file), { recursive: true });
  const until = Date.now() + waitMs;
  for (;;) {
    if (take(file)) break;
    if (isLeft(file)) {
      // Whoever removes it first goes on; the others find a new one or none.
      remove(file);
      continue;
    }
    if (Date.now() >= until) return null;
    await pause(5 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    remove(file);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function take(file: string): boolean {
  try {
    const handle = openSync(file, 'wx');
    writeSync(handle, String(process.pid));
    closeSync(handle);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

function isLeft(file: string): boolean {
  try {
    const age = Date.now() - statSync(file).mtimeMs;
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid > 0 && pid !== process.pid) {
      try {
        process.kill(pid, 0);
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ESRCH') return true;
      }
    }
    return age > STALE_MS;
  } catch {
    return false;
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Somebody was quicker.
  }
}
