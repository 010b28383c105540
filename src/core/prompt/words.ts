import { commonWords } from './phrases.ts';

/** Scripts that are written without spaces between words. */
export const UNSPACED = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]/;

/**
 * What two texts are compared by: the first five letters of each word of four letters or more that says something, and
 * each pair of neighbouring characters where words are not separated by spaces.
 */
export function significantWords(text: string): Set<string> {
  const found = new Set<string>();
  const spaced = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/([a-z0-9])_|[-./]/g, '$1 ');
  for (const word of spaced.match(/[\p{L}\p{M}]+/gu) ?? []) {
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
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}
