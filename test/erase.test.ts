import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';
import { hook, inputsOf, newRepository, play } from './hook-player.ts';

const dataFolder = (folder: Folder): string => folder.own();

/** The files under the data folder that hold the bytes. */
function filesWith(folder: Folder, words: string): string[] {
  const inside = dataFolder(folder);
  return readdirSync(inside, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(words))
    .map((entry) => entry.name);
}

/** Every kind of row that holds text, with the commands that put a secret into it. */
const secrets: [id: string, ...commands: string[]][] = [
  ['N-2', 'note SECRET'],
  ['D-1', 'decide --context SECRET --decision SECRET --reason r --alternative SECRET'],
  ['D-2', 'decide --context c --decision d --reason r', 'retract D-2 --reason SECRET'],
  ['B-1', 'raise blocker SECRET --affects t3 --workaround SECRET'],
  ['Q-1', 'raise question q', 'settle Q-1 --as resolved --note SECRET'],
  ['X-1', 'effect begin SECRET', 'effect end X-1 --outcome failed --note SECRET'],
  ['t3', 'plan set t3 --title SECRET', 'skip t3 --reason SECRET'],
  ['E-1', 'start t1 --agent bob', 'fail --message SECRET --agent bob'],
  [
    't2',
    'start t2 --agent ada',
    'checkpoint c --next SECRET --agent ada',
    'complete --summary SECRET --built SECRET --agent ada',
  ],
  ['t4', 'start t4 --agent ada', 'checkpoint here --next SECRET --built SECRET --agent ada'],
  ['S-2', 'session end --reason completed --next SECRET --note SECRET --issue SECRET --agent ada'],
];

const agent = ['--agent', 'ada'];

