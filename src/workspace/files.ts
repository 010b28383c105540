import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Artifact } from '../core/event.ts';
import { Fault, quoted } from '../core/fault.ts';

/** Writes a file whole or not at all: beside it first, then renamed over it. */
export function writeAtomically(file: string, text: string, durable = true): void {
  const beside = `${file}.${process.pid}.tmp`;
  const handle = openSync(beside, 'w');
  try {
    writeSync(handle, text);
    if (durable) fsyncSync(handle);
  } catch (thrown) {
    closeSync(handle);
    unlinkSync(beside);
    throw thrown;
  }
  closeSync(handle);
  renameSync(beside, file);
}

/** Writes a file whole, unless there is one: of several writers the first wins. */
export function writeOnce(file: string, text: string): void {
  const beside = `${file}.${process.pid}.tmp`;
  writeAtomically(beside, text);
  try {
    linkSync(beside, file);
    unlinkSync(beside);
  } catch (thrown) {
    // Some file systems know no links; there the last writer wins.
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') unlinkSync(beside);
    else renameSync(beside, file);
  }
}

/** A path as it is recorded: relative to the tree, with forward slashes. What leads out of the tree is refused. */
export function recordedPath(tree: string, from: string, input: string): string {
  const absolute = resolve(from, input);
  const inside = relative(tree, absolute);
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw outside(input);
  const real = realPathOf(absolute);
  const realInside = relative(realPathOf(tree), real);
  if (realInside === '..' || realInside.startsWith(`..${sep}`) || isAbsolute(realInside)) throw outside(input);
  return inside.split(sep).join('/');
}

function outside(input: string): Fault {
  return new Fault('invalid', `${quoted(input)} is not a file inside the workspace.`, {
    hints: ['Only files below the workspace are recorded; give their path from there.'],
    data: { path: input },
  });
}

/** The real path, of the nearest folder that exists if the file does not. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), path.slice(parent.length));
  }
}

/** The file with its hash as it is now; one that is not there is recorded as named only. */
export async function hashArtifact(tree: string, path: string): Promise<Artifact> {
  const file = join(tree, path);
  try {
    const found = statSync(file);
    // Reading a pipe or a device would wait for a writer, perhaps for ever.
    if (!found.isFile()) return { path, sha256: null, bytes: null };
    const { createHash } = await import('node:crypto');
    return { path, sha256: createHash('sha256').update(readFileSync(file)).digest('hex'), bytes: found.size };
  } catch {
    return { path, sha256: null, bytes: null };
  }
}
