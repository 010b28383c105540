// Generates the packaged forms below `plugins/`: `node scripts/run.mjs scripts/plugins.ts`.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packagedFiles } from './packages.ts';

const files = packagedFiles((path) => readFileSync(path, 'utf8'));
for (const plugin of new Set([...files.keys()].map((path) => path.split('/')[0] ?? '')))
  rmSync(join('plugins', plugin), { recursive: true, force: true });
for (const [path, text] of files) {
  const file = join('plugins', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
