import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder } from './command-line.ts';

const TURNFILE = 'working-session/TURNFILE.yaml';
const WORKLOG = 'working-session/WORKLOG.md';
const ARCHIVE = 'working-session/WORKLOG_ARCHIVE.md';
const MAILBOX = 'working-session/MAILBOX.md';
const QUESTIONS = 'working-session/OPEN_QUESTIONS.md';

const claude = ['--agent', 'claude'];
const codex = ['--agent', 'codex'];

function git(folder: Folder, ...words: string[]): void {
  const ran = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], {
    cwd: folder.path,
    env: folder.env,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`git ${words.join(' ')}: ${ran.stderr}`);
}

const commit = (folder: Folder): void => {
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'state');
};

const textOf = (folder: Folder, path: string): string => readFileSync(join(folder.path, path), 'utf8');

function edit(folder: Folder, path: string, from: string | RegExp, to: string): void {
  const text = textOf(folder, path);
  expect(text.replace(from, to)).not.toBe(text);
  writeFileSync(join(folder.path, path), text.replace(from, to));
}

const synced = (folder: Folder, ...words: string[]) => folder.data('mirror', 'sync', ...words)['mirrors'][0];

/** Nothing is left to read or to write. */
function expectRest(folder: Folder): void {
  expect(synced(folder)).toMatchObject({ absorbed: 0, written: [], paused: null, asks: [] });
}

/** A committed working session of claude with mail, a question and notes; a task is in progress. */
const working = (): Folder =>
  copyOf('mirrored working session', () => {
    const folder = newFolder();
    git(folder, 'init', '-q', '-b', 'main');
    writeFileSync(join(folder.path, 'lamp.ts'), 'export {};\n'.repeat(10));
    commit(folder);
    folder.data('init', '--title', 'Lamps', '--id', 'lamps', ...claude);
    for (const key of ['t1', 't2']) folder.data('plan', 'add', key, `Lamp ${key}`, ...claude);
    folder.data('mirror', 'add', 'snap', ...claude);
    folder.data('session', 'start', ...claude);
    folder.data('start', 't1', ...claude);
    folder.data('mail', 'send', '--to', 'Codex', '--type', 'request', '--subject', 'look', '--body', 'here', ...claude);
    folder.data('raise', 'question', 'Which oil?', ...claude);
    folder.data('decide', '--context', 'Wick', '--decision', 'Cotton', '--reason', 'Burns evenly', ...claude);
    folder.data('note', 'First light', ...claude);
    commit(folder);
    return folder;
  });

