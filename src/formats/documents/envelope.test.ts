import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Attachment, envelopesIn, renderEnvelopes } from './envelope.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

const attachment: Attachment = {
  date: '20260208',
  topic: 'router-review',
  sequence: 2,
  format: 'full-text',
  reviewScope: 'full',
  ask: 'apply-or-counter',
  files: ['src/router.ts', 'docs/plan.md'],
  content: 'Wire the router.\n\n## Not a heading of the mailbox\n',
};

describe('an attachment envelope', () => {
  it('is hashed between its fences, with the last line feed', () => {
    const [text = ''] = renderEnvelopes(attachment);
    expect(text).toContain(`Revision: REV-20260208-router-review-2-h${hash(attachment.content)}\n`);
    expect(envelopesIn(text)).toMatchObject([
      { verdict: 'valid', content: attachment.content, files: attachment.files, fields: expect.any(Map), line: 1 },
    ]);
    expect(envelopesIn(text)[0]?.fields.get('ask')).toBe('apply-or-counter');
  });

  it('verifies content without a last line feed or with Windows line ends', () => {
    for (const content of ['one line', 'a\r\nb\r\n', '']) {
      const [text = ''] = renderEnvelopes({ ...attachment, content });
      expect(envelopesIn(text)).toMatchObject([{ verdict: 'valid' }]);
      expect(envelopesIn(text.replaceAll('\n', '\r\n'))).toMatchObject([{ verdict: 'valid' }]);
    }
  });

  it('detects a changed byte, a placeholder, a malformed token and one without an attachment', () => {
    const [text = ''] = renderEnvelopes(attachment);
    const token = envelopesIn(text)[0]?.token ?? '';
    const verdict = (changed: string) => envelopesIn(changed).map((one) => one.verdict);
    expect(verdict(text.replace('Wire', 'Mire'))).toEqual(['changed']);
    expect(verdict(text.replace(token, `${token.slice(0, -8)}00000000`))).toEqual(['placeholder']);
    expect(verdict(text.replace(token, 'REV-20260617-prd032-review-approve'))).toEqual(['malformed']);
    expect(verdict(`**Revision token:** ${token}\n\n### MSG-20260208-031\n`)).toEqual(['no-payload']);
    expect(verdict(`**Revision token:** ${token}\n\nPayload:\n\n${text}`)).toEqual(['valid']);
  });

  it('is read as a list, in bold, and with text between its fields and its fence', () => {
    const [text = ''] = renderEnvelopes(attachment);
    const head = text.slice(0, text.indexOf('\n\n'));
    const rest = text.slice(head.length);
    const fields = head.replace(/^(?=\S)/gm, '- ');
    const bold = head.replace(/^([A-Z][\w ]*:)/gm, '* **$1**');
    for (const form of [`${fields}\n\nPayload body:${rest}`, `Payload:\n${bold}${rest}`])
      expect(envelopesIn(form)).toMatchObject([
        { verdict: 'valid', content: attachment.content, files: attachment.files, fields: expect.any(Map) },
      ]);
    expect(envelopesIn(fields + rest)[0]?.fields.get('ask')).toBe('apply-or-counter');
    expect(envelopesIn((fields + rest).replace('Wire', 'Mire'))).toMatchObject([{ verdict: 'changed' }]);
  });

  it('is split above 300 lines or 16 KiB, and has a fence that its content cannot close', () => {
    const long = Array.from({ length: 650 }, (_, index) => `line ${index}\n`).join('');
    const parts = renderEnvelopes({ ...attachment, content: long });
    expect(parts).toHaveLength(3);
    const read = parts.flatMap(envelopesIn);
    expect(read.map((one) => [one.verdict, one.revision?.part])).toEqual([
      ['valid', { number: 1, of: 3 }],
      ['valid', { number: 2, of: 3 }],
      ['valid', { number: 3, of: 3 }],
    ]);
    expect(read.map((one) => one.content).join('')).toBe(long);
    expect(renderEnvelopes({ ...attachment, content: `${'x'.repeat(9000)}\n${'y'.repeat(9000)}\n` })).toHaveLength(2);
    const [fenced = ''] = renderEnvelopes({ ...attachment, content: '```ts\nlet a;\n```\n````\n' });
    expect(envelopesIn(fenced)).toMatchObject([{ verdict: 'valid' }]);
  });
});
