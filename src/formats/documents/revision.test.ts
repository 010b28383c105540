import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { digestSnapshot, parseRevision, renderRevision } from './revision.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

describe('a revision token', () => {
  it('is read back as it was written', () => {
    const token = 'REV-20260208-snapshot-claude-14-h2ab83ed3';
    expect(parseRevision(token)).toEqual({
      date: '20260208',
      topic: 'snapshot-claude',
      sequence: 14,
      part: null,
      digits: '2ab83ed3',
    });
    const part = { ...parseRevision(token), part: { number: 1, of: 3 } } as Parameters<typeof renderRevision>[0];
    expect(renderRevision(part)).toBe('REV-20260208-snapshot-claude-14-p1of3-h2ab83ed3');
    expect(parseRevision(renderRevision(part))).toEqual(part);
  });

  it.each([
    'REV-20260208-snapshot-claude-01',
    'REV-20260618-completion-gemini-1-h7edad11',
    'REV-2026-x-1-h00000000',
    '',
  ])('is not %s', (token) => {
    expect(parseRevision(token)).toBeNull();
  });

  it('of a snapshot covers its YAML, a line feed and its body, with its own digits zeroed and one line feed at the end', () => {
    const token = 'REV-20260208-snapshot-ada-1-h12345678';
    const zeroed = 'revision: REV-20260208-snapshot-ada-1-h00000000\n\n### Active task\n';
    expect(digestSnapshot(`revision: ${token}`, '\n### Active task\n\n\n', token)).toBe(hash(zeroed));
    expect(digestSnapshot(`\ufeffrevision: ${token}`, '\r\n### Active task', token)).toBe(hash(zeroed));
  });
});
