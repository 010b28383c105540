import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCommand } from './platform/system.ts';
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
    startDetached(openCommand(file), outside).catch(() => undefined);
    return () => rmSync(folder, { recursive: true, force: true });
  } catch {
    return () => undefined;
  }
}
