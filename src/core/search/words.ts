/**
 * What counts as a word, the same for every store. The databases get words that are already cut and folded, so that a
 * search finds the same rows in each of them; their own tokenizers disagree about accents and scripts.
 */

/** Longer words are data (hashes, base64); they are found by their beginning. */
const WORD_LIMIT_CHARS = 64;

const ASCII_TOKEN = /[a-z0-9]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII, whole.
const IS_ASCII = /^[\u0000-\u007f]*$/;

/** Created for the first text beyond ASCII: the tables of scripts take time to load, and most commands need none. */
let scripts: { token: RegExp; unspaced: RegExp } | undefined;

function loadScripts() {
  const unspaced = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
    .map((name) => `\\p{Script=${name}}`)
    .join('');
  const set = `${unspaced}\\u30fc`;
  scripts ??= {
    token: new RegExp(`[${set}][${set}\\p{M}]*|(?:(?![${set}])[\\p{L}\\p{N}\\p{M}\\p{Co}])+`, 'gu'),
    unspaced: new RegExp(`[${set}]`, 'u'),
  };
  return scripts;
}

/** The terms of a text in their order. Scripts without spaces are cut into overlapping pairs of characters. */
export function termsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) => (isUnspaced(word) ? pairs(word, true) : [beginning(word)]));
}

/** The distinct terms a text is indexed by. */
export const indexTerms = (text: string): string[] => [...new Set(termsOf(text))];

/** The terms that find a word of a query. */
export const queryTerms = (word: string): string[] => (isUnspaced(word) ? pairs(word, false) : [beginning(word)]);

/** The words of a text, without case and accents. */
export const wordsOf = (text: string): string[] => tokens(foldWords(text));

/** The words of a text with spaces around each, to look for several that follow each other. */
export const spacedWords = (text: string): string => ` ${wordsOf(text).join(' ')} `;

/** Removes case and accents. Vowel signs of other scripts stay: without them these are other words. */
function foldWords(text: string): string {
  const lower = text.toLowerCase();
  if (IS_ASCII.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replaceAll('\u03c2', '\u03c3')
    .normalize('NFC')
    .toLowerCase();
}

function tokens(folded: string): string[] {
  return folded.match(IS_ASCII.test(folded) ? ASCII_TOKEN : loadScripts().token) ?? [];
}

export function isUnspaced(token: string): boolean {
  return !IS_ASCII.test(token) && loadScripts().unspaced.test(token);
}

function beginning(token: string): string {
  // A cut through a surrogate pair would leave half a character, which no database accepts.
  return token.length <= WORD_LIMIT_CHARS ? token : token.slice(0, WORD_LIMIT_CHARS).replace(/\p{Surrogate}$/u, '');
}

/** The last character alone is needed in the index only: a query of one character is the beginning of a pair. */
function pairs(token: string, withLast: boolean): string[] {
  const characters = [...token];
  const cut = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  if (withLast || cut.length === 0) cut.push(characters[characters.length - 1] ?? '');
  return cut;
}
