import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that `install` wrote in a workspace, as far as its record can be read. Nobody's work is in them. */
export function installedPaths(folder: string): ReadonlySet<string> {
  try {
    const { files } = JSON.parse(readFileSync(join(folder, 'installed.json'), 'utf8')) as { files?: object };
    return new Set(Object.keys(files ?? {}));
  } catch {
    return new Set();
  }
}

/** Git names a folder in place of its files where none of them is tracked. */
export function isInstalled(installed: ReadonlySet<string>, path: string): boolean {
  if (!path.endsWith('/')) return installed.has(path);
  for (const file of installed) if (file.startsWith(path)) return true;
  return false;
}
