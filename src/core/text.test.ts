import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ActorName, Label, oneLine, printable, Sentence, StepKey, TEXT_LIMIT_BYTES, Text, utf8Length } from './text.ts';
import { addMs, clockTime, inWords } from './time.ts';

const ok = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).success;

describe('printable text', () => {
  it.each([
    ['an escape sequence', '\u001b[31mred\u001b[0m', '\ufffd[31mred\ufffd[0m'],
    ['an 8-bit control sequence', '\u009b31mred', '\ufffd31mred'],
    ['a terminal title', '\u001b]0;title\u0007', '\ufffd]0;title\ufffd'],
    ['a null and a delete', 'a\u0000b\u007fc', 'a\ufffdb\ufffdc'],
    ['a backspace', 'safe\b\b\b\bevil', 'safe\ufffd\ufffd\ufffd\ufffdevil'],
    ['direction overrides', 'a\u202eb\u202cc\u2066d\u2069e', 'a\ufffdb\ufffdc\ufffdd\ufffde'],
    ['direction marks', 'a\u200eb\u200fc\u061cd', 'a\ufffdb\ufffdc\ufffdd'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'a\ufffdb\ufffdc'],
    ['invisible tags', 'a\u{e0041}\u{e0042}b', 'a\ufffd\ufffdb'],
    ['a byte order mark', '\ufeffa', '\ufffda'],
    ['carriage returns, as line feeds', 'a\r\nb\rc', 'a\nb\nc'],
  ])('has no %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps letters of all scripts, emoji, line feeds and tabs', () => {
    const text = 'Grüße,\n\t世界 👩‍👩‍👧 עולם';
    expect(printable(text)).toBe(text);
  });

  it('never has a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
        expect(oneLine(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe('one line', () => {
  it('collapses white space and cuts visibly', () => {
    expect(oneLine(' a\n\n b\tc ')).toBe('a b c');
    expect(oneLine('x'.repeat(200))).toBe('x'.repeat(200));
    expect(oneLine('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(oneLine(`${' '.repeat(900)}end`)).toBe('…');
  });

  it('is the same text where that is one line already, and one line of anything else', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      ' ',
      '  ',
      '\t',
      '\n',
      '\r\n',
      '\u00a0',
      '\u2028',
      '\u001b',
      '\u202e',
      'é',
      '🚀',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(oneLine(text, 100)).toBe(printable(text).replace(/\s+/g, ' ').trim());
      }),
    );
  });

  it('is within its limit and never cuts a character in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (text, limit) => {
        const line = oneLine(text, limit);
        expect(line.length).toBeLessThanOrEqual(limit);
        expect(line).not.toMatch(/\p{Cs}/u);
      }),
    );
    expect(oneLine(`${' '.repeat(799)}👍`)).not.toMatch(/\p{Cs}/u);
  });
});

describe('the limit of text', () => {
  it('is 1 MiB of bytes, not of characters', () => {
    expect(ok(Text, 'x'.repeat(TEXT_LIMIT_BYTES))).toBe(true);
    expect(ok(Text, 'x'.repeat(TEXT_LIMIT_BYTES + 1))).toBe(false);
    expect(ok(Text, '世'.repeat(Math.floor(TEXT_LIMIT_BYTES / 3)))).toBe(true);
    expect(ok(Text, '世'.repeat(Math.floor(TEXT_LIMIT_BYTES / 3) + 1))).toBe(false);
    expect(ok(Text, '👍'.repeat(TEXT_LIMIT_BYTES / 4))).toBe(true);
    expect(ok(Text, `${'👍'.repeat(TEXT_LIMIT_BYTES / 4)}x`)).toBe(false);
  });

  it('counts as an encoder does, also what is not well formed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (codes) => {
        const text = String.fromCharCode(...codes);
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
    expect(utf8Length('\ud800世')).toBe(6);
  });
});

describe('names', () => {
  it('are letters, digits and few signs', () => {
    for (const key of ['p1', '3_5', '2.3', 'größe', 'A-1']) expect(ok(StepKey, key)).toBe(true);
    for (const key of ['', '-a', '.a', 'a b', 'a/b', '../a', 'a\n', 'x'.repeat(65)])
      expect(ok(StepKey, key)).toBe(false);
    expect(ok(ActorName, 'claude@box+1')).toBe(true);
    for (const name of ['', '__proto__', '../x', 'a b']) expect(ok(ActorName, name)).toBe(false);
    for (const label of [' ', 'a\nb', '\u001b', 'x'.repeat(201)]) expect(ok(Label, label)).toBe(false);
    expect(ok(Sentence, ' \n')).toBe(false);
  });
});

describe('time', () => {
  it('adds, up to the last instant that sorts as text', () => {
    expect(addMs('2026-01-02T10:00:00.000Z', 1500)).toBe('2026-01-02T10:00:01.500Z');
    expect(addMs('2026-01-02T10:00:00.000Z', Number.MAX_SAFE_INTEGER)).toBe('9999-12-31T23:59:59.999Z');
  });

  it.each([
    [-5, '0 s'],
    [89_000, '89 s'],
    [14 * 60_000, '14 min'],
    [3 * 3_600_000, '3 h'],
    [48 * 3_600_000, '2 days'],
  ])('%d ms is %s', (ms, words) => {
    expect(inWords(ms)).toBe(words);
  });

  it('shows the day only when it is another one', () => {
    expect(clockTime('2026-01-02T10:41:00.000Z', '2026-01-02T23:00:00.000Z')).toBe('10:41 UTC');
    expect(clockTime('2026-01-01T10:41:00.000Z', '2026-01-02T23:00:00.000Z')).toBe('2026-01-01 10:41 UTC');
  });
});
