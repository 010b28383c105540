import { copyFileSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderEnvelopes } from '../src/formats/documents/envelope.ts';
import { digestSnapshot } from '../src/formats/documents/revision.ts';
import { renderChatEntry } from '../src/formats/documents/snapshot.ts';
import { copyOf, type Folder, newFolder, newWorkspace } from './command-line.ts';
import { signed } from './signed.ts';

const agent = ['--agent', 'claude'];

/** A session that has ended, and its snapshot. */
function ended(): { folder: Folder; file: string; text: string } {
  const folder = copyOf('ended session', endedSession);
  const file = folder.own('snapshots', 'claude-1.md');
  return { folder, file, text: readFileSync(file, 'utf8') };
}

function endedSession(): Folder {
  const folder = newWorkspace();
  writeFileSync(join(folder.path, 'token.ts'), 'export {};\n');
  folder.data('start', 't1', ...agent);
  folder.data('checkpoint', 'drafted', '--artifact', 'token.ts', ...agent);
  folder.data('raise', 'question', 'every use?', ...agent);
  folder.data('session', 'end', '--reason', 'completed', '--next', 'wire it', ...agent);
  return folder;
}

function failures(folder: Folder, ...words: string[]): Record<string, string> {
  const ran = folder.run('check', ...words, '--json');
  const rules = ran.json.data['rules'] as unknown as { rule: string; result: string; why: string }[];
  const failed = rules.filter((one) => one.result === 'fail').map(({ rule, why }) => [rule, why]);
  expect(ran.code).toBe(failed.length > 0 ? 1 : 0);
  return Object.fromEntries(failed);
}

