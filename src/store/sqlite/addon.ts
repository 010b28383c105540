import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { platform } from '../../workspace/platform/system.ts';
import { addonHashes } from './addon-hashes.ts';

/**
 * Loads the prebuilt addon of `@photostructure/sqlite`, for versions of Node whose own SQLite is too old. It is native code,
 * so it is taken only from where the package manager puts the dependencies of this package, and only if its bytes are
 * those of the version that this package was built with. The package's own entry is not used: it looks in more places.
 */
export function loadAddon<Exports>(): Exports {
  const found = placesOf(packageFolder()).filter((file) => existsSync(file));
  for (const file of found) {
    mustBeKnown(file);
    const module = { exports: {} };
    try {
      process.dlopen(module, file);
      return module.exports as Exports;
    } catch (thrown) {
      // The last one is not for another C library: nothing is left to try.
      if (file === found.at(-1)) throw missing(`${file} cannot be loaded: ${(thrown as Error).message}`, thrown);
    }
  }
  throw missing('the package @photostructure/sqlite is not installed', undefined);
}

/** Beside the package where dependencies are hoisted, else inside it; of two C libraries the likelier first. */
function placesOf(folder: string): string[] {
  const system = `${platform}-${process.arch}`;
  const isMusl = platform === 'linux' && existsSync('/etc/alpine-release');
  const libraries = isMusl ? ['musl', 'glibc'] : platform === 'linux' ? ['glibc', 'musl'] : ['glibc'];
  const parent = dirname(folder);
  const modules = [join(folder, 'node_modules'), ...(basename(parent) === 'node_modules' ? [parent] : [])];
  return modules.flatMap((place) =>
    libraries.map((library) =>
      join(place, '@photostructure', 'sqlite', 'prebuilds', system, `@photostructure+sqlite.${library}.node`),
    ),
  );
}

/** The folder of this package; bundled and as modules this file is at different depths in it. */
function packageFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
  }
}

/**
 * Hashing the file takes a tenth of a command, so a file that was found good is known again by its inode, size and time.
 * The note lies beside the program: who can write there can replace the program itself.
 */
function mustBeKnown(file: string): void {
  const { ino, size, mtimeMs } = statSync(file);
  const note = join(packageFolder(), 'dist', `addon-${ino}-${size}-${Math.round(mtimeMs)}.cache`);
  if (existsSync(note)) return;
  mustHaveKnownBytes(file);
  try {
    writeFileSync(note, '');
  } catch {
    // Installed where this user may not write: it is hashed again.
  }
}

function mustHaveKnownBytes(file: string): void {
  const { createHash } = process.getBuiltinModule('node:crypto');
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (addonHashes.has(sha256)) return;
  throw new Fault('unavailable', `${file} is not the SQLite that this Holdfast was built with, and is not loaded.`, {
    hints: [
      'Install Holdfast again: `npm install -g holdfast`.',
      'Node.js 22.22.3, 24.15, 26 and later need no such file.',
    ],
    data: { file, sha256 },
  });
}

function missing(reason: string, cause: unknown): Fault {
  return new Fault('unavailable', `Node.js ${process.versions.node} has no SQLite that is new enough, and ${reason}.`, {
    hints: [
      'Use Node.js 22.22.3, 24.15, 26 or later, whose own SQLite is new enough.',
      'Or install Holdfast with its optional packages: `npm install -g holdfast --include=optional`.',
    ],
    cause,
  });
}
