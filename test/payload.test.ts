import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

const claude = ['--agent', 'claude'];
const codex = ['--agent', 'codex'];
const mailbox = 'working-session/MAILBOX.md';
/** No line feed at its end, and full of mailbox syntax. */
const page =
  '# Plan\n\n<!-- later\n### MSG-20260101-001\n-->\n**Ack:** me | now | no\n```ts\nlet a;\n```\n---\nthe end';
const diff = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-let a;\n+const a = 1;\n';

function send(folder: Folder, ...words: string[]) {
  return folder.data(
    ...['mail', 'send', '--to', 'codex', '--type', 'request', '--subject', 'Plan', '--body', 'Please look.'],
    ...words,
    ...claude,
  );
}

function mirrored(): Folder {
  const folder = newWorkspace();
  folder.data('mirror', 'add', 'snap');
  writeFileSync(join(folder.path, 'plan.md'), page);
  return folder;
}

const verdicts = (folder: Folder, ...words: string[]): string[] => {
  const ran = folder.run('check', ...words, '--json');
  const rules = ran.json.data['rules'] as unknown as { rule: string; result: string }[];
  const found = rules.filter((one) => one.rule === 'payload').map((one) => one.result);
  expect(ran.code).toBe(found.includes('fail') ? 1 : 0);
  return found;
};

