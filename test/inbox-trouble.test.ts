import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { bash, began, type Installed, input, newInstalled } from './installed-hooks.ts';

/** What a client sees of a hook; it goes on unless the code is 2, which refuses the tool. */
interface Seen {
  code: number | null;
  out: string;
  err: string;
}

interface How {
  /** Set in the shell before the hook. */
  limit?: string;
  /** The client ends a hook that takes longer. */
  timeout?: number;
  uid?: number;
}

/** As Claude runs it, with the line in its settings. */
function hook(folder: Installed, event: string, text: string, { limit = ':', ...how }: How = {}): Seen {
  const line = `${limit}; sh '${folder.state('holdfast-hook.sh')}' claude ${event} || true`;
  const ran = spawnSync('sh', ['-c', line], {
    cwd: folder.path,
    env: folder.env,
    input: text,
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    ...how,
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

const QUIET: Seen = { code: 0, out: '', err: '' };

const begin = (folder: Installed, name: string, how?: How): Seen =>
  hook(folder, 'PreToolUse', bash(folder, 'PreToolUse', name, name), how);
const stop = (folder: Installed, how?: How): Seen => hook(folder, 'Stop', input(folder, 'Stop', {}), how);

/** Puts another program in place of Holdfast; the result brings it back. */
function replaceProgram(folder: Installed, code: string | null): () => void {
  const file = folder.state('holdfast-hook.sh');
  const text = readFileSync(file, 'utf8');
  const other = folder.state('other.cjs');
  if (code !== null) writeFileSync(other, code);
  writeFileSync(file, text.replace(/ P=\S+/, ` P='${other}'`));
  return () => writeFileSync(file, text);
}

describe('a client goes on, and what was acknowledged is recorded later, when', () => {
  it('the program is gone', () => {
    const folder = newInstalled();
    const repair = replaceProgram(folder, null);
    expect([begin(folder, 'npm test'), stop(folder)]).toEqual([QUIET, QUIET]);
    repair();
    expect(began(folder)).toEqual(['npm test']);
  });

  it('the program crashes', () => {
    const folder = newInstalled();
    const repair = replaceProgram(folder, 'process.abort();');
    expect(begin(folder, 'npm test')).toEqual(QUIET);
    expect(stop(folder)).toMatchObject({ code: 0, out: '' });
    expect(hook(folder, 'UserPromptSubmit', input(folder, 'UserPromptSubmit', { prompt: 'Go on' }))).toMatchObject({
      code: 0,
      out: '',
    });
    repair();
    expect(began(folder)).toEqual(['npm test']);
  });

  it('the program hangs, and the client ends it', () => {
    const folder = newInstalled();
    const repair = replaceProgram(
      folder,
      'setInterval(() => undefined, 1000); setTimeout(() => process.exit(), 20000);',
    );
    expect(begin(folder, 'npm test')).toEqual(QUIET);
    // The report is on disk before the program starts.
    expect(stop(folder, { timeout: 1500 })).toMatchObject({ code: null, out: '' });
    expect(folder.reports()).toHaveLength(2);
    repair();
    expect(began(folder)).toEqual(['npm test']);
    expect(folder.reports()).toEqual([]);
  });

  it('another process holds the journal', () => {
    const folder = newInstalled();
    const database = openDatabase(folder.own('journal.db'), false);
    database.exec('BEGIN IMMEDIATE');
    expect(begin(folder, 'npm test')).toEqual(QUIET);
    expect(hook(folder, 'UserPromptSubmit', input(folder, 'UserPromptSubmit', { prompt: 'Go on' }))).toEqual(QUIET);
    expect(folder.reports()).toHaveLength(1);
    database.exec('ROLLBACK');
    database.close();
    expect(began(folder)).toEqual(['npm test']);
  });

  it('the disk is full', () => {
    const folder = newInstalled();
    expect(begin(folder, 'npm test')).toEqual(QUIET);
    // No file can grow, as on a full disk.
    const seen = begin(folder, 'npm run lost', { limit: 'ulimit -f 0' });
    expect([seen.code, seen.out]).toEqual([0, '']);
    expect(begin(folder, 'npm run lint')).toEqual(QUIET);
    expect(began(folder)).toEqual(['npm test', 'npm run lint']);
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('nothing can be written into the data folder', () => {
    const folder = newInstalled();
    expect(begin(folder, 'npm test')).toEqual(QUIET);
    const isRoot = process.getuid?.() === 0;
    const places = [folder.path, folder.state()];
    // Root writes everywhere: the hook is run by another user, whom everything belongs to meanwhile.
    if (isRoot) execFileSync('chown', ['-R', '65534', ...places]);
    chmodSync(folder.inbox(), 0o500);
    const seen = begin(folder, 'npm run lost', isRoot ? { uid: 65534 } : {});
    chmodSync(folder.inbox(), 0o700);
    if (isRoot) execFileSync('chown', ['-R', '0', ...places]);
    expect(seen).toEqual(QUIET);
    expect(folder.reports()).toHaveLength(1);
    expect(began(folder)).toEqual(['npm test']);
  });
});
