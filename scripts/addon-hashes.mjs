// Keeps the table of the SQLite addons that may be loaded: the prebuilt ones of the locked version, for all platforms. With
// --write it writes the table, otherwise it fails if the table is not that of the installed package.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const table = join(root, 'src/store/sqlite/addon-hashes.ts');

export function renderTable() {
  const folder = join(root, 'node_modules/@photostructure/sqlite');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(join(folder, 'prebuilds'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.node'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const lines = files.map((file) => {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex');
    return `  // ${file.replaceAll('\\', '/').replace(/^prebuilds\//, '')}\n  '${sha256}',\n`;
  });
  return `/** The SHA-256 of each addon in @photostructure/sqlite ${version}. Generated: \`node scripts/addon-hashes.mjs --write\`. */
export const addonHashes: ReadonlySet<string> = new Set([\n${lines.join('')}]);\n`;
}

/** Fails the build where the table is not that of the installed package. */
export function checkTable() {
  if (readFileSync(table, 'utf8') === renderTable()) return;
  console.error('src/store/sqlite/addon-hashes.ts is not that of the installed @photostructure/sqlite.');
  console.error('After a look at what changed: `node scripts/addon-hashes.mjs --write`.');
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--write')) writeFileSync(table, renderTable());
  else checkTable();
}
