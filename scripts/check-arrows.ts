// Checks the imports of `src/` and `web/` against `layers.ts`: `node scripts/run.mjs scripts/check-arrows.ts [folder]`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkArrows } from './arrows.ts';

const root = process.argv[2] ?? '.';
const files = ['src', 'web']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${String(path)}`))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.tsx?$/.test(path));
const refused = checkArrows(new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
for (const { file, imports, message } of refused) console.error(`${file}: ${imports}\n  ${message}`);
console.log(refused.length === 0 ? `${files.length} files, no import refused.` : `${refused.length} refused.`);
process.exitCode = refused.length === 0 ? 0 : 1;
