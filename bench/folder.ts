import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for everything a measurement writes; it is removed when the process ends, also by a signal. */
export function createBenchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  // The user that PostgreSQL runs as must be able to enter.
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  // Processes of a measurement keep their state there too, never in the user's own state folder.
  process.env['HOLDFAST_STATE_HOME'] = join(folder, 'state');
  return folder;
}
