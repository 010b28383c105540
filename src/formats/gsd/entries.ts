import { bare, type MarkdownPage } from '../markdown.ts';
import { isNone } from './none.ts';

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
  table: Table | null;
  cells: readonly string[];
}

export interface Table {
  columns: readonly string[];
  /** The line of the header. */
  line: number;
}

export interface Listing {
  entries: Entry[];
  /** Lines that only say "none". */
  nones: { from: number; to: number }[];
  /** Rows without a header, or tables whose rows do not fit: lines from 0. */
  ragged: number[];
}

/** All entries between two lines, in order. Headings, fences and comments are skipped. */
export function readEntries(page: MarkdownPage, from: number, to: number, depth = 0): Listing {
  const listing: Listing = { entries: [], nones: [], ragged: [] };
  let group: string | null = null;
  let at = from;
  while (at < to) {
    const line = bare(page.lines[at]);
    if (page.isQuiet(at) || line.trim() === '' || /^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$)/.test(line)) {
      at += 1;
      continue;
    }
    if (isRow(line)) {
      at = readTable(page, at, to, listing, group);
      continue;
    }
    const bullet = readBullet(line);
    const end = bullet ? bulletEnd(page, at, to, bullet.indent) : paragraphEnd(page, at, to);
    const text = joined(page, at, end, bullet?.words ?? line.trim());
    const introduces = introduced(text);
    if (bullet && introduces !== null && depth < 4 && end > at + 1 && readBullet(bare(page.lines[at + 1]))) {
      // The nested bullets are the entries; the line above them is their topic.
      const inner = readEntries(page, at + 1, end, depth + 1);
      for (const entry of inner.entries) listing.entries.push({ ...entry, group: introduces });
      for (const none of inner.nones) listing.nones.push(none);
    } else if (!bullet && introduces !== null && end === at + 1) {
      group = introduces;
    } else if (isNone(text)) {
      listing.nones.push({ from: at, to: end });
    } else {
      listing.entries.push({
        from: at,
        to: end,
        form: bullet ? 'bullet' : 'paragraph',
        mark: bullet?.mark ?? '',
        text,
        checked: bullet?.checked ?? null,
        group,
        table: null,
        cells: [],
      });
    }
    at = end;
  }
  return listing;
}

/** The cells of a row; an escaped bar or one in code does not separate cells. */
export function splitRow(line: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let code = false;
  const words = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  for (let at = 0; at < words.length; at++) {
    const sign = words[at] as string;
    if (sign === '\\' && words[at + 1] === '|') {
      cell += '|';
      at++;
    } else if (sign === '|' && !code) {
      cells.push(cell.trim());
      cell = '';
    } else {
      if (sign === '`') code = words.includes('`', at + 1) ? !code : false;
      cell += sign;
    }
  }
  cells.push(cell.trim());
  return cells;
}

export function isRow(line: string): boolean {
  return /^\s*\|.*\|\s*$/.test(line);
}

function isRule(line: string): boolean {
  return /^\s*\|[\s:|-]*-[\s:|-]*\|\s*$/.test(line);
}

function readTable(page: MarkdownPage, start: number, end: number, listing: Listing, group: string | null): number {
  const headed = isRule(bare(page.lines[start + 1])) && start + 1 < end;
  const table: Table | null = headed ? { columns: splitRow(bare(page.lines[start])), line: start } : null;
  let at = headed ? start + 2 : start;
  for (; at < end && isRow(bare(page.lines[at])); at++) {
    const line = bare(page.lines[at]);
    if (isRule(line)) continue;
    const cells = splitRow(line);
    if (!table || cells.length !== table.columns.length) listing.ragged.push(at);
    const text = cells.filter((cell) => cell !== '').join(' | ');
    if (
      cells.every((cell) => isNone(cell)) ||
      (isNone(cells[0] ?? '') && cells.slice(1).every((cell) => isNone(cell)))
    ) {
      listing.nones.push({ from: at, to: at + 1 });
      continue;
    }
    listing.entries.push({ from: at, to: at + 1, form: 'row', mark: '', text, checked: null, group, table, cells });
  }
  return Math.max(at, start + 1);
}

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
function bulletEnd(page: MarkdownPage, start: number, end: number, indent: number): number {
  let last = start + 1;
  let blank = false;
  for (let at = start + 1; at < end; at++) {
    const line = bare(page.lines[at]);
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

function paragraphEnd(page: MarkdownPage, start: number, end: number): number {
  let at = start + 1;
  for (; at < end; at++) {
    const line = bare(page.lines[at]);
    if (line.trim() === '' || readBullet(line) || isRow(line) || isBreak(line) || page.isQuiet(at)) break;
    // A bold line starts a new entry.
    if (/^\s*\*\*/.test(line)) break;
  }
  return at;
}

function isBreak(line: string): boolean {
  return /^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$|<\/?[a-z_]+>\s*$)/.test(line);
}

function joined(page: MarkdownPage, from: number, to: number, first: string): string {
  if (to === from + 1) return first.trim();
  const rest: string[] = [];
  for (let at = from + 1; at < to; at++) rest.push(bare(page.lines[at]).trimEnd());
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
