import { closeSync, fstatSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Fault, quoted } from '../core/fault.ts';
import type { Artifact } from '../core/journal/event.ts';
import { sha256OfBytes } from '../core/sha256.ts';
import { pathBelow } from './platform/paths.ts';

/** A path as it is recorded: relative to the tree, with forward slashes. Refuses a path that leads out of the tree. */
export function recordedPath(tree: string, from: string, input: string): string {
  const absolute = resolve(from, input);
  const inside = pathBelow(tree, absolute);
  if (inside === null || inside === '') throw outside(input);
  if (!isInside(realTree(tree), realPathOf(absolute))) throw behindLink(input);
  return inside;
}

/** Cached, because all files of a command are in the same tree. */
function realTree(tree: string): string {
  if (known?.tree !== tree) known = { tree, real: realPathOf(tree) };
  return known.real;
}
let known: { tree: string; real: string } | undefined;

/** Both paths must be real paths. */
export const isInside = (tree: string, path: string): boolean => pathBelow(tree, path) !== null;

function outside(input: string): Fault {
  return new Fault('invalid', `${quoted(input)} is not a file inside the workspace.`, {
    hints: ['Only files below the workspace are recorded; give their path from there.'],
    data: { path: input },
  });
}

function behindLink(input: string): Fault {
  return new Fault('invalid', `${quoted(input)} leads out of the workspace: it is a link, or behind one.`, {
    hints: ['Put the file itself in its place, or name another path.'],
    data: { path: input },
  });
}

/** The real path; of a file that does not exist, by its nearest folder that does. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), path.slice(parent.length));
  }
}

/** The file with its current hash; a missing file is recorded by its name only. */
export async function hashArtifact(tree: string, path: string, seenMs = Infinity): Promise<Artifact> {
  try {
    const file = join(tree, path);
    // Opening a pipe or a device could block forever.
    const found = statSync(file, { throwIfNoEntry: false });
    // What it holds now is not what it held when it was seen.
    if (!found?.isFile() || found.ctimeMs > seenMs) return { path, sha256: null, bytes: null };
    return { path, ...(found.size <= SMALL_BYTES ? hashSmall(file, found.ctimeMs) : (await openHasher())(file)) };
  } catch {
    return { path, sha256: null, bytes: null };
  }
}

/** Up to this size, hashing without node:crypto takes less time than loading it. */
const SMALL_BYTES = 512 * 1024;

/** Uses the change time from before the read: after a change in between, the file is only hashed again. */
function hashSmall(file: string, ctimeMs: number): Hashed {
  const bytes = readFileSync(file);
  return { sha256: sha256OfBytes(bytes), bytes: bytes.length, ...stampOf(ctimeMs) };
}

/** Leaves the stamp out for a file that changed just now: the next change could have the same time. */
function stampOf(ctimeMs: number): { stamp?: number } {
  return Math.abs(Date.now() - ctimeMs) > CLOCK_TICK_MS ? { stamp: ctimeMs } : {};
}

export interface Hashed {
  sha256: string;
  bytes: number;
  stamp?: number;
}

/** Two changes within this time may have the same change time. */
const CLOCK_TICK_MS = 20;
const PIECE_BYTES = 1024 * 1024;

/** For many files: node:crypto and the buffer are loaded once. */
export async function openHasher(): Promise<(file: string) => Hashed> {
  const { createHash } = await import('node:crypto');
  let piece = Buffer.allocUnsafe(16 * 1024);
  return (file) => {
    const handle = openSync(file, 'r');
    try {
      const { size, ctimeMs } = fstatSync(handle);
      // Read in pieces: a file may be larger than memory.
      if (size > piece.length) piece = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
      const hash = createHash('sha256');
      let bytes = 0;
      for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece)) {
        hash.update(piece.subarray(0, read));
        bytes += read;
      }
      return { sha256: hash.digest('hex'), bytes, ...stampOf(ctimeMs) };
    } finally {
      closeSync(handle);
    }
  };
}