describe('erasing', () => {
  it('removes the text of every kind of row from every file, and nothing else', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Work', '--id', 'work');
    for (const key of ['t1', 't2', 't3', 't4']) folder.data('plan', 'add', key, 'Title');
    folder.data('note', 'kept beside it');
    for (const [id, ...commands] of secrets) {
      for (const words of commands)
        folder.person.data(...words.split(' ').map((word) => word.replace('SECRET', `hunter2${id}x`)));
    }
    folder.data('resume');
    for (const [id] of secrets) {
      expect([id, filesWith(folder, `hunter2${id}x`)]).toEqual([id, expect.arrayContaining(['journal.db'])]);
    }
    for (const [id] of secrets) {
      expect(folder.person.data('erase', id, '--reason', 'a password was pasted')['erased']).not.toEqual([]);
      expect([id, filesWith(folder, `hunter2${id}x`)]).toEqual([id, []]);
    }
    expect(filesWith(folder, 'hunter2')).toEqual([]);
    expect(folder.data('search', 'hunter2')['results']).toEqual([]);
    expect(folder.data('search', 'beside')['results']).toMatchObject([{ id: 'N-1' }]);
    expect(folder.run('log', '--limit', '200', '--json').out).not.toContain('hunter2');
    expect(folder.data('doctor')['findings']).toEqual([]);
    expect(folder.data('doctor', '--rebuild')['runs']).toMatchObject([{ unchanged: true }]);
  });

  it('removes one event by its version, also the title of the current step and of the run', () => {
    const folder = newWorkspace();
    folder.data('note', 'hunter2 first');
    folder.data('note', 'hunter2 second');
    const { version } = folder.data('note', 'third');
    folder.person.data('erase', String(Number(version) - 1), '--reason', 'r');
    expect(folder.data('search', 'hunter2')['results']).toMatchObject([{ id: 'N-1' }]);
    expect(folder.data('search', 'third')['results']).toHaveLength(1);
    folder.person.data('erase', '3', '--reason', 'r');
    expect(filesWith(folder, 'Issue tokens')).toEqual([]);
    folder.person.data('erase', '1', '--reason', 'r');
    expect(filesWith(folder, 'User authentication')).toEqual([]);
    expect(folder.data('runs')['runs']).toMatchObject([{ id: 'auth', title: '[erased]' }]);
    expect(folder.data('doctor')['findings']).toEqual([]);
    folder.data('start', 't1', ...agent);
    expect(folder.data('doctor', '--rebuild')).toMatchObject({ findings: [], runs: [{ unchanged: true }] });
  });

  it('needs a person and an existing target, and may be repeated', () => {
    const folder = newWorkspace();
    folder.data('note', 'words');
    expect(folder.fault('erase', 'N-1', '--reason', 'r', ...agent)).toMatchObject({ code: 'not_allowed', exit: 1 });
    expect(folder.person.fault('erase', 'N-7', '--reason', 'r')).toMatchObject({ code: 'not_found' });
    expect(folder.person.fault('erase', '99', '--reason', 'r')).toMatchObject({ code: 'not_found' });
    expect(folder.person.fault('erase', 'N-1')).toMatchObject({ code: 'invalid' });
    folder.person.data('erase', 'N-1', '--reason', 'r');
    folder.person.data('erase', 'N-1', '--reason', 'r');
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('leaves a step blocked when the text of its blocker is erased', () => {
    const folder = newWorkspace();
    folder.data('raise', 'blocker', 'the password is hunter2', '--affects', 't1', '--affects', 'hunter2 everywhere');
    folder.person.data('erase', 'B-1', '--reason', 'leaked');
    expect(folder.data('items')['items']).toMatchObject([{ id: 'B-1', text: '[erased]', affects: ['t1', '[erased]'] }]);
    expect(folder.fault('start', 't1', '--agent', 'claude')).toMatchObject({ code: 'blocked' });
    expect(folder.run('doctor').code).toBe(0);
  });
});

/** A secret in pieces, so that no scanner reports this file as a leak. */
const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

interface Place {
  place: string;
  state: string;
  path?: string;
  note?: string;
}

describe('where erased text was', () => {
  const words = 'the plain-text pass phrase of the staging box';
  const ours = (folder: Folder, name: string): string => join(dataFolder(folder), name);

  it('C8: is listed place by place, and taken out of each', () => {
    const folder = newWorkspace();
    folder.data('mirror', 'add', 'gsd');
    folder.data('mirror', 'add', 'resume');
    folder.data('decide', '--context', 'c', '--decision', words, '--reason', 'r');
    // The text before goes to the backups, so a second change puts the words there.
    folder.data('decide', '--context', 'c', '--decision', 'Something else', '--reason', 'r');
    folder.data('export', '--format', 'gsd');
    const mirrored = folder.data('mirror', 'list')['mirrors'][0].path as string;
    expect(readFileSync(join(folder.path, mirrored), 'utf8')).toContain(words);
    const rejected = join(folder.path, `${mirrored}.rejected-20260131T120000Z`);
    writeFileSync(rejected, `someone wrote: ${words}`);
    const bak = join(folder.path, `${mirrored}.bak`);
    writeFileSync(bak, words);
    mkdirSync(folder.state('log'), { recursive: true });
    writeFileSync(folder.state('log/hook.log'), `first line\nTo-do list: ${words.toUpperCase()}\nlast line\n`);
    mkdirSync(ours(folder, 'hooks'), { recursive: true });
    writeFileSync(ours(folder, 'hooks/a.json'), JSON.stringify({ hint: words }));
    writeFileSync(ours(folder, 'hooks/b.json'), JSON.stringify({ hint: 'other words' }));
    mkdirSync(ours(folder, 'mirrors'), { recursive: true });
    const former = { format: 'maestro', path: 'gone.md', files: [['gone.md', `# A\n${words}`]] };
    writeFileSync(ours(folder, 'mirrors/0123456789abcdef.json'), JSON.stringify(former));
    const { clone } = JSON.parse(readFileSync(ours(folder, 'clone.json'), 'utf8')) as { clone: string };
    mkdirSync(folder.state('archives', clone), { recursive: true });
    const intents = [{ mirror: {}, moves: [], removes: [], writes: [['a.md', words]], done: true }];
    writeFileSync(folder.state('archives', clone, 'old.json'), JSON.stringify({ place: {}, intents }));
    mkdirSync(folder.state('installed', clone, 'installed'), { recursive: true });
    writeFileSync(folder.state('installed', clone, 'installed/1-settings.json'), JSON.stringify({ env: words }));
    mkdirSync(join(folder.path, '.holdfast'));
    writeFileSync(join(folder.path, '.holdfast/journal.db'), 'older records');
    mkdirSync(ours(folder, 'inbox/refused'), { recursive: true });
    writeFileSync(ours(folder, 'inbox/refused/m-0-1-1.in'), `{"command":"echo ${words}"}`);

    const { places } = folder.person.data('erase', 'D-1', '--reason', 'leaked') as unknown as { places: Place[] };
    const stateOf = Object.fromEntries(places.map(({ place, state }) => [place, state]));
    expect(stateOf).toEqual({
      journal: 'done',
      'search rows': 'done',
      'write-ahead log': 'done',
      'RESUME.md': 'done',
      'worklog and its archives': 'done',
      snapshots: 'not there',
      'mirrored files': 'done',
      'mirror bases': 'done',
      'bases of former mirrors': 'done',
      'copies beside mirrored files': 'done',
      'backups and rejected edits': 'done',
      'hook inbox': 'done',
      'hook memory': 'done',
      'exports in the data folder': 'done',
      'hook log': 'done',
      'archive records': 'done',
      'backups of client settings': 'cannot',
      'folder of version 0.1': 'not there',
      'known heads': 'not there',
      'git history of mirrored files': 'cannot',
      exports: 'cannot',
      'copies and backups of this folder': 'cannot',
      'data of other users of this repository': 'cannot',
      'transcripts of the client': 'not there',
    });
    const copies = places.filter(({ place }) => place === 'copies beside mirrored files').map(({ path }) => path);
    expect(copies).toEqual(expect.arrayContaining([bak, rejected]));
    const left = readdirSync(folder.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').toLowerCase().includes(words));
    expect(left.map(({ name }) => name)).toEqual([]);
    expect(readFileSync(folder.state('log/hook.log'), 'utf8')).toBe('first line\nlast line\n');
    expect(existsSync(ours(folder, 'hooks/b.json'))).toBe(true);
    expect(folder.run('doctor').code).toBe(0);
  });

  it('is not deleted through a link, and the answer says so', () => {
    const folder = newWorkspace();
    const outside = newFolder();
    writeFileSync(join(outside.path, 'a.json'), JSON.stringify({ hint: words }));
    rmSync(ours(folder, 'hooks'), { recursive: true, force: true });
    symlinkSync(outside.path, ours(folder, 'hooks'));
    folder.data('note', words);
    const ran = folder.person.run('erase', 'N-1', '--reason', 'leaked');
    expect(ran.out).toMatch(/cannot {5}hook memory, .*a\.json\. It is a link or behind one/);
    expect(existsSync(join(outside.path, 'a.json'))).toBe(true);
  });

  it('names the conversation whose transcript has it too', () => {
    const folder = newRepository();
    play(folder, 'claude', 1);
    const base = inputsOf('claude', folder)[1]?.input;
    hook(folder, 'claude', 'UserPromptSubmit', { ...base, prompt: words });
    const { id } = folder.data('search', 'staging', '--kind', 'turn')['results'][0];
    const { places } = folder.person.data('erase', id, '--reason', 'leaked') as unknown as { places: Place[] };
    expect(places.at(-1)).toMatchObject({
      place: 'transcripts of the client',
      state: 'cannot',
      note: expect.stringContaining('claude keeps its own record of conversation'),
    });
  });
});

describe('secrets in what somebody records', () => {
  it('are left out with a warning if they are beyond doubt, and kept with --verbatim', () => {
    const folder = newWorkspace();
    const ran = folder.run('note', `deploy with ${token}`);
    expect([ran.code, ran.err]).toEqual([0, expect.stringMatching(/left out \(github token\).*--verbatim/)]);
    const json = folder.run(
      'decide',
      '--context',
      'c',
      '--decision',
      token,
      '--reason',
      'postgres://a:b4nk@db',
      '--json',
    );
    expect(json.json).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('github token, password in address')],
    });
    expect(folder.run('log', '--json').out).not.toContain(token);
    folder.data('note', `the public example is ${token}`, '--verbatim');
    expect(folder.run('log', '--json').out).toContain(token);
    expect(folder.run('note', 'the password is hunter2x9').err).toBe('');
    expect(folder.run('--verbatim', 'note', token).err).toBe('');
    const init = newFolder().run('init', '--title', 'Work', '--goal', `use ${token}`);
    expect([init.code, init.err]).toEqual([0, expect.stringContaining('github token')]);
  });

  it('are found by scan and erased by erase --found', () => {
    const folder = newWorkspace();
    expect(folder.run('scan').out).toContain('Nothing in');
    const { version } = folder.data('note', `use ${token}`, '--verbatim');
    folder.data('note', 'nothing in here');
    const later = folder.data('effect', 'begin', 'mysql -u root -phunter2 shop', ...agent, '--verbatim');
    const { findings } = folder.data('scan');
    expect(findings).toEqual([
      { run: 'auth', version, type: 'note.added', kinds: ['github token'], erasable: true },
      { run: 'auth', version: later['version'], type: 'effect.began', kinds: ['password'], erasable: true },
    ]);
    expect(folder.run('scan').out).toContain('holdfast erase --found');
    expect(folder.fault('erase', '--found', '--reason', 'r', ...agent)).toMatchObject({ code: 'not_allowed' });
    expect(folder.person.fault('erase', 'N-1', '--found', '--reason', 'r')).toMatchObject({ code: 'usage' });
    expect(folder.person.fault('erase', '--reason', 'r')).toMatchObject({ code: 'usage' });
    expect(folder.person.data('erase', '--found', '--reason', 'r')['erased']).toEqual([version, later['version']]);
    expect(folder.data('scan')['findings']).toEqual([]);
    expect(folder.data('search', 'nothing')['results']).toHaveLength(1);
    const before = folder.data('status')['version'];
    expect(folder.person.data('erase', '--found', '--reason', 'r')).toMatchObject({ erased: [], changed: [] });
    expect(folder.data('status')['version']).toBe(before);
  });
});
