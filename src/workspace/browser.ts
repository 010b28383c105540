import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDetached } from './program.ts';

/**
 * Opens the browser through a file that only its owner can read: everyone can read the arguments of a process. Returns
 * how to remove the file.
 */
export function openBrowser(url: string, outside: string): () => void {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
    const file = join(folder, 'sign-in.html');
    writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, {
      mode: 0o600,
      flag: 'wx',
    });
    // The link is printed anyway.
    startDetached(browserCommand(file), outside).catch(() => undefined);
    return () => rmSync(folder, { recursive: true, force: true });
  } catch {
    return () => undefined;
  }
}

function browserCommand(file: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', file];
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', file];
  return ['xdg-open', file];
}
