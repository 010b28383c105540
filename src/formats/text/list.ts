import type { Page } from './page.ts';
import { splitRow } from './table.ts';

/** One entry of a section: a bullet, a numbered line, a table row or a paragraph, with its lines. */
export interface Entry {
  from: number;
  to: number;
  form: 'bullet' | 'row' | 'paragraph';
  /** The start of the first line: indentation, bullet, box. */
  mark: string;
  /** Lines below the first are unindented. */
  text: string;
  /** The box of a check-list entry. */
  checked: boolean | null;
  /** The line or bullet that introduces a group: `**Auth:**`. */
  group: string | null;
  /** The columns of its table. */
  columns: readonly string[] | null;
  cells: readonly string[];
}

export interface Listing {
  entries: Entry[];
  /** Lines that only say "none". */
  nones: { from: number; to: number }[];
}

/** Whether a text only says that there is nothing. */
type IsNone = (text: string) => boolean;

/** All entries between two lines, in order. Headings, fences and comments are skipped. */
export function readEntries(page: Page, from: number, to: number, isNone: IsNone, depth = 0): Listing {
  const listing: Listing = { entries: [], nones: [] };
  let group: string | null = null;
  let at = from;
  while (at < to) {
    const line = page.line(at);
    if (page.isQuiet(at) || line.trim() === '' || /^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$)/.test(line)) {
      at += 1;
      continue;
    }
    if (isRow(line)) {
      at = readTable(page, at, to, listing, group, isNone);
      continue;
    }
    const bullet = readBullet(line);
    const end = bullet ? bulletEnd(page, at, to, bullet.indent) : paragraphEnd(page, at, to);
    const text = joined(page, at, end, bullet?.words ?? line.trim());
    const introduces = introduced(text);
    if (bullet && introduces !== null && depth < 4 && end > at + 1 && readBullet(page.line(at + 1))) {
      // The nested bullets are the entries; the line above them is their topic.
      const inner = readEntries(page, at + 1, end, isNone, depth + 1);
      for (const entry of inner.entries) listing.entries.push({ ...entry, group: introduces });
      for (const none of inner.nones) listing.nones.push(none);
    } else if (!bullet && introduces !== null && end === at + 1) {
      group = introduces;
    } else if (isNone(text)) {
      listing.nones.push({ from: at, to: end });
    } else {
      listing.entries.push({
        ...entryOf(at, end, text),
        ...(bullet ? { form: 'bullet', mark: bullet.mark, checked: bullet.checked } : {}),
        group,
      });
    }
    at = end;
  }
  return listing;
}

/** The cells of a row; an escaped bar or one in code does not separate cells. */
export const cellsIn = (line: string): string[] => splitRow(line, true).map((cell) => cell.replaceAll('\\|', '|'));

export function isRow(line: string): boolean {
  return /^\s*\|.*\|\s*$/.test(line);
}

function isRule(line: string): boolean {
  return /^\s*\|[\s:|-]*-[\s:|-]*\|\s*$/.test(line);
}

function readTable(
  page: Page,
  start: number,
  end: number,
  listing: Listing,
  group: string | null,
  isNone: IsNone,
): number {
  const headed = isRule(page.line(start + 1)) && start + 1 < end;
  const columns = headed ? cellsIn(page.line(start)) : null;
  let at = headed ? start + 2 : start;
  for (; at < end && isRow(page.line(at)); at++) {
    const line = page.line(at);
    if (isRule(line)) continue;
    const cells = cellsIn(line);
    const text = cells.filter((cell) => cell !== '').join(' | ');
    if (cells.every(isNone)) listing.nones.push({ from: at, to: at + 1 });
    else listing.entries.push({ ...entryOf(at, at + 1, text), form: 'row', group, columns, cells });
  }
  return Math.max(at, start + 1);
}

/** A paragraph; a bullet or a row says more. */
export const entryOf = (from: number, to: number, text: string): Entry => ({
  from,
  to,
  form: 'paragraph',
  mark: '',
  text,
  checked: null,
  group: null,
  columns: null,
  cells: [],
});

function readBullet(line: string): { indent: number; mark: string; words: string; checked: boolean | null } | null {
  const parts = /^(\s*)(?:(?:[-*+•‣–]|\d{1,4}[.)])(?:[ \t]+|$)|\d{1,4}[、．][ \t]*)(?:\[([ xX~-])\][ \t]+)?/u.exec(
    line,
  );
  if (!parts) return null;
  const mark = parts[0];
  const box = parts[2];
  return {
    indent: width(parts[1] as string),
    mark,
    words: line.slice(mark.length).trimEnd(),
    checked: box === undefined ? null : box.toLowerCase() === 'x',
  };
}

/** A bullet includes deeper indented lines, also after blank ones, and continuation lines without a bullet. */
function bulletEnd(page: Page, start: number, end: number, indent: number): number {
  let last = start + 1;
  let blank = false;
  for (let at = start + 1; at < end; at++) {
    const line = page.line(at);
    if (line.trim() === '') {
      blank = true;
      continue;
    }
    const deeper = width(/^\s*/.exec(line)?.[0] ?? '') > indent;
    if (!deeper && (blank || readBullet(line) || isRow(line) || isBreak(line) || page.isQuiet(at))) break;
    if (deeper && /^\s{0,3}#{1,6}\s/.test(line)) break;
    last = at + 1;
  }
  return last;
}

function paragraphEnd(page: Page, start: number, end: number): number {
  let at = start + 1;
  for (; at < end; at++) {
    const line = page.line(at);
    if (line.trim() === '' || readBullet(line) || isRow(line) || isBreak(line) || page.isQuiet(at)) break;
    // A bold line starts a new entry.
    if (/^\s*\*\*/.test(line)) break;
  }
  return at;
}

function isBreak(line: string): boolean {
  return /^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$|<\/?[a-z_]+>\s*$)/.test(line);
}

function joined(page: Page, from: number, to: number, first: string): string {
  if (to === from + 1) return first.trim();
  const rest: string[] = [];
  for (let at = from + 1; at < to; at++) rest.push(page.line(at).trimEnd());
  let indent = Number.MAX_SAFE_INTEGER;
  for (const line of rest) if (line !== '') indent = Math.min(indent, line.length - line.trimStart().length);
  return [first, ...rest.map((line) => line.slice(indent))].join('\n').trim();
}

/** `**Auth:**`, `Recent decisions affecting current work:` introduce what follows. */
function introduced(text: string): string | null {
  const first = text.split('\n', 1)[0] as string;
  if (first.length > 200) return null;
  const words = first.replace(/[*_]/g, '').trim();
  return /[:：]$/u.test(words) ? words.replace(/[:：]$/u, '').trim() : null;
}

function width(space: string): number {
  return space.replaceAll('\t', '    ').length;
}
