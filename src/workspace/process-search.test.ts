import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePs, runningIn } from './platform/running.ts';
import { findProcesses, isProcessOf } from './process-search.ts';

let tree: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  tree = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-processes-')));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(tree, { recursive: true, force: true });
});

/** A command as a client starts it, through a shell, which runs until it is ended. */
async function start(command: string, cwd = tree): Promise<ChildProcess> {
  writeFileSync(join(cwd, 'import.sh'), 'echo up; while :; do sleep 1; done\n');
  const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  started.push(child);
  await once(child.stdout ?? child, 'data');
  return child;
}

const now = (): string => new Date().toISOString();

describe.runIf(process.platform === 'linux')('the search for a process', () => {
  it('finds a command that runs, and no longer once it has ended', async () => {
    const child = await start('exec sh import.sh "spring catalogue" full');
    const lost = { id: 'X-1', text: 'sh import.sh "spring catalogue" full', at: now() };
    const found = await findProcesses(tree, [lost]);
    expect(found.get('X-1')).toMatchObject({ is: 'alive', pid: child.pid });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await findProcesses(tree, [lost])).get('X-1')).toEqual({ is: 'none' });
  });

  it('does not take a process of another folder for it', async () => {
    const other = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-elsewhere-')));
    await start('sh import.sh somewhere', other);
    expect((await findProcesses(tree, [{ id: 'X-1', text: 'sh import.sh somewhere', at: now() }])).get('X-1')).toEqual({
      is: 'none',
    });
    rmSync(other, { recursive: true, force: true });
  });

  it('does not take itself for it', async () => {
    const text = process.argv.slice(0, 2).join(' ');
    const at = '2000-01-01T00:00:00.000Z';
    const { pid } = { pid: 0, ...(await findProcesses(process.cwd(), [{ id: 'X-1', text, at }])).get('X-1') };
    expect(pid).not.toBe(process.pid);
  });
});

describe('a process', () => {
  const at = '2026-11-16T14:01:00.000Z';
  const running = {
    pid: 7,
    parent: 1,
    startedMs: Date.parse(at),
    folder: null,
    command: "bash -c cd web && npm run 'soak test'",
  };

  it('is one of a program of this folder, by either path', () => {
    const command = { id: 'X-1', text: './import.sh full', at };
    for (const path of ['./import.sh full', '/shop/import.sh full'])
      expect(isProcessOf(command, { ...running, command: `/bin/sh ${path}` }, '/shop')).toBe(true);
    expect(isProcessOf(command, { ...running, command: '/bin/sh reimport.sh full' }, '/shop')).toBe(false);
  });

  it.each([
    ['cd web && npm run "soak test"', true],
    ['cd shop && npm run "soak test"', true],
    ['npm   run\tsoak test', true],
    ['npm run soak tests', false],
    ['web', true],
    ['cd web || ls', true],
    ['cd web [redacted: token] more', true],
    ['ls && pwd', false],
    ['./web', false],
  ])('is one of %s: %s', (text, isOne) => {
    expect(isProcessOf({ id: 'X-1', text, at }, running, '/shop')).toBe(isOne);
  });

  it('is not a process of a command that began later, or that ran elsewhere', () => {
    const command = { id: 'X-1', text: 'npm run soak test', at };
    expect(isProcessOf(command, { ...running, startedMs: Date.parse(at) - 1900 }, '/shop')).toBe(true);
    expect(isProcessOf(command, { ...running, startedMs: Date.parse(at) - 2100 }, '/shop')).toBe(false);
    expect(isProcessOf(command, { ...running, folder: '/other' }, '/shop')).toBe(false);
    expect(isProcessOf(command, { ...running, folder: '/shop/web' }, '/shop')).toBe(true);
  });

  it('is read from the table of other systems', () => {
    const nowMs = Date.parse('2026-11-16T14:00:00.000Z');
    const ps = '  512     1    05:04 sh -c make all\n    1     0 2-01:00:00 /sbin/launchd\nnonsense\n';
    expect(parsePs(ps, nowMs)).toEqual([
      { pid: 512, parent: 1, startedMs: nowMs - 304_000, folder: null, command: 'sh -c make all' },
      { pid: 1, parent: 0, startedMs: nowMs - 49 * 3_600_000, folder: null, command: '/sbin/launchd' },
    ]);
    const cim = JSON.stringify([
      { ProcessId: 4, ParentProcessId: 0, CommandLine: null, Started: '2026-11-16T13:00:00.0000000Z' },
      { ProcessId: 9, ParentProcessId: 4, CommandLine: 'cmd /c make', Started: '2026-11-16T13:00:00.0000000Z' },
    ]);
    expect(runningIn(cim)).toEqual([
      { pid: 9, parent: 4, startedMs: nowMs - 3_600_000, folder: null, command: 'cmd /c make' },
    ]);
    expect(runningIn('not json')).toBeNull();
  });
});
