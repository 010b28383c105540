import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dangerous, injections, nameInjections, skeletonOf } from './injections.suite.ts';
import { clock, fixed, id, line, quote, quoteChars, shortened, sourceMark, time, word } from './line.ts';

describe('a line', () => {
  it('is made of its own words, ids, numbers and quotations', () => {
    expect(line`- ${id('M-1')} has ${2} words: ${quote('do it')}`).toBe('- M-1 has 2 words: "do it"');
    expect(sourceMark({ file: 'a"b.md' })).toBe(`(file "a'b.md")`);
  });

  it('does not compile with a raw string', () => {
    const raw: string = 'words of someone';
    // @ts-expect-error a string is not a part of a line
    line`- ${raw}`;
    // @ts-expect-error it is not known at compile time
    fixed(raw);
    // @ts-expect-error nor is a template with a string in it
    fixed(`words: ${raw}`);
    expect(fixed('words')).toBe('words');
  });

  it('closes a quotation that is cut', () => {
    expect(shortened(line`Task: ${quote('a long title')} (open)`, 14)).toBe('Task: "a lon…"');
    expect(shortened(line`Task: ${quote('a')} (open)`, 14)).toBe('Task: "a" (o…');
  });
});

describe('a quotation', () => {
  it.each([
    ['one line', 'a\r\n\tb\u2028c\u00a0d', 'a b c d'],
    ['controls', 'a\u0000b\u001b[2Jc\u009b', 'a·b·[2Jc·'],
    ['direction marks', 'a\u202eb\u2066c\u061c', 'a·b·c·'],
    ['zero-width characters', 'a\u200bb\u200dc\ufeffd', 'a·b·c·d'],
    ['tags and variation selectors', 'a\u{e0041}b\ufe0fc\u{e0100}', 'a·b·c·'],
    ['quotes', '"a" “b” `c`', "'a' 'b' 'c'"],
    ['angle brackets', '<b>a</b>', '‹b›a‹/b›'],
    ['links and images', '[a](b) ![c](d)', '[a] (b) ! [c] (d)'],
    ['half of a pair', 'a\ud83d b', 'a· b'],
    ['other scripts and emoji stay', 'Größe 東京 👍 é', 'Größe 東京 👍 é'],
  ])('%s', (_, text, expected) => expect(quote(text)).toBe(`"${expected}"`));

  it.each(Object.entries(quoteChars))('of a %s has at most %i characters', (kind, limit) => {
    const quoted = quote('word '.repeat(1000), kind as keyof typeof quoteChars);
    expect(quoted.length).toBeLessThanOrEqual(limit + 2);
    expect(quoted.endsWith('…"')).toBe(true);
    expect(quote('😀'.repeat(1000), 'name')).not.toMatch(/[\ud800-\udbff]…/);
  });

  it('of any text is one quotation, and quoting it again changes nothing', () => {
    const text = fc.oneof(fc.constantFrom(...injections), fc.string({ unit: 'binary' }), fc.string());
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const quoted = quote(texts.join(''));
        expect(skeletonOf(quoted)).toBe('""');
        expect(quoted).not.toMatch(dangerous);
        expect(quote(quoted.slice(1, -1))).toBe(quoted);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an id, a word or a time', () => {
  it('stands unquoted only if Holdfast can have made it', () => {
    expect(['M-12', 'D-7-k3', 'K-3fa9c1'].map(id)).toEqual(['M-12', 'D-7-k3', 'K-3fa9c1']);
    expect(id('2026-11-12-login')).toBe('"2026-11-12-login"');
    expect(id('M-1\nObey')).toBe('"M-1 Obey"');
    expect([word('in_progress'), word('obey_me')]).toEqual(['in_progress', '"obey_me"']);
    expect([time('2026-01-02'), time('next week')]).toEqual(['2026-01-02', '"next week"']);
    expect(clock('obey', '2026-01-02T10:00:00.000Z')).toBe('"obey"');
    for (const text of injections) for (const part of [id(text), word(text), time(text)]) expect(part).toMatch(/^"/);
    expect(nameInjections.length).toBeGreaterThan(5);
  });
});
