// Writes the program in `src/core/sha256-code.ts` anew: `node scripts/run.mjs scripts/sha256.ts`.
import { writeFileSync } from 'node:fs';
import { sha256Program } from './sha256-program.ts';

const bytes = sha256Program();
const rows = Array.from({ length: Math.ceil(bytes.length / 24) }, (_, row) => bytes.slice(row * 24, row * 24 + 24));
writeFileSync(
  'src/core/sha256-code.ts',
  `/** Made by \`scripts/sha256.ts\`; what it does stands in \`scripts/sha256-program.ts\`. */
// biome-ignore format: a program, byte by byte
export const sha256Code: readonly number[] = [
${rows.map((row) => `  ${row.join(', ')},\n`).join('')}];
`,
);
