import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';
import { contextIn, hook, inputsOf, startOf } from './hook-player.ts';
import { makeRepository } from './repository.ts';

const LOST = /^The journal went back: at least (\d+) events? of (.+), recorded until .+ gone \(noticed .+\)\./;
const NEW = /^This journal is new: the one that was here, (s-[0-9a-f]{12}) with (.+), last used .+, is gone/;

/** What the state folder knows of the only journal. */
function known(folder: Folder): { store: string; usedAt: string; runs: [string, { version: number }][] } {
  const [name = ''] = readdirSync(folder.state('stores')).filter((one) => one.endsWith('.json'));
  return JSON.parse(readFileSync(folder.state('stores', name), 'utf8'));
}

let conversations = 0;

const briefAtStart = (folder: Folder): string =>
  contextIn(hook(folder, 'claude', 'SessionStart', startOf(folder, 'startup', `c-${++conversations}`))) ?? '';

/** Everything a person or an agent is told of the record. */
function told(folder: Folder, form = LOST): (RegExpExecArray | null)[] {
  const sentences = [
    (folder.data('status')['history'] as string[] | undefined)?.[0] ?? '',
    ...[
      folder.data('resume')['text'] as string,
      readFileSync(folder.own('RESUME.md'), 'utf8'),
      briefAtStart(folder),
    ].map((text) => text.split('\n')[1] ?? ''),
  ];
  return sentences.map((sentence) => form.exec(sentence));
}

/** A backup is restored while nobody looks. */
function goBack(folder: Folder, ...lost: string[]): void {
  const [file, backup] = [folder.own('journal.db'), join(folder.path, 'backup.db')];
  copyFileSync(file, backup);
  for (const text of lost) folder.data('note', text);
  copyFileSync(backup, file);
  for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}

describe('a journal that went back between two commands', () => {
  it('B1: is reported in status and every brief, and is still written, until a person accepts it', () => {
    const folder = newWorkspace();
    goBack(folder, 'one', 'two', 'three');
    folder.data('note', 'after');
    expect(told(folder).map((found) => found?.slice(1))).toEqual(Array(4).fill(['3', 'run "auth"']));
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('checkpoint', 'drafted', '--agent', 'ada');
    expect(told(folder).map((found) => found?.[1])).toEqual(Array(4).fill('3'));

    expect(folder.data('doctor')).toMatchObject({ findings: [{ code: 'history', level: 'warning' }] });
    expect(folder.fault('doctor', '--accept-history')).toMatchObject({ code: 'not_allowed' });
    expect(folder.person.data('doctor', '--accept-history')).toMatchObject({
      accepted: [expect.stringMatching(LOST)],
      findings: [],
      compared: 1,
    });
    expect(told(folder)).toEqual([null, null, null, null]);
    folder.data('note', 'later');
    expect(told(folder)).toEqual([null, null, null, null]);
  });

  it('is noticed by a command that only looks, and by the start of a session', () => {
    const folder = newWorkspace();
    goBack(folder, 'one');
    expect(folder.run('status').out).toMatch(/Lost\n {2}The journal went back: at least 1 event of run "auth"/);
    const another = newWorkspace();
    goBack(another, 'one');
    expect(briefAtStart(another)).toContain('The journal went back');
  });

  it('is noticed where other events took the place of known ones', () => {
    const folder = newWorkspace();
    goBack(folder, 'one', 'two');
    const forget = known(folder);
    const file = folder.state('stores', `${forget.store}.json`);
    const kept = readFileSync(file);
    for (const text of ['another one', 'another two', 'another three']) folder.data('note', text);
    // As if these had been recorded by a process without this state folder.
    writeFileSync(file, kept);
    expect(told(folder).every((found) => found !== null)).toBe(true);
    expect(folder.run('doctor').out).toContain('is unbroken.');
  });

  it('is noticed on PostgreSQL too', async () => {
    const folder = newFolder();
    folder.env['HOLDFAST_STORE'] = inject('postgresUrl');
    const run = `history-${process.pid}-${Date.now()}`;
    folder.data('init', '--title', 'On a server', '--id', run);
    folder.env['HOLDFAST_RUN'] = run;
    for (const text of ['one', 'two']) folder.data('note', text);
    const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => {} });
    await sql`DELETE FROM holdfast.events WHERE run = ${run} AND version > 2`;
    const [last] = await sql`SELECT hash FROM holdfast.events WHERE run = ${run} AND version = 2`;
    await sql`UPDATE holdfast.runs SET version = 2, hash = ${last?.['hash']} WHERE run = ${run}`;
    await sql`DELETE FROM holdfast.cache WHERE run = ${run}`;
    await sql.end();
    folder.data('note', 'after');
    expect(folder.data('status')['history']).toEqual([expect.stringMatching(LOST)]);
    expect(folder.data('resume')['text']).toContain('at least 1 event of run');
    folder.person.data('doctor', '--accept-history');
    expect(folder.data('status')['history']).toBe(undefined);
  });

  it('is no longer reported once an import brought the events back, which are then no claims', () => {
    const folder = newWorkspace();
    const [file, backup, kept] = ['journal.db', 'backup.db', 'kept.jsonl'].map((name) => folder.own(name)) as [
      string,
      string,
      string,
    ];
    copyFileSync(file, backup);
    folder.person.data('skip', 't3', '--reason', 'no need');
    folder.data('journal', 'export', '--out', kept);
    copyFileSync(backup, file);
    expect(told(folder).every((found) => found !== null)).toBe(true);
    folder.person.data('journal', 'import', kept);
    expect(folder.data('status')['history']).toBe(undefined);
    expect(folder.run('plan', 'show').out).not.toContain('claim');
  });

  it('is not assumed of a backup that is opened to look at it', () => {
    const folder = newWorkspace();
    const backup = join(folder.path, 'backup.db');
    copyFileSync(folder.own('journal.db'), backup);
    folder.data('note', 'later');
    expect(folder.data('status', '--store', backup)['history']).toBe(undefined);
    expect(folder.data('status')['history']).toBe(undefined);
  });
});

