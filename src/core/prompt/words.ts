import { commonWords } from './phrases.ts';

/** Scripts that are written without spaces between words. */
export const UNSPACED = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]/;

/**
 * What two texts are compared by: the first five letters of each word of four letters or more that says something, and
 * each pair of neighbouring characters where words are not separated by spaces.
 */
export function significantWords(text: string): Set<string> {
  const found = new Set<string>();
  const spaced = folded(text).replace(/([a-z0-9])_|[-./]/g, '$1 ');
  // Every command that changes the head of a run asks, and an expression with classes of Unicode takes milliseconds to compile.
  const letters = isAscii(spaced) ? /[a-z]+/g : /[\p{L}\p{M}]+/gu;
  for (const word of spaced.match(letters) ?? []) {
    if (UNSPACED.test(word)) {
      const signs = [...word];
      for (let index = 1; index < signs.length; index++) found.add(`${signs[index - 1]}${signs[index]}`);
    } else if ([...word].length >= WORD_CHARS && !commonWords.has(word))
      found.add([...word].slice(0, STEM_CHARS).join(''));
  }
  return found;
}

const WORD_CHARS = 4;
const STEM_CHARS = 5;

export function sharedWords(words: ReadonlySet<string>, texts: readonly string[]): number {
  const all = new Set(texts.flatMap((text) => [...significantWords(text)]));
  return [...words].filter((word) => all.has(word)).length;
}

/** In lower case, without marks. */
export function plainWords(text: string): string {
  const plain = folded(text);
  return plain.replace(isAscii(plain) ? /[^a-z0-9]+/g : /[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
}

const folded = (text: string): string => (isAscii(text) ? text : text.normalize('NFKC')).toLowerCase();

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII.
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);
