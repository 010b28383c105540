import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestSnapshot } from '../src/formats/documents/revision.ts';
import { loadOperation } from '../src/operations/index.ts';
import { openContext } from '../src/operations/open.ts';
import { callOperation } from '../src/operations/operation.ts';
import { copyOf, type Folder, newFolder } from './command-line.ts';

const CHAT = 'working-session/chat-claude.md';
const TURNFILE = 'working-session/TURNFILE.yaml';
const WORKLOG = 'working-session/WORKLOG.md';
const MAILBOX = 'working-session/MAILBOX.md';
const QUESTIONS = 'working-session/OPEN_QUESTIONS.md';

function git(folder: Folder, ...words: string[]): void {
  const ran = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], {
    cwd: folder.path,
    env: folder.env,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`git ${words.join(' ')}: ${ran.stderr}`);
}

/** Two sessions of claude in a mirrored working session, with something in every part of the second snapshot. */
const honest = (): Folder =>
  copyOf('honest working session', () => {
    const folder = newFolder();
    folder.env['HOLDFAST_AGENT'] = 'claude';
    const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
    git(folder, 'init', '-q');
    mkdirSync(join(folder.path, 'docs'));
    for (const name of ['token.ts', 'old.ts', 'docs/plan.md']) write(name, 'export {};\n'.repeat(40));
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'first');
    folder.data('init', '--title', 'Lamps', '--id', 'lamps');
    for (const key of ['t1', 't10', 't2']) folder.data('plan', 'add', key, `Lamp ${key}`);
    folder.data('mirror', 'add', 'snap');
    folder.data('start', 't1');
    folder.data('checkpoint', 'half', '--artifact', 'token.ts');
    folder.data('complete');
    folder.data('session', 'end', '--reason', 'completed');
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'second');
    folder.data('start', 't2');
    write('token.ts', 'export const lamp = 1;\n'.repeat(40));
    rmSync(join(folder.path, 'old.ts'));
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'third');
    folder.data('checkpoint', 'half', '--artifact', 'token.ts', '--artifact', 'old.ts');
    folder.data('decide', '--context', 'Wick', '--decision', 'Cotton wicks only', '--reason', 'They burn evenly');
    folder.data('raise', 'question', 'every use?');
    folder.data('raise', 'commitment', 'will review the legend', '--to', 'codex');
    folder.data('mail', 'send', '--to', 'codex', '--type', 'request', '--subject', 'look', '--body', 'at the wick');
    folder.data(
      'mail',
      'send',
      '--to',
      'claude',
      '--type',
      'request',
      '--subject',
      'trim',
      '--body',
      'it',
      '--agent',
      'codex',
    );
    folder.data('session', 'end', '--reason', 'context-exhausted', '--next', 'sort the legend');
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'fourth');
    return folder;
  });

