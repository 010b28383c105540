import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from '../src/workspace/lock.ts';
import { ownerOf } from '../src/workspace/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Takes the lock again and again, and leaves it each time as a process does that dies while it holds it. */
const worker = `
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { withFileLock } from './lock.mjs';
const [lock, log, owner, rounds] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  const held = await withFileLock(lock, 60_000, async () => {
    appendFileSync(log, 'enter ' + process.pid + '\\n');
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    appendFileSync(log, 'leave ' + process.pid + '\\n');
    const left = lock + '.left-' + process.pid;
    writeFileSync(left, JSON.stringify({ ...JSON.parse(owner), id: process.pid + '-' + round }));
    renameSync(left, lock);
    return true;
  });
  if (!held) throw new Error('The lock was not free in time.');
}
`;

describe('the lock between processes', () => {
  let folder = '';
  let lock = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
    const bundle = await rolldown({ cwd: root, input: 'src/workspace/lock.ts', platform: 'node' });
    await bundle.write({ file: join(folder, 'lock.mjs'), format: 'esm' });
    await bundle.close();
    writeFileSync(join(folder, 'worker.mjs'), worker);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    lock = join(mkdtempSync(join(folder, 'case-')), 'lock');
  });

  const self = ownerOf(process.pid);
  const dead = { ...self, pid: spawnSync(process.execPath, ['-e', '']).pid };
  const leave = (owner: object | string, ageMs = 0): void => {
    writeFileSync(lock, typeof owner === 'string' ? owner : JSON.stringify(owner));
    const then = new Date(Date.now() - ageMs);
    utimesSync(lock, then, then);
  };
  const isTaken = async (): Promise<boolean> => (await withFileLock(lock, 0, async () => true)) === true;

  it('never lets two processes in when many take over a lock whose owner died', async () => {
    leave(dead);
    const log = join(folder, 'log');
    const words = [join(folder, 'worker.mjs'), lock, log, JSON.stringify(dead), '100'];
    const workers = Array.from({ length: 6 }, () => spawn(process.execPath, words, { stdio: 'inherit' }));
    const codes = await Promise.all(workers.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1200);
    for (let at = 0; at < lines.length; at += 2) {
      expect(lines[at]).toMatch(/^enter /);
      expect(lines[at + 1]).toBe(lines[at]?.replace('enter', 'leave'));
    }
    expect(readdirSync(join(lock, '..'))).toEqual(['lock']);
  });

  it('is taken over from a process that died, and from one whose number belongs to another process now', async () => {
    leave(dead);
    expect(await isTaken()).toBe(true);
    leave({ ...self, startedAt: 'before this one' });
    expect(await isTaken()).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  it('is not taken from a living process, however long that holds it', async () => {
    leave({ ...self }, 3_600_000);
    expect(await isTaken()).toBe(false);
  });

  it('is taken from an owner that cannot be checked only after a minute', async () => {
    for (const owner of [{ ...dead, host: 'elsewhere' }, '', 'no lock of ours', '4711']) {
      leave(owner);
      expect(await isTaken()).toBe(false);
      leave(owner, 61_000);
      expect(await isTaken()).toBe(true);
    }
  });

  it('is taken over although a process died while it removed it', async () => {
    leave(dead);
    const { sha256 } = await import('../src/core/sha256.ts');
    writeFileSync(`${lock}.${sha256(readFileSync(lock, 'utf8')).slice(0, 16)}`, JSON.stringify(dead));
    expect(await isTaken()).toBe(true);
    expect(readdirSync(join(lock, '..'))).toEqual([]);
  });

  it('is left alone at the end if it belongs to another process by then', async () => {
    const other = JSON.stringify({ ...dead, host: 'elsewhere' });
    await withFileLock(lock, 0, async () => writeFileSync(lock, other));
    expect(readFileSync(lock, 'utf8')).toBe(other);
  });

  it('is released when the work fails', async () => {
    const work = withFileLock(lock, 0, () => Promise.reject(new Error('full')));
    await expect(work).rejects.toThrow('full');
    expect(readdirSync(join(lock, '..'))).toEqual([]);
  });
});
