import { sha256 } from '../../core/sha256.ts';
import { utf8Length } from '../../core/text.ts';
import type { StoredRow } from '../projection.ts';
import { indexTerms, type WordQuery } from '../search-terms.ts';

/** A tsvector holds less than a mebibyte of words; what is beyond is in the text but not found by it. */
const TERMS_LIMIT_BYTES = 1_000_000;
/** A lexeme holds less than two kibibytes, a tag may name anything. */
const TAG_LIMIT_CHARS = 300;

/** What a record is found by. Null when by nothing. */
export function termsOf(record: StoredRow): string[] | null {
  const terms = [...new Set(record.tags)].map((tag) => tagTerm(record.run, record.kind, tag));
  let bytes = terms.reduce((sum, term) => sum + utf8Length(term), 0);
  for (const term of record.text === null ? [] : indexTerms(record.text)) {
    bytes += utf8Length(term);
    if (bytes >= TERMS_LIMIT_BYTES) break;
    terms.push(term);
  }
  return terms.length === 0 ? null : terms;
}

export function wordsQuery({ terms }: WordQuery): string {
  // They hold letters, digits and marks only, so that nothing in the quotes can end them.
  return terms.map((term) => `'${term}':*`).join(' & ');
}

export function tagQuery(run: string, kind: string, tag: string): string {
  return `'${tagTerm(run, kind, tag).replace(/['\\]/g, '$&$&')}'`;
}

/** With the run in it, so that a tag that every run has leads to the records of one; no word begins with a number sign. */
function tagTerm(run: string, kind: string, tag: string): string {
  const whole = JSON.stringify([run, kind, tag]);
  // JSON escapes what PostgreSQL cannot hold, with backslashes that a column of text takes as they are.
  return whole.length <= TAG_LIMIT_CHARS ? `#${whole}` : `#${sha256(whole)}`;
}
