import { describe, expect, it } from 'vitest';
import { shortWords } from './said.ts';

describe('words that are too long', () => {
  it('keep the first and the last sentence, or the question at the end', () => {
    const text = `The table works. ${'More of it. '.repeat(20)}\n\nOne thing is left. Is it 404 or 410? Thanks`;
    expect(shortWords(text, 60)).toBe('The table works. … Is it 404 or 410?');
    expect(shortWords(text, 24)).toBe('… Is it 404 or 410?');
  });

  it('keep the end of a last sentence that is too long itself', () => {
    const sentence = `I looked at ${'one more place and '.repeat(9)}started the import`;
    const short = shortWords(sentence, 60);
    expect(short).toMatch(/^… (?:one|more|place|and) .*started the import$/);
    expect(short.length).toBeLessThanOrEqual(60);
  });
});
