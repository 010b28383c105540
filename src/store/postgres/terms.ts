import { indexTerms } from '../../core/search/words.ts';
import { sha256 } from '../../core/sha256.ts';
import { utf8Length } from '../../core/text.ts';
import type { StoredRow } from '../projection.ts';

/** A tsvector holds less than a mebibyte of words; words after that are stored but not found. */
const TERMS_LIMIT_BYTES = 1_000_000;
/** A lexeme holds less than two kibibytes, and a tag may be any text. */
const TAG_LIMIT_CHARS = 300;

/** The terms that find a row; null if there are none. */
export function termsOf(row: StoredRow): string[] | null {
  const terms = [...new Set(row.tags)].map((tag) => tagTerm(row.run, row.kind, tag));
  let bytes = terms.reduce((sum, term) => sum + utf8Length(term), 0);
  for (const term of row.text === null ? [] : indexTerms(row.text)) {
    bytes += utf8Length(term);
    if (bytes >= TERMS_LIMIT_BYTES) break;
    terms.push(term);
  }
  return terms.length === 0 ? null : terms;
}

/** Terms have only letters, digits and marks, so nothing in the quotes can end them. */
export const beginsQuery = (prefix: string): string => `'${prefix}':*`;
export const wholeQuery = (term: string): string => `'${term}'`;

export function tagQuery(run: string, kind: string, tag: string): string {
  return `'${tagTerm(run, kind, tag).replace(/['\\]/g, '$&$&')}'`;
}

/** Includes the run, so that a tag that every run has finds only the rows of one. No word begins with a number sign. */
function tagTerm(run: string, kind: string, tag: string): string {
  const whole = JSON.stringify([run, kind, tag]);
  // JSON escapes what PostgreSQL cannot hold, with backslashes that a text column stores unchanged.
  return whole.length <= TAG_LIMIT_CHARS ? `#${whole}` : `#${sha256(whole)}`;
}