describe('check', () => {
  it('passes what Holdfast wrote, and writes nothing', () => {
    const { folder, text, file } = ended();
    const before = folder.data('log', '--limit', '100')['events'].length;
    const checked = folder.data('check', file);
    expect(checked['rules'].map((one: { rule: string; result: string }) => `${one.rule} ${one.result}`)).toEqual([
      'form pass',
      'identity pass',
      'token pass',
      'standing pass',
      'recorded pass',
      'active-task pass',
      'mailbox pass',
      'files-modified pass',
      'files-to-read pass',
      'questions pass',
      'decisions pass',
      'placement cannot-tell',
      'commitments pass',
      'length pass',
    ]);
    expect(folder.data('log', '--limit', '100')['events']).toHaveLength(before);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(folder.run('check').out).toContain('No rule failed.');
  });

  it.each<[string, (text: string) => string, string[]]>([
    ['a changed byte', (text) => text.replace('wire it', 'wire ot'), ['recorded', 'token']],
    ['a faked token', (text) => text.replace(/-h[0-9a-f]{8}/, '-h00000000'), ['recorded', 'token']],
    ['a made-up token', (text) => text.replace(/-h[0-9a-f]{8}/, '-h2ab83ed3'), ['recorded', 'token']],
    ['a token taken away', (text) => text.replace(/revision: .*/, 'revision: null'), ['recorded', 'token']],
    [
      'a missing file',
      (text) => signed(text.replace('### Files to read', '- `gone.ts` — modified\n\n### Files to read')),
      ['files-modified', 'recorded'],
    ],
    ['an unknown question', (text) => signed(text.replace('- Q-1', '- Q-1 Q-9')), ['questions', 'recorded']],
    ['a wrong inbox count', (text) => signed(text.replace('- Unread (0)', '- Unread (2)')), ['mailbox', 'recorded']],
    [
      'a wrong count in its head',
      (text) => signed(text.replace('  unread: 0', '  unread: 4')),
      ['mailbox', 'recorded'],
    ],
    ['an unknown message', (text) => signed(text.replace('(0): none', '(0):\n  - M-4: "x"')), ['mailbox', 'recorded']],
    [
      'a task called done',
      (text) => signed(text.replace('Status: partial', 'Status: complete')),
      ['active-task', 'recorded'],
    ],
    ['another task', (text) => signed(text.replace('Task: "t1"', 'Task: "t2"')), ['active-task', 'recorded']],
    ['a section left out', (text) => signed(text.replace('### Decision context', '')), ['form', 'recorded']],
    [
      'a wrong reason',
      (text) => signed(text.replace('close_reason: completed', 'close_reason: tired')),
      ['identity', 'recorded'],
    ],
    ['a rewritten why, signed anew', (text) => signed(text.replace('wire it', 'ship it')), ['recorded']],
  ])('finds %s', (_, lie, rules) => {
    const { folder, file, text } = ended();
    expect(lie(text)).not.toBe(text);
    writeFileSync(file, lie(text));
    expect(Object.keys(failures(folder)).sort()).toEqual(rules);
    expect(Object.keys(failures(folder, file)).sort()).toEqual(rules);
  });

  it('checks a snapshot against the journal at that time, not against what came after', () => {
    const { folder } = ended();
    folder.data('start', 't1', '--agent', 'codex');
    folder.data('complete', '--agent', 'codex');
    folder.data('settle', 'Q-1', '--as', 'resolved');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'codex');
    expect(folder.data('check', '--all')).toMatchObject({
      failed: 0,
      snapshots: [{ agent: 'claude' }, { agent: 'codex' }],
    });
    unlinkSync(join(folder.path, 'token.ts'));
    expect(failures(folder)).toMatchObject({ 'files-modified': expect.stringContaining('token.ts') });
  });

  it('finds the snapshots in the folder of a workspace', () => {
    const { folder } = ended();
    for (const path of ['.', '.git/holdfast', '.git/holdfast/snapshots'])
      expect(folder.data('check', path)).toMatchObject({
        failed: 0,
        snapshots: [{ agent: 'claude', standing: 'current' }],
      });
  });

  it('reports a file without a snapshot and a missing file', () => {
    const { folder } = ended();
    writeFileSync(join(folder.path, 'notes.md'), '# Notes\n');
    expect(folder.fault('check', 'notes.md')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('check', 'nowhere.md')).toMatchObject({ code: 'not_found' });
    expect(newFolder().fault('check')).toMatchObject({ code: 'not_found' });
    writeFileSync(folder.own('snapshots', 'claude-1.md'), 'gone');
    expect(failures(folder)).toMatchObject({ form: expect.stringContaining('It has no readable snapshot') });
  });
});

const turnfile = `agents:
  claude: { role: agent, status: active, current_task: t1 }
  codex: { role: agent, status: idle, current_task: null }
coordination:
  revision: 9
  tasks:
    t1: { status: in_progress }
`;
const mailbox = `# Mailbox

## Inbox Snapshot

| Agent | Unread |
|-------|--------|
| Claude | 0 |

## Active Messages (Newest First)

### MSG-20260208-002

**From:** Codex -> Claude
**Status:** closed

### MSG-20260208-001

**From:** Claude -> Codex
**Status:** closed

\`\`\`text
### MSG-20260208-009
**From:** Codex -> Claude
**Status:** unread
\`\`\`
`;

