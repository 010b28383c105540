import { readFileSync } from 'node:fs';
import { getTokenizer } from '@anthropic-ai/tokenizer';
import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, it } from 'vitest';
import { writtenTexts } from './tokens.suite.ts';
import { estimateTokens } from './tokens.ts';

/** Files of locked dependencies, in pieces of about a page: the files of this project change too often. */
const texts: Record<string, readonly string[]> = {
  Markdown: pages('README.md', 'valibot', 'yaml', 'knip', 'postgres', 'smol-toml', 'picomatch', 'fast-check'),
  'JavaScript and TypeScript': [
    ...pages('src/connection.js', 'postgres'),
    ...pages('dist/schema/Schema.js', 'yaml'),
    ...pages('dist/nodes/Collection.d.ts', 'yaml'),
    ...pages('dist/index.d.mts', 'valibot'),
  ],
  'C and C++': pages('src/user_function.cpp', '@photostructure/sqlite'),
  JSON: pages('package.json', 'valibot', 'vitest', 'yaml', 'knip', 'zod', 'fast-check'),
  ...writtenTexts,
};

function pages(path: string, ...packages: string[]): string[] {
  return packages.flatMap((name) => {
    const text = readFileSync(`node_modules/${name}/${path}`, 'utf8');
    return Array.from({ length: Math.min(12, Math.ceil(text.length / 3000)) }, (_, page) =>
      text.slice(page * 3000, (page + 1) * 3000),
    ).filter((piece) => piece.length > 400);
  });
}

const claude = getTokenizer();
afterAll(() => claude.free());

/** The count of each tokenizer; Claude's gets the compatibility form of the text, as in its package. */
function count(text: string): { o200k: number; claude: number } {
  return { o200k: encode(text).length, claude: claude.encode(text.normalize('NFKC'), 'all').length };
}

/** How far the estimate is above each count and above the larger, over all pieces of a class, in percent. */
function measure(pieces: readonly string[]) {
  let estimated = 0;
  const counted = { o200k: 0, claude: 0, larger: 0 };
  const errors: number[] = [];
  for (const piece of pieces) {
    const { o200k, claude } = count(piece);
    const larger = Math.max(o200k, claude);
    const estimate = estimateTokens(piece);
    estimated += estimate;
    counted.o200k += o200k;
    counted.claude += claude;
    counted.larger += larger;
    errors.push(percent(estimate, larger));
  }
  errors.sort((a, b) => a - b);
  return {
    o200k: percent(estimated, counted.o200k),
    claude: percent(estimated, counted.claude),
    larger: percent(estimated, counted.larger),
    lowest: errors[0] ?? 0,
    p95: errors[Math.ceil(errors.length * 0.95) - 1] ?? 0,
  };
}

const percent = (estimate: number, real: number) => (estimate / real - 1) * 100;

describe('the estimate of tokens', () => {
  const documented = new Map(
    readFileSync('docs/proof/tokens.md', 'utf8')
      .split('\n')
      .filter((line) => /^\| .* % \|$/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map((cells) => [cells[1] ?? '', cells.slice(2, -1).map((cell) => Number.parseFloat(cell.replace('−', '-')))]),
  );

  it.each(Object.entries(texts))('of %s is a little above both tokenizers, as documented', (name, pieces) => {
    const error = measure(pieces);
    const row = Object.values(error).map(Math.round);
    // Random letters in both cases look like short words. Base64 is not read, so a larger error is accepted.
    expect(error.larger, `${name}: ${row}`).toBeGreaterThan(name === 'base64' ? -10 : -6);
    expect(error.larger, `${name}: ${row}`).toBeLessThan(15);
    expect(error.lowest, `${name}: ${row}`).toBeGreaterThan(-12);
    const written = documented.get(name) ?? [];
    expect(written, `${name}: ${row}`).toHaveLength(row.length);
    for (const [index, figure] of row.entries())
      expect(Math.abs(figure - (written[index] ?? 999)), `${name}: ${row}`).toBeLessThan(3);
  });

  it('documents no class that is not measured', () => {
    expect([...documented.keys()].sort()).toEqual(Object.keys(texts).sort());
  });

  it('is 0 for nothing and at least 1 for anything', () => {
    expect(estimateTokens('')).toBe(0);
    fc.assert(fc.property(anyText(1), (text) => estimateTokens(text) >= 1));
  });

  it('of two texts joined is at most a token above their sum', () => {
    fc.assert(
      fc.property(anyText(0), anyText(0), (a, b) => {
        expect(estimateTokens(a + b)).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b) + 1);
      }),
      { numRuns: 3000 },
    );
  });

  it('never shrinks as the text grows', () => {
    fc.assert(
      fc.property(anyText(0), anyText(0), (a, b) => {
        expect(estimateTokens(a + b)).toBeGreaterThanOrEqual(estimateTokens(a));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['one letter', 'a'],
    ['a word', 'checkpoint '],
    ['one mark', '='],
    ['emoji', '\u{1f6a7}'],
    ['Han', '漢字'],
    ['spaces', ' '],
    ['unpaired surrogates', '\ud83d'],
  ])('stays in proportion to a long text of nothing but %s', (_, unit) => {
    const one = estimateTokens(unit.repeat(1000));
    const ten = estimateTokens(unit.repeat(10_000));
    expect(ten).toBeGreaterThan(one * 5);
    expect(ten).toBeLessThanOrEqual(one * 10 + 9);
  });

  it('reads 10 MB once', () => {
    const piece = texts['Markdown']?.join('\n') ?? '';
    const long = piece.repeat(Math.ceil(10_000_000 / piece.length)).slice(0, 10_000_000);
    let reads = 0;
    // Counted, not timed: the speed of this machine says nothing about how the work grows.
    const charCodeAt = (index: number) => {
      reads += 1;
      return long.charCodeAt(index);
    };
    const counting = { length: long.length, charCodeAt, charAt: (index: number) => long.charAt(index) };
    expect(estimateTokens(counting as unknown as string)).toBe(estimateTokens(long));
    expect(reads).toBe(long.length);
  });
});

/** Words, hashes, marks and other scripts, so that texts are joined in the middle of every kind of run. */
function anyText(minLength: number) {
  const unit = fc.constantFrom(
    ...'aaeestrnqzxAZ059 \n\t.,=-_/{"éßłệДжΩאم한あア漢、…→│',
    '\u{1f600}',
    '\ud83d',
    'abcdefgh',
  );
  return fc.oneof(
    fc.string({ unit, minLength, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), minLength, maxLength: 24 }),
  );
}