/** A clone: without the journal. */
function cloned(): Folder {
  const folder = copyOf('clone of a working session', () => {
    const clone = newFolder();
    rmSync(clone.path, { recursive: true });
    const ran = spawnSync('git', ['clone', '-q', honest().path, clone.path], { encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(ran.stderr);
    return clone;
  });
  // A repository around the home folder is not looked at from inside.
  folder.env['HOME'] = join(folder.path, 'docs');
  return folder;
}

type Verdicts = Record<string, string>;

/** In this process: test/check.test.ts has the command, and a start for each lie would take most of the time. */
async function verdicts(folder: Folder): Promise<Verdicts> {
  Object.assign(process.env, folder.env);
  const context = openContext({ dir: folder.path, actor: { kind: 'agent', name: 'unknown' }, evidence: 'none' });
  try {
    const { data } = await callOperation(await loadOperation('check'), context, { file: 'working-session' });
    const { rules } = data as { rules: { rule: string; result: string }[] };
    return Object.fromEntries(rules.map(({ rule, result }) => [rule, result]));
  } finally {
    await context.close();
  }
}

const failed = (found: Verdicts): string[] => Object.keys(found).filter((rule) => found[rule] === 'fail');

/** Signs the last snapshot of a chat file again, as a forger would. */
function signed(chat: string): string {
  const at = chat.lastIndexOf('## Session');
  const entry = chat.slice(at);
  const start = entry.indexOf('```yaml\n') + 8;
  const end = entry.indexOf('\n```\n', start);
  const token = /REV-\S+/.exec(entry)?.[0] ?? '';
  const digits = digestSnapshot(entry.slice(start, end), entry.slice(end + 5), token);
  return chat.slice(0, at) + entry.replace(token, token.slice(0, -8) + digits);
}

/** Changes the last snapshot only. */
const inLast = (from: string | RegExp, to: string) => (chat: string) => {
  const at = chat.lastIndexOf('## Session');
  return signed(chat.slice(0, at) + chat.slice(at).replace(from, to));
};
const within = (from: string | RegExp, to: string) => (text: string) => text.replace(from, to);

type Lie = [rule: string, what: string, file: string, lie: (text: string) => string];

const lies: Lie[] = [
  [
    'form',
    'two sections of one name',
    CHAT,
    inLast('### Open commitments', '### Active task\n\n- Status: complete\n\n### Open commitments'),
  ],
  [
    'form',
    'two lists of files',
    CHAT,
    inLast('### Files to read', '### Files modified this session\n\n- `x.ts`\n\n### Files to read'),
  ],
  ['form', 'no next action', CHAT, inLast(/- Next action: .*\n/, '')],
  ['form', 'an empty next action', CHAT, inLast(/- Next action: .*\n/, '- Next action:\n')],
  ['form', 'a section left out', CHAT, inLast('### Decision context', '')],
  ['form', 'questions left out', CHAT, inLast(/### Open questions touched[\s\S]*/, '')],
  ['identity', 'a time before its predecessor', CHAT, inLast(/timestamp: .*/, 'timestamp: 2020-01-01T00:00:00.000Z')],
  ['identity', 'a time in the future', CHAT, inLast(/timestamp: .*/, 'timestamp: 2099-01-01T00:00:00.000Z')],
  ['identity', 'an unknown commit', CHAT, inLast(/head: .*/, 'head: 0123456789abcdef0123456789abcdef01234567')],
  ['identity', 'another unknown commit', CHAT, inLast(/head: .*/, 'head: deadbeefdeadbeefdeadbeefdeadbeefdeadbeef')],
  ['identity', 'a reason that is none', CHAT, inLast(/close_reason: .*/, 'close_reason: tired')],
  ['identity', 'no session', CHAT, inLast(/session_id: .*\n/, '')],
  ['identity', 'a token of another day', CHAT, inLast(/REV-\d{8}/, 'REV-20200101')],
  ['token', 'a changed word', CHAT, within('sort the legend', 'sort the lamps')],
  ['token', 'a placeholder', CHAT, (chat) => chat.replace(/(claude-2-h)[0-9a-f]{8}/, '$100000000')],
  ['token', 'no token', CHAT, (chat) => chat.replace(/revision: REV-\S+claude-2\S+/, 'revision: null')],
  ['token', "another agent's token", CHAT, (chat) => chat.replace('snapshot-claude-2', 'snapshot-codex-2')],
  ['standing', 'a number that goes down', CHAT, inLast('claude-2-h', 'claude-0-h')],
  ['standing', 'the number of the one before', CHAT, inLast('claude-2-h', 'claude-1-h')],
  ['active-task', 'a task called done', CHAT, inLast('Status: partial', 'Status: complete')],
  ['active-task', 'a task called blocked', CHAT, inLast('Status: partial', 'Status: blocked')],
  ['active-task', 'another task', CHAT, inLast('Task: "t2"', 'Task: "t10"')],
  ['active-task', 'a part of its name', CHAT, inLast('Task: "t2"', 'Task: "t"')],
  ['active-task', 'a longer name', CHAT, inLast('Task: "t2"', 'Task: "t22"')],
  ['active-task', 'a Turnfile that disagrees', TURNFILE, within('current_task: "t2"', 'current_task: "t10"')],
  ['active-task', 'a Turnfile without a task', TURNFILE, within('current_task: "t2"', 'current_task: null')],
  ['active-task', 'a worklog that disagrees', WORKLOG, within('t2 partial, closed', 't10 partial, closed')],
  ['active-task', 'a worklog that calls it blocked', WORKLOG, within('t2 partial, closed', 't2 blocked, closed')],
  ['mailbox', 'a wrong count', CHAT, inLast('- Unread (1)', '- Unread (3)')],
  ['mailbox', 'a count without ids', CHAT, inLast(/- Unread \(1\):\n.*\n/, '- Unread (1):\n')],
  ['mailbox', 'an unknown message', CHAT, inLast(/"MSG-\d{8}-002" \(M-2\)/, '"MSG-20260101-777" (M-77)')],
  ['mailbox', 'a wrong sender', CHAT, inLast('from "codex"', 'from "mallory"')],
  ['mailbox', 'a wrong receiver', CHAT, inLast('to "codex", unread', 'to "mallory", unread')],
  ['mailbox', 'none where there is one', CHAT, inLast(/- Unread \(1\):\n.*\n/, '- Unread (0): none\n')],
  ['mailbox', 'a wrong count in its head', CHAT, inLast('  unread: 1', '  unread: 4')],
  ['mailbox', 'a wrong count of acks', CHAT, inLast('  pending_acks: 0', '  pending_acks: 2')],
  ['mailbox', 'an inbox table that counts too few', MAILBOX, within(/\| claude \| 1 \|/, '| claude | 0 |')],
  ['mailbox', 'an inbox table that counts too many', MAILBOX, within(/\| claude \| 1 \|/, '| claude | 5 |')],
  ['identity', 'a session that the files do not know', CHAT, inLast(/session_id: S-2/, 'session_id: S-9')],
  [
    'commitments',
    'a promise that no index has',
    CHAT,
    inLast('### Files modified', '- C-9 to "codex": "will buy a ship"\n\n### Files modified'),
  ],
  ['commitments', 'a promise left out', CHAT, inLast(/(### Open commitments\n\n)(?:- .*\n)+/, '$1None.\n')],
  ['mailbox', 'a card that was closed', MAILBOX, within(/\*\*Status:\*\* unread/g, '**Status:** closed')],
  [
    'files-modified',
    'a missing file',
    CHAT,
    inLast('### Files to read', '- `gone.ts` — modified\n\n### Files to read'),
  ],
  ['files-modified', 'a folder', CHAT, inLast('### Files to read', '- `docs` — modified\n\n### Files to read')],
  [
    'files-modified',
    'a file outside',
    CHAT,
    inLast('### Files to read', '- `../outside.ts` — modified\n\n### Files to read'),
  ],
  [
    'files-modified',
    'an absolute path outside',
    CHAT,
    inLast('### Files to read', '- `/etc/hostname` — modified\n\n### Files to read'),
  ],
  [
    'files-modified',
    'deleted but present',
    CHAT,
    inLast('### Files to read', '- `docs/plan.md` — deleted\n\n### Files to read'),
  ],
  [
    'files-modified',
    'deleted that never was',
    CHAT,
    inLast('### Files to read', '- `ghost.ts` — deleted\n\n### Files to read'),
  ],
  ['files-modified', 'an empty list', CHAT, inLast(/(### Files modified this session\n\n)(?:- .*\n)+/, '$1None.\n')],
  ['files-to-read', 'a budget far too small', CHAT, inLast(/~\d+ lines \/ ~\d+ tokens/, '~40 lines / ~5 tokens')],
  ['files-to-read', 'a budget far too large', CHAT, inLast(/~\d+ lines \/ ~\d+ tokens/, '~40 lines / ~9K tokens')],
  ['files-to-read', 'a missing file', CHAT, inLast(/1\. `[^`]+`/, '1. `nowhere.ts`')],
  ['questions', 'an unknown question', CHAT, inLast('"OQ-001" (Q-1)', '"OQ-099" (Q-99)')],
  ['questions', 'another state', CHAT, inLast('(Q-1) open', '(Q-1) resolved')],
  ['questions', 'a registry that has it resolved', QUESTIONS, within('| open |', '| resolved |')],
  ['questions', 'a registry without it', QUESTIONS, within(/\| OQ-001 .*\n/, '')],
  ['decisions', 'other words', CHAT, inLast('Cotton wicks only', 'Silk wicks only')],
  ['decisions', 'an invented one', CHAT, inLast('### Open questions', '- D-9: "Sell the lamps"\n\n### Open questions')],
  ['decisions', 'one that the index lacks', WORKLOG, within(/\| Cotton wicks only.*\n/, '')],
  ['placement', 'no pointer', WORKLOG, within(/Full resumption snapshot: \S+ § Session 2 closing state\.\n/, '')],
  [
    'placement',
    'a pointer to another file',
    WORKLOG,
    (text) => text.replace(/chat-claude\.md § Session 2/, 'chat-codex.md § Session 2'),
  ],
  ['placement', 'a pointer to another session', WORKLOG, within('§ Session 2 closing', '§ Session 7 closing')],
  [
    'length',
    'a snapshot far too long',
    CHAT,
    inLast('### Open questions', `${'many words '.repeat(4000)}\n\n### Open questions`),
  ],
];

/** These need the journal. */
const recorded: Lie[] = [
  ['commitments', 'one left out', CHAT, inLast(/(### Open commitments\n\n)(?:- .*\n)+/, '$1None.\n')],
  [
    'commitments',
    'an invented one',
    CHAT,
    inLast('### Files modified', '- C-9 to "codex": "will buy a ship"\n\n### Files modified'),
  ],
  ['recorded', 'a rewritten text, signed again', CHAT, inLast('sort the legend', 'sell the legend')],
  ['recorded', 'a session that never was', CHAT, inLast(/session_id: S-2/, 'session_id: S-77')],
];

function tell(folder: Folder, file: string, lie: (text: string) => string): void {
  const path = join(folder.path, file);
  const text = readFileSync(path, 'utf8');
  expect(lie(text)).not.toBe(text);
  writeFileSync(path, lie(text));
}

describe('lies', () => {
  it('are told about every rule, at least 54 times', () => {
    expect(lies.length + recorded.length).toBeGreaterThanOrEqual(54);
  });

  it.each(lies)('%s: %s is found in a clone', async (rule, _, file, lie) => {
    const folder = cloned();
    tell(folder, file, lie);
    expect(failed(await verdicts(folder))).toContain(rule);
  });

  it.each(recorded)('%s: %s is found beside the journal', async (rule, _, file, lie) => {
    const folder = honest();
    tell(folder, file, lie);
    expect(failed(await verdicts(folder))).toContain(rule);
  });
});

describe('an honest snapshot', () => {
  it('fails no rule, beside the journal and in a clone', async () => {
    expect(failed(await verdicts(honest()))).toEqual([]);
    const found = await verdicts(cloned());
    expect(failed(found)).toEqual([]);
    const sure = ['active-task', 'mailbox', 'files-modified', 'files-to-read', 'questions', 'decisions', 'placement'];
    expect(sure.filter((rule) => found[rule] !== 'pass')).toEqual([]);
  });

  it.each<[string, (text: string) => string]>([
    ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['blank lines at the end', (text) => `${text}\n\n\n`],
  ])('fails no rule with %s', async (_, change) => {
    const folder = cloned();
    for (const file of [CHAT, WORKLOG, MAILBOX, QUESTIONS, TURNFILE]) tell(folder, file, change);
    expect(failed(await verdicts(folder))).toEqual([]);
  });

  it('of another run is not judged by this journal', async () => {
    const folder = honest();
    tell(folder, CHAT, inLast('run: "lamps"', 'run: "ships"'));
    expect((await verdicts(folder))['recorded']).toBe('cannot-tell');
  });

  it('is not judged by history in a shallow clone, and never passed', async () => {
    const folder = newFolder();
    rmSync(folder.path, { recursive: true });
    const source = `file://${honest().path}`;
    const ran = spawnSync('git', ['clone', '-q', '--depth', '1', source, folder.path], { encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    expect(await verdicts(folder)).toMatchObject({ identity: 'cannot-tell', 'files-modified': 'cannot-tell' });
    tell(folder, CHAT, inLast(/head: .*/, 'head: 0123456789abcdef0123456789abcdef01234567'));
    expect(failed(await verdicts(folder))).toEqual([]);
  });

  it('is not judged by history without git, and fails no rule', async () => {
    const folder = cloned();
    rmSync(join(folder.path, '.git'), { recursive: true });
    const found = await verdicts(folder);
    expect(failed(found)).toEqual([]);
    expect(found).toMatchObject({ identity: 'cannot-tell', 'files-modified': 'cannot-tell', mailbox: 'pass' });
  });

  it('gives the same verdicts beside the journal and in a clone, where files and git decide', async () => {
    const needs = [
      'form',
      'identity',
      'token',
      'standing',
      'active-task',
      'mailbox',
      'files-modified',
      'files-to-read',
    ];
    const rules = [...needs, 'questions', 'decisions', 'placement', 'length'];
    const only = (found: Verdicts) => Object.fromEntries(rules.map((rule) => [rule, found[rule]]));
    expect(only(await verdicts(cloned()))).toEqual(only(await verdicts(honest())));
  });

  it('fails no rule after later work of others, in a clone too', async () => {
    const folder = honest();
    folder.data('session', 'start', '--agent', 'codex');
    folder.data('start', 't2', '--agent', 'codex');
    folder.data('complete', 't2', '--agent', 'codex');
    folder.data('mail', 'ack', 'M-1', '--note', 'seen', '--agent', 'codex');
    folder.data('settle', 'Q-1', '--as', 'resolved', '--note', 'yes', '--agent', 'codex');
    expect(failed(await verdicts(folder))).toEqual([]);
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'codex');
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'fifth');
    const clone = newFolder();
    rmSync(clone.path, { recursive: true });
    expect(spawnSync('git', ['clone', '-q', folder.path, clone.path]).status).toBe(0);
    expect(failed(await verdicts(clone))).toEqual([]);
    expect(clone.run('check', 'working-session', '--all').code).toBe(0);
  });
});
