/**
 * What counts as a word, the same for every store. The databases get words that are already cut and folded, so that a
 * search finds the same rows in each of them; their own tokenizers disagree about accents and scripts.
 */

/** Longer words are data (hashes, base64); they are found by their beginning. */
const WORD_LIMIT_CHARS = 64;
/** More words than this do not make a query more precise, and the databases have limits of their own. */
const QUERY_LIMIT_WORDS = 64;

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

export interface WordQuery {
  /** Each is the beginning of an indexed term. */
  terms: readonly string[];
  /** Each occurs somewhere in the folded text; the terms alone do not show that. */
  fragments: readonly string[];
}

/** The distinct terms a text is indexed by. Scripts without spaces are cut into overlapping pairs of characters. */
export function indexTerms(text: string): string[] {
  const terms = new Set<string>();
  for (const token of tokens(foldWords(text))) {
    if (!isUnspaced(token)) terms.add(beginning(token));
    else for (const pair of pairs(token, true)) terms.add(pair);
  }
  return [...terms];
}

/** Returns null when there is nothing to search for. */
export function parseWords(words: readonly string[]): WordQuery | null {
  const terms = new Set<string>();
  const fragments = new Set<string>();
  for (const token of words.flatMap((word) => tokens(foldWords(word)))) {
    if (terms.size >= QUERY_LIMIT_WORDS) break;
    if (!isUnspaced(token)) {
      terms.add(beginning(token));
      continue;
    }
    const cut = pairs(token, false);
    for (const pair of cut) terms.add(pair);
    if (cut.length > 1) fragments.add(token);
  }
  return terms.size === 0 ? null : { terms: [...terms], fragments: [...fragments] };
}

/** Whether a text that is not indexed would be found. */
export function hasWords(text: string, query: WordQuery): boolean {
  const indexed = indexTerms(text);
  return (
    query.terms.every((term) => indexed.some((candidate) => candidate.startsWith(term))) && hasFragments(text, query)
  );
}

/** The order of results: versions of different runs cannot be compared, times can. */
export function lastTouchedFirst(a: { at: string; version: number }, b: { at: string; version: number }): number {
  return a.at < b.at ? 1 : a.at > b.at ? -1 : b.version - a.version;
}

export function hasFragments(text: string, query: WordQuery): boolean {
  if (query.fragments.length === 0) return true;
  const folded = foldWords(text);
  return query.fragments.every((fragment) => folded.includes(fragment));
}

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

function isUnspaced(token: string): boolean {
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
