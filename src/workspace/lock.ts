import { closeSync, fstatSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Owner } from '../core/journal/event.ts';
import { sha256 } from '../core/sha256.ts';
import { temporaryNameFor } from './guarded/folder.ts';
import { ownerOf, probeOwner } from './process.ts';

/** A lock whose owner cannot be checked counts as left behind after this long. */
const STALE_MS = 60_000;

/**
 * Runs `work` while no other process holds the lock, or returns null if the lock was not free in time. The work must be
 * short. The lock of a process that died is taken over.
 */
export async function withFileLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T | null> {
  mkdirSync(dirname(file), { recursive: true });
  const until = Date.now() + waitMs;
  const mine = lockText();
  while (!create(file, mine)) {
    if (removeStale(file)) continue;
    if (Date.now() >= until) return null;
    await pause(5 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    // Another host cannot check this process and may have taken its lock over by now.
    remove(file, mine);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** No two locks have the same text, so a text identifies one lock. */
function lockText(): string {
  return JSON.stringify({ ...ownerOf(process.pid), id: `${Date.now()}-${Math.random()}` });
}

/** Links a finished file into place: a crash never leaves a lock without an owner in it. */
function create(file: string, text: string): boolean {
  const beside = join(dirname(file), temporaryNameFor(basename(file)));
  writeFileSync(beside, text, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(beside, file);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? false : createUnlinked(file, text);
  } finally {
    unlink(beside);
  }
}

/** For file systems without hard links. */
function createUnlinked(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

/** Returns whether another attempt to create the lock is worth making at once. */
function removeStale(file: string): boolean {
  const found = read(file);
  if (found === null) return true;
  return isStale(found) && remove(file, found.text);
}

/**
 * Removes the lock with this text and no other. Between reading a lock and unlinking it, another process may replace it;
 * so a process first claims the removal of exactly this text, and only one process has that claim at a time. A claim is a
 * lock itself: if its owner died, it is removed the same way.
 */
function remove(file: string, text: string): boolean {
  const claim = `${file}.${sha256(text).slice(0, 16)}`;
  while (!create(claim, lockText())) if (!removeStale(claim)) return false;
  try {
    if (read(file)?.text !== text) return false;
    unlink(file);
    return true;
  } finally {
    unlink(claim);
  }
}

interface Lock {
  text: string;
  modifiedMs: number;
}

/** Reads text and time through one handle, so that both belong to the same lock. */
function read(file: string): Lock | null {
  try {
    const handle = openSync(file, 'r');
    try {
      return { text: readFileSync(handle, 'utf8'), modifiedMs: fstatSync(handle).mtimeMs };
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
}

function isStale({ text, modifiedMs }: Lock): boolean {
  const owner = parseOwner(text);
  const liveness = owner === null ? undefined : probeOwner(owner);
  // A clock that was set back gives a lock a time in the future.
  return liveness === undefined ? Math.abs(Date.now() - modifiedMs) > STALE_MS : liveness === 'dead';
}

function parseOwner(text: string): Owner | null {
  try {
    const { pid, host, startedAt } = JSON.parse(text) as Partial<Owner>;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host, startedAt: startedAt ?? null } : null;
  } catch {
    return null;
  }
}

function unlink(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is gone already.
  }
}
