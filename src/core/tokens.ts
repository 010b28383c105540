/**
 * Estimates how many tokens a text costs, by classes of characters: loading a real tokenizer takes many times as long as
 * starting the whole program. The weights are fitted to the larger of two tokenizers' counts plus a few percent, to err on
 * the safe side; docs/proof/tokens.md has the measured error. The cost of a character depends only on the run of characters it
 * is in, so joining two texts costs at most one token more than their sum.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(tokenHundredths(text) / 100);
}

/** The same without rounding: what several whole lines cost together is the sum of what each costs with its line end. */
export function tokenHundredths(text: string): number {
  // Integers: uncompiled code allocates an object for every sum of fractions.
  let hundredths = 0;
  let before = NOTHING;
  let last = 0;
  let run = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // Lower-case letters and spaces are most of a text, so they come first: most calls run uncompiled.
    if (code >= 97 && code <= 122) {
      if (before === LETTER) {
        run += 1;
        hundredths += run <= 4 ? 4 : run <= 8 ? 12 : 21;
        if (last >= 97 && last <= 122 && ((RARE_AFTER[last - 97] ?? 0) >> (code - 97)) & 1) hundredths += 90;
      } else {
        hundredths += before === SPACE ? 82 : 104;
        run = 1;
        before = LETTER;
      }
      last = code;
      continue;
    }
    const kind = code === 32 ? SPACE : kindOf(code);
    // A capital after a lower-case letter starts a new word, as in camelCase.
    run = kind === before && !(kind === LETTER && code <= 90 && last >= 97 && last <= 122) ? run + 1 : 1;
    hundredths += run > 1 ? nextCost(kind, code, last, run) : firstCost(kind, before);
    if (code >= 128) hundredths += beyondAscii(kind, code);
    before = kind;
    last = code;
  }
  return hundredths;
}

function firstCost(kind: number, before: number): number {
  if (kind === LETTER) return before === SPACE ? 82 : 104;
  if (kind === DIGIT && before === SPACE) return 195;
  if (kind === NEWLINE && before === PUNCTUATION) return 40;
  return FIRST[kind] ?? 0;
}

function nextCost(kind: number, code: number, last: number, run: number): number {
  if (kind === LETTER) return code <= 90 ? 38 : run <= 4 ? 4 : run <= 8 ? 12 : 21;
  if (code === last && kind >= PUNCTUATION && kind <= SYMBOL) return kind === PUNCTUATION ? 5 : 30;
  if (kind === SPACE && run === 2) return 40;
  if (kind === DIGIT && run > 3) return 46;
  return NEXT[kind] ?? 0;
}

/** The additional cost of an accented letter, or of a character of the traditional script. */
function beyondAscii(kind: number, code: number): number {
  if (kind === LETTER) return code < 0x100 ? 160 : code < 0x1e00 ? 190 : 230;
  return kind === HAN && TRADITIONAL.includes(String.fromCharCode(code)) ? 300 : 0;
}

const NOTHING = -1;
const SPACE = 0;
const NEWLINE = 1;
const TAB = 2;
const DIGIT = 3;
const LETTER = 4;
const PUNCTUATION = 5;
const TYPOGRAPHY = 6;
const SYMBOL = 7;
const CYRILLIC = 8;
const GREEK = 9;
const SEMITIC = 10;
const SYLLABIC = 11;
const HAN = 12;
const KANA = 13;
const HANGUL = 14;
const WIDE = 15;
const SURROGATE = 16;
const OTHER = 17;

/**
 * Hundredths of a token by class, for the first character of a run and for each that follows. Not in the tables:
 *
 * - a word costs 82 after a space, which becomes part of its token, and 104 elsewhere; its letters 4 up to the fourth, 12 up to the
 *   eighth, 21 after that; a capital after a capital 38, because constants are split into smaller tokens;
 * - a pair of letters that is rare within tokens costs 90: it separates names and German from English;
 * - an accented letter costs 160 in Latin-1, 190 beyond it, 230 in Vietnamese, because the words around it are rarer too;
 * - a number does not share a token with the space before it (195), and needs a second token from its fourth digit on (46);
 * - a line end after punctuation mostly shares its token (40);
 * - the same mark again is nearly free (5), a symbol less so (30); a second space 40, more are nearly free;
 * - a common character that only the traditional script has costs 300 more, because its neighbours are expensive too;
 * - half of a surrogate pair costs half as much as an emoji.
 */
// In order: space, line end, tab, digit, (letter), punctuation, typography, symbol, Cyrillic, Greek, Semitic, Indic and
// other syllables, Han, kana, hangul, wide forms, surrogate, other.
const FIRST = [4, 100, 165, 100, 0, 82, 100, 260, 105, 220, 190, 120, 130, 130, 180, 100, 130, 110];
const NEXT = [1, 6, 10, 2, 0, 30, 100, 260, 52, 118, 98, 210, 90, 85, 114, 100, 130, 110];

/** Common Chinese characters that neither the simplified script nor Japanese uses. */
const TRADITIONAL = '這們說為來對會發還沒應與從實處將讓學國數號變參於當內樣檔錯點產訊單條兩關';

/** For each lower-case letter, the letters (as bits) that rarely follow it within a token. */
const RARE_AFTER = [
  4276753, 48870886, 42050146, 40481958, 34621314, 48305806, 46784111, 65375918, 22086272, 49004527, 62643943, 46347972,
  14886572, 46334850, 33620496, 44114726, 65533951, 46238338, 44044907, 36253282, 57755560, 16510638, 54107750,
  41123818, 66830335, 67108719,
];

/** By ranges of code units, the most common first: building a regular expression with Unicode classes takes milliseconds. */
function kindOf(code: number): number {
  if (code < 0x80) {
    if (code === 0x20) return SPACE;
    if (code === 0x0a || code === 0x0d) return NEWLINE;
    if (code === 0x09) return TAB;
    if (code >= 0x30 && code <= 0x39) return DIGIT;
    return code >= 0x41 && code <= 0x5a ? LETTER : PUNCTUATION;
  }
  if (code < 0x590) {
    if (code < 0xc0) return OTHER;
    if (code < 0x250) return LETTER;
    if (code < 0x370) return OTHER;
    return code < 0x400 ? GREEK : code < 0x530 ? CYRILLIC : SYLLABIC;
  }
  if (code < 0x2e80) {
    if (code >= 0x2000) return code < 0x2070 ? TYPOGRAPHY : SYMBOL;
    if (code < 0x780) return SEMITIC;
    if (code >= 0x1e00) return code < 0x1f00 ? LETTER : GREEK;
    return code >= 0x1100 && code < 0x1200 ? HANGUL : SYLLABIC;
  }
  if (code < 0xac00) return code >= 0x3100 ? HAN : code >= 0x3040 ? KANA : WIDE;
  if (code < 0xd7b0) return HANGUL;
  if (code < 0xe000) return SURROGATE;
  return code >= 0xff00 ? WIDE : OTHER;
}
