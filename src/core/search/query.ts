import { isStopWord, stemOf } from './stem.ts';
import { isUnspaced, queryTerms, spacedWords, wordsOf } from './words.ts';

/** What is looked for. Stores find candidates by it, `rank.ts` orders them. */
export interface SearchQuery {
  /** At least one begins a word of the text. */
  terms: readonly SearchTerm[];
  /** All of these begin words of the text. */
  required: readonly string[];
  /** All of these occur in `spacedWords` of the text; the terms alone do not show that. */
  fragments: readonly string[];
  /** By relevance, or last changed first. */
  order: 'relevance' | 'time';
}

export interface SearchTerm {
  /** The word without its ending, as words of the text are counted. */
  stem: string;
  /** What an indexed word begins with, or is if the term is whole. */
  prefix: string;
  /** Two letters begin too many words. */
  isWhole: boolean;
}

/** More words than this do not make a query more precise, and the databases have limits of their own. */
const MOST_TERMS = 64;

/** Finds what has any of the words of a question. `"a phrase"` and `+word` must occur. Null when there is nothing to look for. */
export function parseQuestion(text: string): SearchQuery | null {
  const required: string[] = [];
  const fragments: string[] = [];
  const words: string[] = [];
  for (const [part, phrase] of text.matchAll(/\+?"([^"]*)"|\S+/g)) {
    const found = wordsOf(phrase ?? part);
    words.push(...found);
    if (phrase === undefined && !/^\+./.test(part)) continue;
    required.push(...found.flatMap(queryTerms));
    if (found.length > 1 || found.some(isUnspaced)) fragments.push(fragmentOf(found));
  }
  const telling = words.filter((word) => !isStopWord(word));
  const terms = distinct((telling.length > 0 ? telling : words).flatMap(termsFor));
  if (terms.length === 0) return null;
  return { terms, required: cut(required), fragments: [...new Set(fragments)], order: 'relevance' };
}

/** Finds what has all words, each as the beginning of a word; in scripts without spaces anywhere. Null when there are none. */
export function parseAllWords(text: string): SearchQuery | null {
  const words = wordsOf(text);
  const required = cut(words.flatMap(queryTerms));
  if (required.length === 0) return null;
  const fragments = words.filter((word) => isUnspaced(word) && queryTerms(word).length > 1);
  const terms = required.map((prefix) => ({ stem: prefix, prefix, isWhole: false }));
  return { terms, required, fragments: [...new Set(fragments)], order: 'time' };
}

/** Whether the terms of a text fit, apart from the fragments. */
export function hasTerms(terms: readonly string[], query: SearchQuery): boolean {
  return (
    query.terms.some((term) => hasTerm(terms, term)) &&
    query.required.every((prefix) => terms.some((one) => one.startsWith(prefix)))
  );
}

/** Whole words, but where there are no spaces between words they may lie inside others. */
function fragmentOf(words: readonly string[]): string {
  const [before, after] = [words[0], words.at(-1)].map((word) => (isUnspaced(word ?? '') ? '' : ' '));
  return `${before}${words.join(' ')}${after}`;
}

export const hasTerm = (terms: readonly string[], { prefix, isWhole }: SearchTerm): boolean =>
  terms.some((one) => (isWhole ? one === prefix : one.startsWith(prefix)));

export function hasFragments(text: string, { fragments }: SearchQuery): boolean {
  if (fragments.length === 0) return true;
  const spaced = spacedWords(text);
  return fragments.every((fragment) => spaced.includes(fragment));
}

function termsFor(word: string): SearchTerm[] {
  if (isUnspaced(word)) return queryTerms(word).map((pair) => ({ stem: pair, prefix: pair, isWhole: false }));
  const [term = word] = queryTerms(word);
  const stem = stemOf(term);
  // The stem of `story` is `stori`, which begins `stories` only.
  const prefix = term.startsWith(stem) ? stem : stem.slice(0, -1);
  return [{ stem, prefix, isWhole: prefix.length < 3 }];
}

const distinct = (terms: readonly SearchTerm[]): SearchTerm[] =>
  [...new Map(terms.map((term) => [term.stem, term])).values()].slice(0, MOST_TERMS);

const cut = (terms: readonly string[]): string[] => [...new Set(terms)].slice(0, MOST_TERMS);
