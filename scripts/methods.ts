// Generates `src/methods/`: `node scripts/run.mjs scripts/methods.ts`.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderMethods } from './render-methods.ts';

const files = await renderMethods((path) => readFileSync(path, 'utf8'));
rmSync('src/methods', { recursive: true, force: true });
mkdirSync('src/methods');
for (const [name, text] of files) writeFileSync(join('src/methods', name), text);