describe('check of a working session', () => {
  /** A chat file beside its files, without a journal. */
  function workingSession(): { folder: Folder; chat: string; write(name: string, text: string): void } {
    const { text } = ended();
    const folder = newFolder();
    mkdirSync(join(folder.path, 'working-session'));
    const write = (name: string, content: string): void =>
      writeFileSync(join(folder.path, 'working-session', name), content);
    writeFileSync(join(folder.path, 'token.ts'), 'x\n');
    const chat = `# Chat of claude\n\n${renderChatEntry(text, 'Session 1 closing state')}`;
    write('chat-claude.md', chat);
    write('TURNFILE.yaml', turnfile);
    write('MAILBOX.md', mailbox);
    write('WORKLOG.md', `# Worklog\n\nNow Working (Claude): t1, wire the router.\n\n${POINTER}\n`);
    write('OPEN_QUESTIONS.md', '| ID | Question |\n|---|---|\n| Q-1 | every use? |\n');
    return { folder, chat, write };
  }

  it('checks the last snapshot of a chat file against the files beside it', () => {
    const { folder } = workingSession();
    const checked = folder.data('check', 'working-session/chat-claude.md');
    expect(checked['failed']).toBe(0);
    const results = Object.fromEntries(
      checked['rules'].map((one: { rule: string; result: string }) => [one.rule, one.result]),
    );
    expect(results).toMatchObject({
      token: 'pass',
      standing: 'pass',
      recorded: 'cannot-tell',
      'active-task': 'pass',
      mailbox: 'pass',
      'files-modified': 'pass',
      questions: 'pass',
    });
    expect(folder.data('check', 'working-session')).toMatchObject({ failed: 0, snapshots: [{ standing: 'current' }] });
  });

  it('reports what differs from them', () => {
    const { folder, write } = workingSession();
    write('MAILBOX.md', mailbox.replace('**Status:** closed', '**Status:** unread'));
    write('TURNFILE.yaml', turnfile.replace('in_progress', 'done'));
    write('OPEN_QUESTIONS.md', '| ID | Question |\n|---|---|\n| OQ-001 | every use? |\n');
    unlinkSync(join(folder.path, 'token.ts'));
    expect(failures(folder, 'working-session')).toMatchObject({
      mailbox: expect.stringContaining('unread: it says 0, the cards give 1 (MSG-20260208-002)'),
      'active-task': expect.stringContaining('TURNFILE.yaml'),
      questions: 'Unknown: Q-1.',
      'files-modified': expect.stringContaining('token.ts'),
    });
  });

  it('reads cards with short headings', () => {
    const { folder, write } = workingSession();
    const short = mailbox.replace('### MSG-20260208-002', '### M-4').replace('### MSG-20260208-001', '### M-3: Tides');
    write('MAILBOX.md', short);
    expect(folder.data('check', 'working-session')).toMatchObject({ failed: 0 });
    write('MAILBOX.md', short.replace('**Status:** closed', '**Status:** unread'));
    expect(failures(folder, 'working-session')).toMatchObject({
      mailbox: expect.stringContaining('unread: it says 0, the cards give 1 (M-4)'),
    });
  });

  it('checks a snapshot without a number too, unless another of its agent follows', () => {
    const { folder, chat, write } = workingSession();
    const old = chat.replace(/-1-h[0-9a-f]{8}/, '-01');
    const told = (...words: string[]): Record<string, string> => {
      const ran = folder.run('check', 'working-session', ...words, '--json');
      const rules = ran.json.data['rules'] as unknown as { rule: string; result: string; why: string }[];
      return Object.fromEntries(rules.slice(0, 11).map(({ rule, result, why }) => [rule, `${result}: ${why}`]));
    };
    write('chat-claude.md', old);
    expect(told()).toMatchObject({
      token: expect.stringContaining('fail: REV-'),
      standing: 'cannot-tell: It has no number to compare.',
      'active-task': 'pass: partial, as by TURNFILE.yaml and WORKLOG.md.',
      mailbox: 'pass: As the cards of working-session say.',
    });
    write('TURNFILE.yaml', turnfile.replace('in_progress', 'done'));
    expect(told()).toMatchObject({ 'active-task': expect.stringContaining('fail: It says partial') });
    write('chat-claude.md', `${old}\n${chat.slice(chat.indexOf('## Session'))}`);
    expect(told('--all')).toMatchObject({
      'active-task': 'cannot-tell: It is not the last one here, and the files beside it have changed since.',
    });
  });

  it('verifies the attachments of a mailbox', () => {
    const { folder, write } = workingSession();
    const [attachment = ''] = renderEnvelopes({
      ...{ date: '20260208', topic: 'plan', sequence: 1, format: 'full-text', reviewScope: 'full', ask: 'fyi' },
      files: ['plan.md'],
      content: 'As agreed.',
    });
    write('MAILBOX.md', `${mailbox}\n### MSG-20260208-003\n\n**Status:** closed\n\n${attachment}`);
    const checked = folder.data('check', 'working-session');
    expect(checked['rules'].at(-1)).toMatchObject({ rule: 'payload', result: 'pass' });
    write('MAILBOX.md', attachment.replace('agreed', 'argued'));
    expect(failures(folder, 'working-session/MAILBOX.md')).toMatchObject({
      payload: expect.stringContaining('not REV-'),
    });
  });

  it('finds an invalid attachment among valid ones, also if its fields are written as a list', () => {
    const folder = newFolder();
    copyFileSync('test/fixtures/snap/payloads/MAILBOX.md', join(folder.path, 'MAILBOX.md'));
    const ran = folder.run('check', 'MAILBOX.md', '--json');
    const { rules, payloads } = ran.json.data as unknown as {
      rules: { at: string; rule: string; result: string; why: string }[];
      payloads: { at: string; token: string }[];
    };
    expect(rules.map(({ at, rule, result }) => `${at} ${rule} ${result}`)).toEqual([
      'MAILBOX.md:40 payload fail',
      'MAILBOX.md:83 payload pass',
      'MAILBOX.md:113 payload pass',
      'MAILBOX.md:134 payload cannot-tell',
    ]);
    expect(rules[0]?.why).toContain('not REV-20260203-epochs-01-h5eed5eed');
    expect(payloads[0]).toEqual({ at: 'MAILBOX.md:40', token: 'REV-20260203-epochs-01-h5eed5eed' });
    expect(ran.code).toBe(1);
    expect(folder.run('check', 'MAILBOX.md').out).toContain('MAILBOX.md:40 (attachment)');
  });

  it('does not judge a rule whose file is missing', () => {
    const { folder } = workingSession();
    for (const name of ['TURNFILE.yaml', 'WORKLOG.md', 'MAILBOX.md', 'OPEN_QUESTIONS.md'])
      unlinkSync(join(folder.path, 'working-session', name));
    const checked = folder.data('check', 'working-session');
    const unknown = checked['rules'].filter((one: { result: string }) => one.result === 'cannot-tell');
    expect(unknown.map((one: { rule: string }) => one.rule)).toEqual([
      'recorded',
      'active-task',
      'mailbox',
      'files-modified',
      'files-to-read',
      'questions',
      'placement',
      'commitments',
    ]);
  });

  it('distinguishes the newest, a superseded one, a duplicate and two with the same number', () => {
    const { folder, chat, write } = workingSession();
    const entry = chat.slice(chat.indexOf('## Session'));
    const older = signedChat(entry.replace(/claude-1-h/, 'claude-0-h'));
    const standing = (text: string): string[] => {
      write('chat-claude.md', text);
      const ran = folder.run('check', 'working-session', '--all', '--json');
      return (ran.json.data['snapshots'] as unknown as { standing: string }[]).map((one) => one.standing);
    };
    expect(standing(`${older}\n${entry}`)).toEqual(['superseded', 'current']);
    expect(standing(`${entry}\n${entry}`)).toEqual(['duplicate', 'duplicate']);
    expect(folder.run('check', 'working-session', '--all').code).toBe(0);
    expect(standing(`${signedChat(entry.replace('wire it', 'ship it'))}\n${entry}`)).toEqual([
      'duplicate',
      'duplicate',
    ]);
    expect(failures(folder, 'working-session')).toMatchObject({ standing: 'Two different snapshots have number 1.' });
  });
});

const POINTER = 'Full resumption snapshot: working-session/chat-claude.md § Session 1 closing state.';

function signedChat(entry: string): string {
  const start = entry.indexOf('```yaml\n') + 8;
  const end = entry.indexOf('\n```\n', start);
  const token = /REV-\S+/.exec(entry)?.[0] ?? '';
  const digits = digestSnapshot(entry.slice(start, end), entry.slice(end + 5), token);
  return entry.replace(token, token.slice(0, -8) + digits);
}
