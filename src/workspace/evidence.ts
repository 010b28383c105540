import { lstatSync, opendirSync, type Stats } from 'node:fs';
import { join, posix } from 'node:path';
import type { Observation } from '../core/views/conflict.ts';
import { type Hashed, isInside, openHasher, realPathOf } from './files.ts';

/** A file as it was recorded. */
export interface Wanted {
  path: string;
  sha256: string | null;
  bytes: number | null;
  stamp: number | null;
}

/** Looks at recorded paths only. A path that leads out of the tree is not followed. */
export async function observeFiles(tree: string, wanted: readonly Wanted[]): Promise<Map<string, Observation>> {
  const bounds = boundsOf(tree);
  const seen = new Map<string, Observation>();
  let hash: Hash | undefined;
  for (const file of wanted) {
    if (seen.has(file.path)) continue;
    const known = inspect(tree, file, bounds);
    if (known.state === 'unread') hash ??= await openHasher();
    seen.set(file.path, known.state === 'unread' ? readContent(known.file, hash as Hash) : known);
  }
  return seen;
}

type Hash = (file: string) => Hashed;

/** Hashing larger files would delay a resuming session. */
const HASHED_BYTES = 256 * 1024 * 1024;

/** What the directory entry says without reading the file. */
function inspect(
  tree: string,
  { path, sha256, bytes, stamp }: Wanted,
  bounds: Bounds,
): Observation | { state: 'unread'; file: string } {
  try {
    if (!bounds.hasFolderOf(path)) return LINK_OUT;
    // Joined by hand: recorded paths are normalized, and `join` takes as long as the `lstat`.
    let file = `${tree}/${path}`;
    let found = entryAt(file);
    // A link inside the tree counts as the file it leads to.
    if (found?.isSymbolicLink()) {
      file = realPathOf(file);
      if (!isInside(bounds.root, file)) return LINK_OUT;
      found = entryAt(file);
    }
    if (!found) return { state: 'absent' };
    if (found.isDirectory()) return { state: 'replaced', by: 'a folder' };
    // Reading a pipe or a device could block.
    if (!found.isFile()) return { state: 'replaced', by: 'no file' };
    // The change time, because the modification time can be set back.
    if (sha256 !== null && found.size === bytes && found.ctimeMs === stamp) return { state: 'present', sha256, bytes };
    if (found.size > HASHED_BYTES) return { state: 'unreadable', why: 'too large to be hashed again' };
    return { state: 'unread', file };
  } catch (thrown) {
    return unreadable(thrown);
  }
}

function readContent(file: string, hash: Hash): Observation {
  try {
    const { sha256, bytes } = hash(file);
    return { state: 'present', sha256, bytes };
  } catch (thrown) {
    return unreadable(thrown);
  }
}

function unreadable(thrown: unknown): Observation {
  return { state: 'unreadable', why: `not readable: ${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}` };
}

const LINK_OUT: Observation = { state: 'replaced', by: 'a link out of the workspace' };

function entryAt(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

interface Bounds {
  root: string;
  /** Whether the folder of a path is in the tree after following links. Each folder is checked once. */
  hasFolderOf(path: string): boolean;
}

function boundsOf(tree: string): Bounds {
  const root = realPathOf(tree);
  const folders = new Map<string, boolean>();
  return {
    root,
    hasFolderOf(path) {
      const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      const known = folders.get(folder);
      if (known !== undefined) return known;
      const inside = isInside(root, realPathOf(join(tree, folder)));
      folders.set(folder, inside);
      return inside;
    },
  };
}

/** How many entries of the tree are searched for lost files in total. */
const CANDIDATES_LIMIT = 2000;

/**
 * Finds where the content of lost files is now. Candidates are the files that git calls new, or without git the first ones
 * from the top of the tree, and the files in the folders of the lost ones. Only those of the right size that are not
 * recorded themselves are read.
 */
export async function findMoved(
  tree: string,
  lost: readonly Wanted[],
  recorded: ReadonlySet<string>,
  added: readonly string[] | null,
): Promise<Map<string, string>> {
  const moved = new Map<string, string>();
  // All empty files have the same hash.
  const missing = lost.filter((file) => file.sha256 !== null && file.bytes !== null && file.bytes > 0);
  if (missing.length === 0) return moved;
  const bounds = boundsOf(tree);
  const hash = await openHasher();
  const sizes = new Set(missing.map((file) => file.bytes));
  for (const path of candidates(tree, missing, added)) {
    if (recorded.has(path) || moved.size === missing.length) continue;
    try {
      const entry = entryAt(join(tree, path));
      if (!entry?.isFile() || !sizes.has(entry.size) || entry.size > HASHED_BYTES || !bounds.hasFolderOf(path))
        continue;
      const { sha256 } = hash(join(tree, path));
      const match = missing.find((file) => file.sha256 === sha256 && !moved.has(file.path));
      if (match) moved.set(match.path, path);
    } catch {
      // A file that cannot be read is not a match.
    }
  }
  return moved;
}

function candidates(tree: string, missing: readonly Wanted[], added: readonly string[] | null): Set<string> {
  const found = new Set<string>();
  for (const path of added ?? []) {
    if (path.endsWith('/')) listBelow(tree, path.slice(0, -1), found);
    else if (found.size < CANDIDATES_LIMIT) found.add(path);
  }
  for (const folder of new Set(missing.map((file) => posix.dirname(file.path)))) listIn(tree, folder, found);
  if (added === null) listBelow(tree, '.', found);
  return found;
}

/** Folders without anyone's work in them. */
const skipped: ReadonlySet<string> = new Set(['.git', '.holdfast', 'node_modules']);

/** Git reports a new folder as one entry. */
function listBelow(tree: string, folder: string, found: Set<string>): void {
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined && found.size < CANDIDATES_LIMIT; next = folders.shift()) {
    folders.push(...listIn(tree, next, found));
  }
}

/** Adds the files in a folder and returns the folders in it; reads one entry at a time, as there may be very many. */
function listIn(tree: string, folder: string, found: Set<string>): string[] {
  const folders: string[] = [];
  try {
    const entries = opendirSync(join(tree, folder));
    try {
      for (let seen = 0; seen < CANDIDATES_LIMIT && found.size < CANDIDATES_LIMIT; seen++) {
        const entry = entries.readSync();
        if (!entry) break;
        const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isFile()) found.add(path);
        else if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
      }
    } finally {
      entries.closeSync();
    }
  } catch {
    // The folder is gone.
  }
  return folders;
}