describe('an attachment', () => {
  it('is in the mirrored card with its token, is verified there and in the journal, and is printed', () => {
    const folder = mirrored();
    const sent = send(folder, '--payload', 'plan.md');
    expect(sent['tokens']).toEqual([expect.stringMatching(/^REV-\d{8}-plan-1-h[0-9a-f]{8}$/)]);
    const text = readFileSync(join(folder.path, mailbox), 'utf8');
    expect(text).toContain(`Revision: ${sent['tokens'][0]}\nFormat: full-text\n`);
    expect(text).toContain(`\`\`\`\`text\n${page}\n\`\`\`\`\n`);
    expect(verdicts(folder)).toEqual(['pass']);
    expect(verdicts(folder, mailbox)).toEqual(['pass']);
    expect(folder.run('mail', 'show', sent['id'], '--raw').out).toBe(`${page}\n`);
    expect(folder.run('mail', 'show', sent['id'], ...codex).out).toContain(`Attachment ${sent['tokens'][0]}: verified`);
    folder.data('mail', 'ack', sent['id'], '--note', `Read ${sent['tokens'][0]}`, ...codex);
    expect(verdicts(folder, mailbox)).toEqual(['pass']);

    const other = newFolder();
    mkdirSync(join(other.path, 'working-session'));
    for (const name of ['MAILBOX.md', 'TURNFILE.yaml', 'WORKLOG.md'])
      writeFileSync(
        join(other.path, 'working-session', name),
        readFileSync(join(folder.path, 'working-session', name), 'utf8'),
      );
    other.data('adopt');
    expect(verdicts(other)).toEqual(['pass']);
    expect(other.run('mail', 'show', 'M-1', '--raw').out).toBe(`${page}\n`);
  });

  it('with one changed byte is found in the file and in the journal that absorbed it, and not printed', () => {
    const folder = mirrored();
    const { id } = send(folder, '--payload', 'plan.md');
    const file = join(folder.path, mailbox);
    writeFileSync(file, readFileSync(file, 'utf8').replace('let a;', 'let b;'));
    expect(verdicts(folder, mailbox)).toEqual(['fail']);
    expect(verdicts(folder)).toEqual(['pass']);
    folder.data('mirror', 'sync');
    expect(verdicts(folder)).toEqual(['fail']);
    expect(folder.fault('mail', 'show', id, '--raw')).toMatchObject({ code: 'corrupt', data: { verdict: 'changed' } });
    expect(folder.run('mail', 'show', id).out).toMatch(/Attachment REV-\S+: changed/);
  });

  it('keeps its token when it is sent again, and gets the next one for other content', () => {
    const folder = mirrored();
    const first = send(folder, '--payload', 'plan.md', '--idempotency', 'k1');
    expect(send(folder, '--payload', 'plan.md', '--idempotency', 'k1')).toMatchObject({ id: first['id'], changed: [] });
    expect(send(folder, '--payload', 'plan.md')).toMatchObject({ id: 'M-2', tokens: first['tokens'] });
    writeFileSync(join(folder.path, 'plan.md'), `${page}, really`);
    expect(send(folder, '--payload', 'plan.md')['tokens'][0]).toMatch(/-plan-2-h/);
  });

  it('that is a diff names the files it changes and what is asked', () => {
    const folder = mirrored();
    writeFileSync(join(folder.path, 'a.diff'), diff);
    const { id } = send(folder, '--payload', 'a.diff', '--ask', 'review-only');
    expect(folder.data('mail', 'show', id)['payloads']).toMatchObject([
      { verdict: 'valid', format: 'unified-diff', ask: 'review-only', files: ['src/a.ts'] },
    ]);
  });

  it('above 300 lines is split into parts, which are joined again', () => {
    const folder = mirrored();
    const long = Array.from({ length: 650 }, (_, index) => `line ${index}\n`).join('');
    writeFileSync(join(folder.path, 'long.txt'), long);
    const { id, tokens } = send(folder, '--payload', 'long.txt');
    expect(tokens).toHaveLength(3);
    expect(verdicts(folder, mailbox)).toEqual(['pass', 'pass', 'pass']);
    expect(folder.run('mail', 'show', id, '--raw').out).toBe(long);
  });

  it('of a reply is the next revision of what it answers, and is verified in the card', () => {
    const folder = mirrored();
    const { id, tokens } = send(folder, '--payload', 'plan.md');
    writeFileSync(join(folder.path, 'plan.md'), `${page}, rather so`);
    const reply = ['mail', 'reply', id, '--body', 'Like this?', '--payload', 'plan.md', ...codex];
    const replied = folder.data(...reply, '--idempotency', 'r1');
    expect([tokens[0], replied['tokens'][0]]).toEqual([
      expect.stringMatching(/-plan-1-h/),
      expect.stringMatching(/-plan-2-h/),
    ]);
    expect(folder.data(...reply, '--idempotency', 'r1')).toMatchObject({ tokens: replied['tokens'], changed: [] });
    expect(verdicts(folder)).toEqual(['pass', 'pass']);
    expect(verdicts(folder, mailbox)).toEqual(['pass', 'pass']);
    expect(folder.run('mail', 'show', id, '--raw').out).toBe(`${page}, rather so\n`);
    folder.data('mirror', 'sync');
    expect(verdicts(folder)).toEqual(['pass', 'pass']);
    writeFileSync(join(folder.path, 'plan.md'), `${page}, or so`);
    expect(folder.data(...reply)['tokens'][0]).toMatch(/-plan-3-h/);
    expect(folder.run('mail', 'reply', id, '--body', 'b', '--payload-text', 'x', ...codex).out).toMatch(
      /\nAttachment REV-/,
    );
    expect(folder.fault('mail', 'reply', id, '--body', 'b', '--ask', 'fyi', ...codex).code).toBe('usage');
    expect(folder.fault('mail', 'reply', 'M-9', '--body', 'b', '--payload', 'plan.md').code).toBe('not_found');
  });

  it('of a handoff reaches the receiver', () => {
    const folder = mirrored();
    folder.data('start', 't1', ...claude);
    const offered = folder.data(
      'handoff',
      '--to',
      'codex',
      '--message',
      'Apply this',
      '--payload',
      'plan.md',
      ...claude,
    );
    expect(verdicts(folder, mailbox)).toEqual(['pass']);
    folder.data('handoff', 'accept', offered['id'], ...codex);
    expect(folder.run('mail', 'show', offered['message'], '--raw', ...codex).out).toBe(`${page}\n`);
  });

  it.each<[string, string | Buffer, string]>([
    ['a file that is not text', Buffer.from([0xff, 0xfe, 0x00]), 'is not UTF-8 text'],
    ['what terminals act upon', 'one\ntwo \u001b[2J\n', 'not shown as they are (line 2)'],
    ['what is empty', ' \n', 'is empty'],
    ['a text with merge conflict markers', 'a\n<<<<<<< HEAD\n', 'merge conflict markers (line 2)'],
    ['a line no envelope holds', `x\n${'y'.repeat(20_000)}\n`, 'a line of more than 16 KiB (line 2)'],
    ['more than a message carries', 'x\n'.repeat(70_000), 'longer than 128 KiB'],
  ])('is never %s', (_, content, why) => {
    const folder = newWorkspace();
    writeFileSync(join(folder.path, 'bad.txt'), content);
    const words = ['--type', 'notify', '--subject', 's', '--body', 'b', '--payload', 'bad.txt'];
    const fault = folder.fault('mail', 'send', '--to', 'codex', ...words);
    expect([fault.code, fault.message]).toEqual(['invalid', expect.stringContaining(why)]);
    expect(fault.hints[0]).toContain('--artifact');
    expect(folder.data('mail', 'inbox', '--all')['unread']).toEqual([]);
  });

  it('is one existing file', () => {
    const folder = newWorkspace();
    const words = ['mail', 'send', '--to', 'codex', '--type', 'notify', '--subject', 's', '--body', 'b'];
    expect(folder.fault(...words, '--payload', 'none.txt').code).toBe('not_found');
    expect(folder.fault(...words, '--ask', 'fyi').code).toBe('usage');
    writeFileSync(join(folder.path, 'a.txt'), 'a\n');
    expect(folder.fault(...words, '--payload', 'a.txt', '--payload-text', 'b').code).toBe('usage');
    const { id } = folder.data(...words, '--payload-text', 'b\r\nc');
    expect(folder.run('mail', 'show', id, '--raw').out).toBe('b\nc\n');
    const plain = folder.data(...words)['id'];
    expect(folder.fault('mail', 'show', plain, '--raw').code).toBe('not_found');
  });
});
