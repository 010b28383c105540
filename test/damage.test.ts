import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { type Folder, newWorkspace } from './command-line.ts';

const program = fileURLToPath(new URL('../dist/bin/holdfast.cjs', import.meta.url));
const journalOf = (folder: Folder): string => folder.own('journal.db');

function bySql(folder: Folder, ...statements: string[]): void {
  const database = openDatabase(journalOf(folder), false);
  for (const sql of statements) database.exec(sql);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** A workspace with enough in its journal that every part of it can be damaged. */
function workspaceWithHistory(): Folder {
  const folder = newWorkspace();
  folder.data('note', 'n'.repeat(40_000));
  folder.data('decide', '--context', 'c', '--decision', 'd', '--reason', 'r');
  return folder;
}

describe('a damaged journal', () => {
  it('that is garbage or truncated is refused as corrupt by every command and left as it is', () => {
    const folder = workspaceWithHistory();
    const file = journalOf(folder);
    const whole = readFileSync(file);
    const damages: Buffer[] = [
      Buffer.from('this is no database at all'.repeat(400)),
      whole.subarray(0, Math.floor(whole.length / 2)),
      Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 100, 0xa5)]),
    ];
    for (const bytes of damages) {
      writeFileSync(file, bytes);
      for (const words of [['status'], ['note', 'x'], ['log', '--limit', '99'], ['doctor']]) {
        const ran = folder.run(...words, '--json');
        expect([words, ran.code]).toEqual([words, 4]);
        const told = ran.json.ok ? JSON.stringify(ran.json.data) : ran.json.fault.code + ran.json.fault.hints.join(' ');
        expect(told).toMatch(words[0] === 'doctor' ? /corrupt|"code":"store"/ : /^corrupt.*holdfast doctor/);
      }
      expect(readFileSync(file).equals(bytes)).toBe(true);
    }
    writeFileSync(file, whole);
    expect(folder.run('doctor').code).toBe(0);
  });

  it('with one byte flipped is found by doctor or refused, never accepted', () => {
    const folder = workspaceWithHistory();
    const file = journalOf(folder);
    const whole = readFileSync(file);
    // In the text of the note, wherever the database put copies of it.
    const flipped = Buffer.from(whole);
    for (let at = 0; ; at += 4096) {
      at = flipped.indexOf('n'.repeat(500), at);
      if (at < 0) break;
      flipped[at + 250] = 'm'.charCodeAt(0);
    }
    writeFileSync(file, flipped);
    const ran = folder.run('doctor', '--json');
    expect(ran.code).toBe(4);
    expect(ran.json.ok ? ran.json.data['findings'] : [ran.json.fault]).not.toEqual([]);
    expect(readFileSync(file).equals(flipped)).toBe(true);
  });

  it('of a newer program is refused and not touched', () => {
    const folder = newWorkspace();
    bySql(folder, 'PRAGMA user_version=99');
    const before = readFileSync(journalOf(folder));
    for (const words of [['status'], ['note', 'x'], ['doctor', '--rebuild'], ['init', '--title', 'Again']]) {
      expect(folder.fault(...words)).toMatchObject({ code: 'newer_schema', exit: 4, data: { version: 99 } });
    }
    expect(readFileSync(journalOf(folder)).equals(before)).toBe(true);
  });

  it('of another program is refused and not touched', () => {
    const folder = newWorkspace();
    const file = join(folder.path, 'other.db');
    const database = openDatabase(file, false);
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    const before = readFileSync(file);
    expect(folder.fault('note', 'x', '--store', file)).toMatchObject({ code: 'corrupt', exit: 4 });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('has the ids of its clone beside it: broken ones are reported, not replaced', () => {
    const folder = newWorkspace();
    const file = folder.own('clone.json');
    const whole = readFileSync(file, 'utf8');
    for (const text of ['', '{', 'null', '[]', '{"clone": 7}', whole.replace('"c-', '"../c-')]) {
      writeFileSync(file, text);
      expect([text, folder.fault('status')]).toMatchObject([text, { code: 'corrupt', exit: 4 }]);
      expect(folder.fault('init', '--title', 'Again')).toMatchObject({ code: 'corrupt' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
    rmSync(file);
    expect(folder.data('init', '--id', 'again')).toMatchObject({ run: { id: 'again' } });
    expect(folder.data('status', '--run', 'auth')).toMatchObject({ run: { id: 'auth' } });
  });

  it('has settings of the user: broken ones are reported, not replaced', () => {
    const folder = newWorkspace();
    folder.person.data('config', 'notify', 'https://example.com/hook');
    const [name = ''] = readdirSync(folder.state('settings'));
    const file = folder.state('settings', name);
    const whole = readFileSync(file, 'utf8');
    for (const text of [
      '{',
      whole.replace('"https://example.com/hook"', '"sh -c true"'),
      whole.replace('{', '{"store": 5,'),
    ]) {
      writeFileSync(file, text);
      expect([text, folder.fault('status')]).toMatchObject([text, { code: 'corrupt', exit: 4 }]);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });
});

describe('a journal changed by another program', () => {
  it('shows a changed body, a changed envelope and a lost event', () => {
    const changes: [string, RegExp, string?][] = [
      [`UPDATE events SET body = replace(body, 'Rotate', 'Forget') WHERE version = 4`, /body of event 4 was changed/],
      [`UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE version = 4`, /envelope of event 4 was changed/],
      ['DELETE FROM events WHERE version = 4', /Event 4 is missing/],
      ['DELETE FROM events WHERE version = 7', /ends? at (event )?6/],
    ];
    const folder = workspaceWithHistory();
    const whole = readFileSync(journalOf(folder));
    for (const [sql, message] of changes) {
      writeFileSync(journalOf(folder), whole);
      bySql(folder, sql);
      const changed = readFileSync(journalOf(folder));
      for (const flags of [[], ['--rebuild'], []]) {
        const ran = folder.run('doctor', ...flags, '--json');
        expect([sql, flags, ran.code]).toEqual([sql, flags, 4]);
        expect(ran.json.data['findings']).toContainEqual({
          code: 'chain',
          level: 'error',
          at: expect.stringContaining('auth event'),
          message: expect.stringMatching(message),
        });
        if (flags.length === 0 && changed.length > 0) expect(folder.run('doctor').out).toContain('error');
      }
    }
  });

  it('does not list an event twice if one is missing', () => {
    const folder = newWorkspace();
    bySql(folder, 'DELETE FROM events WHERE version = 3');
    const events = folder.data('log', '--limit', '50')['events'] as { version: number }[];
    expect(events.map((event) => event.version)).toEqual([1, 2, 4, 5]);
  });

  it('reports derived data that was changed or dropped, and rebuilds it on request', () => {
    const folder = workspaceWithHistory();
    const findings = (): unknown[] => folder.run('doctor', '--json').json.data['findings'] as unknown as unknown[];
    const changes: [string, RegExp][] = [
      [`UPDATE records SET doc = replace(doc, '"d"', '"forged"') WHERE kind = 'decision'`, /decision D-1 differs/],
      [`DELETE FROM records WHERE kind = 'decision'`, /decision D-1 is missing/],
    ];
    for (const [sql, message] of changes) {
      bySql(folder, sql);
      expect(findings()).toContainEqual(
        expect.objectContaining({ code: 'derived', level: 'error', message: expect.stringMatching(message) }),
      );
      expect(folder.run('doctor').code).toBe(4);
      const rebuilt = folder.run('doctor', '--rebuild', '--json');
      expect([rebuilt.code, rebuilt.json.data['runs']]).toMatchObject([0, [{ run: 'auth', unchanged: false }]]);
      expect(rebuilt.json.data['findings']).toMatchObject([
        { code: 'rebuilt', level: 'warning', message: expect.stringMatching(message) },
      ]);
      expect(findings()).toEqual([]);
    }
    expect(folder.data('decisions')['decisions']).toMatchObject([{ id: 'D-1', decision: 'd' }]);
    expect(folder.data('doctor', '--rebuild')).toMatchObject({ findings: [], runs: [{ unchanged: true }] });
  });

  it('shows a run whose head was dropped', () => {
    const folder = newWorkspace();
    bySql(folder, 'DELETE FROM runs');
    const ran = folder.run('doctor', '--json');
    expect(ran.code).toBe(4);
    expect(JSON.stringify(ran.json.data['findings'])).toContain('auth');
  });
});

describe('a disk that cannot be written', () => {
  it('is reported as unavailable if the journal or its folder cannot be created', () => {
    const folder = newWorkspace();
    const file = journalOf(folder);
    for (const name of ['', '-wal', '-shm']) rmSync(`${file}${name}`, { force: true });
    mkdirSync(file);
    expect(folder.fault('status')).toMatchObject({ code: 'unavailable', exit: 3 });
    writeFileSync(join(folder.path, 'plain'), '');
    expect(folder.fault('status', '--store', join(folder.path, 'plain', 'j.db'))).toMatchObject({
      code: 'unavailable',
    });
    expect(folder.fault('init', '--dir', '/proc/nowhere')).toMatchObject({ code: 'unavailable', exit: 3 });
  });

  it('records nothing of a command when it is full, and continues when there is space again', () => {
    const folder = newWorkspace();
    const before = folder.data('log')['version'];
    // A file size limit looks like a full disk to SQLite and needs no privileges.
    const script = `trap '' XFSZ; ulimit -f 8; exec "$@"`;
    const words = [process.execPath, program, 'note', 'x'.repeat(100_000), '--json'];
    let out = '';
    try {
      out = execFileSync('bash', ['-c', script, 'bash', ...words], {
        cwd: folder.path,
        env: folder.env,
        encoding: 'utf8',
      });
    } catch (thrown) {
      const { status, stdout } = thrown as { status: number; stdout: string };
      expect([status, JSON.parse(stdout)]).toMatchObject([
        3,
        { ok: false, fault: { code: 'unavailable', data: { recorded: 'no' } } },
      ]);
      out = 'refused';
    }
    expect(out).toBe('refused');
    expect(folder.data('log')['version']).toBe(before);
    expect(folder.run('doctor').code).toBe(0);
    expect(folder.data('note', 'y'.repeat(100_000))['id']).toBe('N-1');
  });

  it('B3: says truly whether a command was recorded, wherever the space ends', () => {
    const folder = newWorkspace();
    const versionOf = (): number => folder.data('log')['version'];
    const seen = new Set<string>();
    for (const limit of [4, 40, 80, 104, 120, 160, 400]) {
      const before = versionOf();
      const script = `trap '' XFSZ; ulimit -f ${limit}; exec "$@"`;
      const words = [process.execPath, program, 'note', 'x'.repeat(60_000), '--json'];
      const ran = spawnSync('bash', ['-c', script, 'bash', ...words], {
        cwd: folder.path,
        env: folder.env,
        encoding: 'utf8',
      });
      const answer = JSON.parse(ran.stdout) as {
        ok: boolean;
        fault?: { data: { recorded?: string }; hints: string[] };
      };
      const recorded = answer.ok ? 'yes' : (answer.fault?.data.recorded ?? 'missing');
      seen.add(recorded);
      if (recorded !== 'unknown') expect([limit, versionOf() > before]).toEqual([limit, recorded === 'yes']);
      if (recorded !== 'no') expect(answer.fault?.hints ?? []).not.toContain('Nothing was written.');
    }
    expect([...seen].sort()).toEqual(['no', 'yes']);
    expect(folder.run('doctor').code).toBe(0);
  });

  it('B3: is a warning if the journal was written and only cannot be closed', () => {
    const folder = newWorkspace();
    const before = folder.data('log')['version'] as number;
    // The log has room, and the journal cannot grow by what is in it.
    const script = `trap '' XFSZ; ulimit -f ${statSync(journalOf(folder)).size / 1024}; exec "$@"`;
    const words = [process.execPath, program, 'note', 'x'.repeat(60_000), '--json'];
    const options = { cwd: folder.path, env: folder.env, encoding: 'utf8' } as const;
    const ran = spawnSync('bash', ['-c', script, 'bash', ...words], options);
    expect([ran.status, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      { ok: true, warnings: [expect.stringMatching(/could not be closed.*stays recorded/)] },
    ]);
    expect(folder.data('log')['version']).toBe(before + 1);
    expect(folder.run('doctor').code).toBe(0);
  });

  it('keeps what was recorded when only RESUME.md cannot be written', () => {
    const folder = newWorkspace();
    const file = folder.own('RESUME.md');
    rmSync(file);
    mkdirSync(file);
    const ran = folder.run('start', 't1', '--agent', 'ada');
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('Warning: RESUME.md could not be written')]);
    const told = folder.run('checkpoint', 'drafted', '--agent', 'ada', '--json');
    expect(JSON.parse(told.out)).toMatchObject({ ok: true, warnings: [expect.stringContaining('RESUME.md')] });
  });

  it('treats an empty file as a new journal', () => {
    const folder = newWorkspace();
    const file = journalOf(folder);
    for (const name of ['-wal', '-shm']) rmSync(`${file}${name}`, { force: true });
    truncateSync(file, 0);
    expect(folder.data('runs')['runs']).toEqual([]);
  });
});
