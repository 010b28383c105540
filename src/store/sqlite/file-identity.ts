import { renameSync, rmSync, statSync } from 'node:fs';
import { Fault } from '../../core/fault.ts';

/** Device and inode of the file at a path; null when there is none. */
export function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/**
 * A write-ahead log that belongs to a replaced database must not be read as that of the new one: SQLite would write its
 * pages into a file they do not fit. `log` is the identity it had; a log that came with the new file is left alone.
 */
export function setAsideLog(file: string, log: string | null): void {
  if (log === null || identityOf(`${file}-wal`) !== log) return;
  renameSync(`${file}-wal`, `${file}-wal.replaced`);
  rmSync(`${file}-shm`, { force: true });
}

export function goneFault(file: string): Fault {
  return new Fault('unavailable', `The journal ${file} is gone: it was deleted or moved while it was in use.`, {
    hints: ['Nothing was written. Put the file back, or stop this process: the next command begins a new journal.'],
    data: { file, recorded: 'no' },
  });
}

export function replacedFault(file: string): Fault {
  return new Fault('unavailable', `The journal ${file} was deleted or replaced while it was being written.`, {
    hints: ['What was written may be gone with the old file. `holdfast log` shows what is recorded; then try again.'],
    data: { file, recorded: 'unknown' },
  });
}
