import { linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
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
    // A process that was stopped for a while may find that its lock was taken for left behind.
    if (readOwner(file) === process.pid) remove(file);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** It has its owner in it from its first moment: one that a crash left empty could not be told from one just made. */
function take(file: string): boolean {
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, String(process.pid));
  try {
    linkSync(beside, file);
    return true;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    return takeUnlinked(file);
  } finally {
    remove(beside);
  }
}

/** Some file systems know no links. */
function takeUnlinked(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

function isLeft(file: string): boolean {
  try {
    const age = Date.now() - statSync(file).mtimeMs;
    const pid = readOwner(file);
    if (pid > 0 && pid !== process.pid) {
      try {
        process.kill(pid, 0);
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ESRCH') return true;
      }
    }
    // A clock that was set back makes it a lock of the future.
    return Math.abs(age) > STALE_MS;
  } catch {
    return false;
  }
}

function readOwner(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Somebody was quicker.
  }
}