describe('a journal that is gone', () => {
  it('N10: with its git folder is named by the new one, in its first record and in every brief', () => {
    const folder = newWorkspace();
    folder.data('note', 'here');
    const { store } = known(folder);
    rmSync(join(folder.path, '.git'), { recursive: true });
    makeRepository(folder.path);
    expect(NEW.exec(briefAtStart(folder).split('\n')[1] ?? '')?.slice(1)).toEqual([store, 'run "auth"']);
    folder.data('init', '--title', 'Again', '--id', 'again');
    folder.data('note', 'first');
    expect(folder.run('log', '--json').out).toMatch(new RegExp(`recovery.made.*${store}`));
    expect(told(folder, NEW).map((found) => found?.[1])).toEqual(Array(4).fill(store));
    folder.person.data('doctor', '--accept-history');
    expect(told(folder, NEW)).toEqual([null, null, null, null]);
  });

  it('N10: alone is noticed too, by the first command', () => {
    const folder = newWorkspace();
    folder.data('note', 'here');
    const { store } = known(folder);
    for (const ending of ['', '-wal', '-shm']) rmSync(folder.own(`journal.db${ending}`), { force: true });
    folder.data('init', '--title', 'Again', '--id', 'again');
    expect(told(folder, NEW).map((found) => found?.[1])).toEqual(Array(4).fill(store));
  });

  it('is not what a new place is, nor a journal in which nothing was recorded', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'First', '--id', 'first');
    expect(told(folder, NEW)).toEqual([null, null, null, null]);
  });
});

describe('what is remembered of a journal', () => {
  it('is the last event of a run after each command, and not written by the hook of a tool call', () => {
    const folder = newFolder();
    const version = (): number => known(folder).runs[0]?.[1].version ?? 0;
    for (const { event, input } of inputsOf('claude', folder)) {
      const isTool = /Tool/.test(event) && /^(Bash|Edit|Write)$/.test(String(input['tool_name']));
      const before = isTool ? known(folder).usedAt : '';
      hook(folder, 'claude', event, input);
      if (isTool) expect([event, known(folder).usedAt]).toEqual([event, before]);
      if (event === 'Stop') expect(version()).toBe(folder.data('status')['version']);
    }
    folder.data('note', 'by a command');
    expect(version()).toBe(folder.data('status')['version']);
  });

  it('goes with a folder that is moved', () => {
    const folder = newWorkspace();
    folder.data('note', 'here');
    const { store } = known(folder);
    const moved = newFolder();
    rmSync(moved.path, { recursive: true });
    renameSync(folder.path, moved.path);
    moved.env['HOLDFAST_STATE_HOME'] = folder.state();
    moved.data('note', 'there');
    expect(known(folder)).toMatchObject({ store, place: moved.own('journal.db') });
    expect(moved.data('status')['history']).toBe(undefined);
  });
});

describe('the journal of a hostile folder', () => {
  it('cannot choose the name of a file by its id', () => {
    const folder = newWorkspace();
    const database = openDatabase(folder.own('journal.db'), false);
    database.exec("UPDATE meta SET store = '../../evil'");
    database.close();
    expect(folder.fault('status')).toMatchObject({ code: 'corrupt', exit: 4 });
    expect(readdirSync(folder.state('stores')).join(' ')).not.toContain('evil');
  });
});
