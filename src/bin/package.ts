import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package this code belongs to; bundled and as modules it lies at different depths in it. */
export function findPackage(): { folder: string; version: string } {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) return { folder, version: (JSON.parse(readFileSync(file, 'utf8')) as Version).version };
    if (dirname(folder) === folder) return { folder, version: '' };
  }
}

interface Version {
  version: string;
}
