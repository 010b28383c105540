import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Program } from '../../scripts/sha256-program.ts';
import { sha256, sha256OfBytes } from './sha256.ts';
import { sha256Code } from './sha256-code.ts';

const platform = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('sha256', () => {
  it('gives the hashes of the standard', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('agrees with the platform at every length around a block', () => {
    for (let length = 0; length <= 200; length++) expect(sha256('é'.repeat(length))).toBe(platform('é'.repeat(length)));
  });

  it('agrees with the platform on any text, short and long', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => sha256(text) === platform(text)));
    const long = 'The quick brown fox. '.repeat(50_000);
    expect(sha256(long)).toBe(platform(long));
  });

  it('agrees with the platform where the message fills the buffer exactly, or nearly', () => {
    for (const length of [63_900, 63_991, 63_992, 63_999, 64_000, 64_001, 128_000]) {
      const bytes = Buffer.alloc(length, 'holdfast');
      expect(sha256OfBytes(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });

  it('runs the program in its source (`node scripts/run.mjs scripts/sha256.ts` rebuilds it)', () => {
    expect(sha256Code).toEqual(sha256Program());
  });
});