describe('an edit of a working session by hand', () => {
  it('changes, settles and hides the records it is about, once', () => {
    const folder = working();
    edit(folder, MAILBOX, '**Status:** unread', '**Status:** acknowledged');
    edit(folder, QUESTIONS, /\| open \| — \|/, '| resolved | Rape oil |');
    edit(folder, WORKLOG, /### claude: Note[\s\S]*?First light\n/, '');
    edit(folder, TURNFILE, 'description: "Lamp t2"', 'description: "The second lamp"');
    const { news } = synced(folder);
    expect(news).toEqual(
      expect.arrayContaining([
        'step t2: title Lamp t2 → The second lamp',
        expect.stringMatching(/^question "Which oil\?": status open → resolved/),
        'message "look": status unread → acknowledged',
        'note "First light" removed',
      ]),
    );
    expectRest(folder);
    for (let count = 0; count < 2; count++) folder.data('checkpoint', `at-${count}`, ...claude);
    expect(textOf(folder, WORKLOG)).not.toContain('First light');
    expect(textOf(folder, MAILBOX)).toContain('**Status:** acknowledged');
    expect(folder.data('search', 'Which oil', '--kind', 'item')['results']).toMatchObject([
      { kind: 'item', status: 'resolved', doc: { alias: 'OQ-001', resolution: 'Rape oil' } },
    ]);
    expect(folder.data('search', 'First light', '--kind', 'note')['results']).toMatchObject([{ kind: 'note' }]);
    expectRest(folder);
  });

  it('of a field that changed here too is asked, and either side can be kept', () => {
    for (const [side, title] of [
      ['journal', 'Ours'],
      ['file', 'Theirs'],
    ] as const) {
      const folder = working();
      edit(folder, TURNFILE, '"Lamp t2"', '"Theirs"');
      expect(folder.run('plan', 'set', 't2', '--title', 'Ours', ...claude).err).toContain('title is `Theirs` there');
      expect(synced(folder).asks).toMatchObject([{ id: 't2', field: 'title', file: 'Theirs', journal: 'Ours' }]);
      expect(textOf(folder, TURNFILE)).toContain('"Theirs"');
      expect(folder.data('status')['steps'][1].title).toBe('Ours');
      synced(folder, '--keep', side);
      expect(textOf(folder, TURNFILE)).toContain(`"${title}"`);
      expect(folder.data('status')['steps'][1].title).toBe(title);
      expectRest(folder);
    }
  });

  it('that takes a finished task back, or out of the file, is asked', () => {
    const folder = working();
    folder.data('complete', 't1', ...claude);
    edit(folder, TURNFILE, 'status: "done"', 'status: "pending"');
    expect(synced(folder).asks).toMatchObject([{ list: 'steps', id: 't1', field: 'status', file: 'pending' }]);
    expect(textOf(folder, TURNFILE)).not.toContain('"done"');
    synced(folder, '--keep', 'journal');
    expect(textOf(folder, TURNFILE)).toContain('status: "done"');
    edit(folder, TURNFILE, /\n {4}t2:\n(?: {6}.*\n)+/, '\n');
    expect(synced(folder).asks).toMatchObject([{ list: 'steps', id: 't2', field: null }]);
    expect(folder.data('status')['steps']).toHaveLength(2);
    synced(folder, '--keep', 'journal');
    expect(textOf(folder, TURNFILE)).toContain('    t2:');
    expectRest(folder);
  });
});

describe('a working session that is no edit', () => {
  it('is paused after a checkout of an older commit, whole or of one file', () => {
    for (const path of ['working-session', MAILBOX]) {
      const folder = working();
      folder.data(
        'mail',
        'send',
        '--to',
        'codex',
        '--type',
        'notify',
        '--subject',
        'lit',
        '--body',
        'it is',
        ...claude,
      );
      commit(folder);
      const now = textOf(folder, MAILBOX);
      git(folder, 'checkout', '-q', 'HEAD~1', '--', path);
      const { err } = folder.run('note', 'Second light', ...claude);
      expect(err).toContain('is at the version of');
      expect(synced(folder)).toMatchObject({ absorbed: 0, written: [], paused: expect.stringContaining('version') });
      expect(folder.data('mail', 'show', 'M-2')['message']).toMatchObject({ status: 'unread' });
      git(folder, 'checkout', '-q', 'HEAD', '--', 'working-session');
      expect(synced(folder).paused).toBeNull();
      expect(textOf(folder, MAILBOX)).toBe(now);
      expect(textOf(folder, WORKLOG)).toContain('Second light');
      git(folder, 'checkout', '-q', 'HEAD~1', '--', path);
      synced(folder, '--keep', 'journal');
      expect(textOf(folder, MAILBOX)).toContain('lit');
      expectRest(folder);
    }
  });

  it('is paused on another branch, and goes on when the branch is back', () => {
    const folder = working();
    git(folder, 'checkout', '-q', '--orphan', 'other');
    git(folder, 'commit', '-qm', 'elsewhere');
    expect(folder.run('note', 'Elsewhere', ...claude).err).toContain(
      'belongs to the branch main; other is checked out',
    );
    expect(textOf(folder, WORKLOG)).not.toContain('Elsewhere');
    git(folder, 'checkout', '-q', 'main');
    expect(synced(folder)).toMatchObject({ paused: null });
    expect(textOf(folder, WORKLOG)).toContain('Elsewhere');
    // A branch that starts here is the same work.
    commit(folder);
    git(folder, 'checkout', '-q', '-b', 'feature');
    folder.data('note', 'Further on', ...claude);
    expect(textOf(folder, WORKLOG)).toContain('Further on');
    expectRest(folder);
  });

  it('without a known version is bound by what it says: what differs is asked', () => {
    const folder = working();
    const base = folder.own('mirrors');
    const clone = join(base, 'clone-mark');
    expect(existsSync(clone)).toBe(false);
    edit(folder, TURNFILE, 'description: "Lamp t2"', 'description: "The second lamp"');
    edit(folder, MAILBOX, '**Subject:** look', '**Subject:** look closely');
    rmSync(base, { recursive: true });
    folder.data('mirror', 'add', 'snap', TURNFILE, ...claude);
    const { asks } = synced(folder);
    expect(asks).toMatchObject([{ list: 'steps', id: 't2', field: 'title', file: 'The second lamp' }]);
    expect(textOf(folder, TURNFILE)).toContain('The second lamp');
    expect(folder.data('mail', 'inbox', ...codex)['unread']).toHaveLength(1);
    synced(folder, '--keep', 'file');
    expect(folder.data('status')['steps'][1].title).toBe('The second lamp');
    expectRest(folder);
  });

  it('is not written again after it was removed, until it is asked for', () => {
    const folder = working();
    rmSync(join(folder.path, 'working-session'), { recursive: true });
    expect(folder.run('note', 'Gone', ...claude).err).toContain('is gone and was not written again');
    expect(existsSync(join(folder.path, 'working-session'))).toBe(false);
    synced(folder, '--keep', 'journal');
    expect(textOf(folder, WORKLOG)).toContain('Gone');
    expectRest(folder);
  });
});

describe('a mirrored working session', () => {
  it('is compacted in its own files by a person, who gets no row, session or chat', () => {
    const folder = working();
    folder.data('note', 'Second light', ...claude);
    folder.data('complete', 't1', ...claude);
    folder.data('session', 'end', '--reason', 'completed', ...claude);
    folder.data('session', 'start', ...claude);
    const entries = (text: string): string[] => text.match(/^### .*\n\n.*\n/gm) ?? [];
    const before = entries(textOf(folder, WORKLOG));
    folder.person.data('compact', '--approve');
    expect([...entries(textOf(folder, WORKLOG)), ...entries(textOf(folder, ARCHIVE))].sort()).toEqual(before.sort());
    expect(textOf(folder, ARCHIVE)).toContain('Second light');
    expect(textOf(folder, WORKLOG)).toContain('## Decision Index');
    expect(textOf(folder, WORKLOG)).toMatch(/\| 1 \| \d{4}-\d\d-\d\d \| \d+ entr.* WORKLOG_ARCHIVE\.md \|/);
    expect(textOf(folder, TURNFILE)).not.toContain('maintainer:\n    role');
    expect(textOf(folder, TURNFILE).match(/role: /g)).toHaveLength(1);
    expect(folder.run('check', 'working-session').code).toBe(0);
    expectRest(folder);
  });

  it('waits for the claim of another session on the log or its archive', () => {
    const folder = working();
    folder.data('complete', 't1', ...claude);
    folder.data('session', 'end', '--reason', 'completed', ...claude);
    folder.data('session', 'start', ...claude);
    folder.data('claim', ARCHIVE, ...codex);
    expect(folder.person.fault('compact', '--approve')).toMatchObject({ code: 'held', data: { agent: 'codex' } });
    expect(existsSync(join(folder.path, ARCHIVE))).toBe(false);
  });

  it('has one row per name, and the mail of people is that of the maintainer', () => {
    const folder = working();
    folder.person.data('mail', 'send', '--to', 'codex', '--type', 'notify', '--subject', 'hi', '--body', 'there');
    folder.data(
      'mail',
      'send',
      '--to',
      'maintainer',
      '--type',
      'request',
      '--subject',
      'sign',
      '--body',
      'it',
      ...codex,
    );
    folder.data(
      'mail',
      'send',
      '--to',
      'maintainer',
      '--type',
      'request',
      '--priority',
      'P0',
      '--subject',
      'now',
      '--body',
      'it',
      ...codex,
    );
    const rows = textOf(folder, MAILBOX).match(/^\| \w+ \| \d+ \| /gm);
    expect(rows).toEqual(['| claude | 0 | ', '| Codex | 2 | ', '| Maintainer | 2 | ']);
    const focus = /^Maintainer Focus: (.*)$/m.exec(textOf(folder, WORKLOG))?.[1] ?? '';
    expect(focus).toMatch(/^MSG-\d{8}-004 \(M-4\) now; MSG-\d{8}-003 \(M-3\); OQ-001 \(Q-1\)$/);
    for (const words of [['mail', 'inbox'], ['resume']])
      expect(folder.run(...words, ...codex).out).toMatch(/"MSG-\d{8}-001" \(M-1\)/);
    expect(folder.run('items').out).toMatch(/^"OQ-001" \(Q-1\) question/m);
    folder.data('mail', 'ack', /MSG-\d{8}-001/.exec(textOf(folder, MAILBOX))?.[0] ?? '', '--note', 'seen', ...codex);
    expect(textOf(folder, MAILBOX)).toContain('**Ack:** codex |');
    expectRest(folder);
  });

  it('shows where the snapshot of a handoff is, and says when its task is done', () => {
    const folder = working();
    writeFileSync(join(folder.path, 'lamp.ts'), 'export const lamp = 1;\n');
    writeFileSync(join(folder.path, 'wick.ts'), 'export {};\n'.repeat(4));
    folder.data('checkpoint', 'half', '--artifact', 'lamp.ts', ...claude);
    folder.data('session', 'end', '--reason', 'context-exhausted', '--next', 'trim it', ...claude);
    const chat = textOf(folder, 'working-session/chat-claude.md');
    expect(chat).toContain('- `lamp.ts` — +1 −10');
    expect(chat).toContain('- `wick.ts` — created, +4, not recorded');
    expect(chat).toMatch(/1\. `(?:wick|lamp)\.ts` — ~\d+ lines \/ ~\d+ tokens/);
    expect(textOf(folder, WORKLOG)).toContain('Now Working (claude): t1 partial, closed S-1; next: trim it');
    expect(textOf(folder, TURNFILE)).toContain('current_task: "t1"');
    const token = /REV-\S+/.exec(chat)?.[0];
    folder.person.data('handoff', '--to', 'codex', '--from', 'S-1');
    expect(textOf(folder, MAILBOX)).toContain(
      `**Snapshot:** working-session/chat-claude.md § Session 1 closing state, ${token}`,
    );
    folder.data('session', 'start', ...codex);
    folder.data('start', 't1', ...codex);
    folder.data('complete', 't1', ...codex);
    expect(folder.run('check', 'working-session').out).toMatch(
      /standing: Stale: \d+ events since, t1 completed by codex\./,
    );
    expect(folder.run('handoff', 'list').out).toContain('t1 is done');
    expectRest(folder);
  });

  it('can lie in any folder', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Lamps', ...claude);
    folder.data('mirror', 'add', 'snap', 'lamps/session', ...claude);
    expect(existsSync(join(folder.path, 'lamps/session/TURNFILE.yaml'))).toBe(true);
    mkdirSync(join(folder.path, 'other'));
    cpSync(join(folder.path, 'lamps/session'), join(folder.path, 'other'), { recursive: true });
    expect(folder.fault('mirror', 'add', 'snap', 'other', ...claude).message).toContain('other/TURNFILE.yaml');
  });
});

describe('the adoption of a working session', () => {
  it('keeps reasons, promises and times, names what it leaves, and finds that by search', () => {
    const source = working();
    source.data('raise', 'commitment', 'Review the legend', '--to', 'codex', ...claude);
    source.data('session', 'end', '--reason', 'timeout', '--next', 'trim it', ...claude);
    edit(source, WORKLOG, /$/, '\n## House lore\n\nThe zebra lantern is blue.\n');
    edit(source, TURNFILE, /$/, 'weather: "rain"\n');
    const folder = newFolder();
    cpSync(join(source.path, 'working-session'), join(folder.path, 'working-session'), { recursive: true });
    expect(folder.run('resume').err).toMatch(
      /working-session\/TURNFILE\.yaml: snap 0\.1\.0, step t1 Lamp t1, changed just now/,
    );
    expect(folder.run('init').code).toBe(2);
    const { out } = folder.run('adopt', '--mirror');
    expect(out).toContain('Taken over: 2 steps (1 in progress), 1 decision, 1 open question, 1 open commitment');
    expect(out).toMatch(/Left in the file, searchable: weather \(line \d+\), House lore \(WORKLOG\.md line \d+\)\./);
    expect(folder.data('decisions')['decisions']).toMatchObject([{ decision: 'Cotton', reason: 'Burns evenly' }]);
    expect(folder.data('items')['items']).toMatchObject([{ by: 'claude', to: 'codex' }, { alias: 'OQ-001' }]);
    const ended = /closed S-1|(\d{4}-\d\d-\d\dT[\d:.]+Z) — claude \(S-1/.exec(textOf(source, WORKLOG).slice(200))?.[1];
    expect(folder.data('sessions')['sessions']).toMatchObject([{ endedAt: ended }]);
    expect(folder.data('resume')['nextAction']).toMatchObject({ text: 'trim it' });
    expect(folder.data('search', 'zebra')['results']).toMatchObject([
      { kind: 'line', id: expect.stringMatching(/^working-session\/WORKLOG\.md:\d+$/) },
    ]);
    const places = (...words: string[]): string[] =>
      (folder.data('search', ...words)['results'] as { place: string }[]).map(({ place }) => place);
    expect(places('what colour is the zebra lantern')[0]).toMatch(/^working-session\/WORKLOG\.md:\d+$/);
    expect(places('rain', '--all')).toEqual([expect.stringMatching(/^working-session\/TURNFILE\.yaml:\d+$/)]);
    // A decision is a record: its row in the index is not shown beside it.
    expect(places('cotton')).toEqual([null]);
    expect(places('zebra', '--kind', 'decision')).toEqual([]);
    expectRest(folder);
    folder.data('start', 't1', ...codex);
    expect(textOf(folder, TURNFILE)).toContain('weather: "rain"\n');
    rmSync(join(folder.path, 'working-session'), { recursive: true });
    expect(places('zebra')).toHaveLength(1);
    // Without the texts, what the journal kept of the Turnfile is left.
    rmSync(folder.own('mirrors'), { recursive: true });
    expect([places('zebra'), places('rain')]).toEqual([[], [TURNFILE]]);
  });
});
