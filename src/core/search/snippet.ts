import type { SearchTerm } from './query.ts';
import { stemOf } from './stem.ts';
import { termsOf } from './words.ts';

/** The part of a text that answers a query best. */
export interface Snippet {
  text: string;
  /** Where the words of the query are, as offsets into the text. */
  marks: [start: number, end: number][];
}

const SNIPPET_CHARS = 200;
/** What is looked at of a long text. */
const READ_CHARS = 64 * 1024;

/** About 200 characters around the densest match, in one line. */
export function snippetOf(text: string, terms: readonly SearchTerm[]): Snippet {
  const whole = text.slice(0, READ_CHARS).replace(/\s+/g, ' ').trim();
  const marks = marksIn(whole, terms);
  if (whole.length <= SNIPPET_CHARS) return { text: whole, marks: marks.map(({ start, end }) => [start, end]) };
  const start = wordStart(whole, densest(marks));
  const end = wordEnd(whole, start + SNIPPET_CHARS);
  const before = start > 0 ? '… ' : '';
  const shift = before.length - start;
  return {
    text: `${before}${whole.slice(start, end)}${end < whole.length ? ' …' : ''}`,
    marks: marks.filter((mark) => mark.start >= start && mark.end <= end).map((m) => [m.start + shift, m.end + shift]),
  };
}

interface Mark {
  start: number;
  end: number;
  stem: string;
}

function marksIn(text: string, terms: readonly SearchTerm[]): Mark[] {
  const marks: Mark[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const words = termsOf(match[0]);
    const found = terms.find(({ stem, prefix, isWhole }) =>
      words.some((word) => stemOf(word) === stem || (!isWhole && word.startsWith(prefix))),
    );
    if (found) marks.push({ start: match.index, end: match.index + match[0].length, stem: found.stem });
  }
  return marks;
}

/** Where the window with the most different terms begins; a little before its first one. */
function densest(marks: readonly Mark[]): number {
  let best = { count: 0, start: 0 };
  for (const [index, { start }] of marks.entries()) {
    const stems = new Set<string>();
    for (let at = index; at < marks.length && (marks[at] as Mark).end - start < SNIPPET_CHARS; at++) {
      stems.add((marks[at] as Mark).stem);
    }
    if (stems.size > best.count) best = { count: stems.size, start };
  }
  return Math.max(0, best.start - SNIPPET_CHARS / 5);
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.indexOf(' ', at);
  return space < 0 || space - at > SNIPPET_CHARS / 5 ? at : space + 1;
}

function wordEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const space = text.lastIndexOf(' ', at);
  return at - space > SNIPPET_CHARS / 5 ? at : space;
}
