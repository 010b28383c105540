import { bare, type MarkdownPage } from '../markdown.ts';

/** A table of a page; lines count from 0 as in `markdown.ts`. */
export interface Table {
  /** The names of its columns, in lower case. */
  names: readonly string[];
  line: number;
  rows: readonly Row[];
  /** The line after its last row. */
  end: number;
}

export interface Row {
  line: number;
  /** The decoded text of each cell. */
  cells: readonly string[];
}

/** The tables between two lines, outside fences and comments. */
export function tablesIn(page: MarkdownPage, from: number, to: number): Table[] {
  const tables: Table[] = [];
  for (let at = from; at + 1 < to; at++) {
    if (!isRow(page, at) || !isRow(page, at + 1) || !isDelimiter(bare(page.lines[at + 1]))) continue;
    const rows: Row[] = [];
    let end = at + 2;
    for (; end < to && isRow(page, end); end++) rows.push({ line: end, cells: cellsOf(bare(page.lines[end])) });
    tables.push({ names: cellsOf(bare(page.lines[at])).map((name) => name.toLowerCase()), line: at, rows, end });
    at = end - 1;
  }
  return tables;
}

/** The cell under the first of the names that the table has; undefined when it is empty or a dash. */
export function cellOf(table: Table, row: Row, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const column = table.names.indexOf(name);
    const text = column < 0 ? undefined : row.cells[column];
    if (text !== undefined) return /^(?:[-—–]?)$/.test(text) ? undefined : text;
  }
  return undefined;
}

/** A row for this table: each value under its column, a dash where there is none. */
export function renderRow(names: readonly string[], values: Readonly<Record<string, string | undefined>>): string {
  const cells = names.map((name) => {
    const text = encodeCell(values[name] ?? '');
    return text === '' ? '—' : text;
  });
  return `| ${cells.join(' | ')} |`;
}

export function renderHeader(titles: readonly string[]): string[] {
  return [`| ${titles.join(' | ')} |`, `|${titles.map((title) => '-'.repeat(title.length + 2)).join('|')}|`];
}

/** A cell is one line: line feeds and bars are escaped, and so is text that looks like an escape. */
export function encodeCell(text: string): string {
  return text
    .trim()
    .replace(/<br>/g, '&lt;br>')
    .replace(/\r\n?|\n/g, '<br>')
    .replace(/\|/g, '\\|');
}

export function decodeCell(text: string): string {
  return text
    .replace(/\\\|/g, '|')
    .replace(/<br>/g, '\n')
    .replace(/&lt;br>/g, '<br>')
    .trim();
}

function isRow(page: MarkdownPage, line: number): boolean {
  return !page.isQuiet(line) && /^\s{0,3}\|/.test(page.lines[line] ?? '');
}

const isDelimiter = (line: string): boolean => line.includes('-') && /^[\s|:-]+$/.test(line);

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  const text = line.trim();
  let start = 1;
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '|' && text[at - 1] !== '\\') {
      cells.push(decodeCell(text.slice(start, at)));
      start = at + 1;
    }
  }
  if (start < text.length) cells.push(decodeCell(text.slice(start)));
  return cells;
}
