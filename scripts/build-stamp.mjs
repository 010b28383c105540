// Which parts of `dist/` were built from other sources than are on disk now.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
const sources = {
  bin: ['src', 'launcher', ...settings],
  lib: ['src', ...settings],
  web: ['src', 'web', ...settings],
};
export const parts = Object.keys(sources);

/** The parts to build: missing, or built from sources with another hash. */
export function stalePartsOf(root) {
  const stamp = readStamp(root);
  return parts.filter((part) => !existsSync(join(root, 'dist', part)) || stamp[part] !== hashOf(root, part));
}

/** Notes what a part is built from; call it with the hash from before the build. */
export function writeStamp(root, part, hash) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist', 'stamp.json'), JSON.stringify({ ...readStamp(root), [part]: hash }));
}

export function hashOf(root, part) {
  const hash = createHash('sha256');
  for (const file of sources[part].flatMap((path) => filesIn(root, path)).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function filesIn(root, path) {
  if (!existsSync(join(root, path))) return [];
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(test|suite)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

function readStamp(root) {
  try {
    return JSON.parse(readFileSync(join(root, 'dist', 'stamp.json'), 'utf8'));
  } catch {
    return {};
  }
}
