import type { Heading, Page, PageEditor } from './page.ts';

/** A table of a page, read and written by the names of its columns. */
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

/** Texts by column name; a column without one gets a dash. */
export type Values = Readonly<Record<string, string | undefined>>;

/** The tables between two lines, outside fences and comments. */
export function tablesIn(page: Page, from: number, to: number): Table[] {
  const tables: Table[] = [];
  const isRow = (at: number): boolean => !page.isQuiet(at) && /^\s{0,3}\|/.test(page.lines[at] ?? '');
  for (let at = from; at + 1 < to; at++) {
    if (!isRow(at) || !isRow(at + 1) || !isDelimiter(page.line(at + 1))) continue;
    const rows: Row[] = [];
    let end = at + 2;
    for (; end < to && isRow(end); end++) rows.push({ line: end, cells: splitRow(page.line(end)).map(decodeCell) });
    const names = splitRow(page.line(at)).map((name) => decodeCell(name).toLowerCase());
    tables.push({ names, line: at, rows, end });
    at = end - 1;
  }
  return tables;
}

const isDelimiter = (line: string): boolean => line.includes('-') && /^[\s|:-]+$/.test(line);

/** The cell under the first of the names that the table has; undefined when it is empty or a dash. */
export function cellOf(table: Table, row: Row, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const column = table.names.indexOf(name);
    const text = column < 0 ? undefined : row.cells[column];
    if (text !== undefined) return /^(?:[-—–]?)$/.test(text) ? undefined : text;
  }
  return undefined;
}

/** All cells of a row by column name; undefined for one that is empty or a dash. */
export const valuesOf = (table: Table, row: Row): Values =>
  Object.fromEntries(table.names.map((name) => [name, cellOf(table, row, name)]));

/** Changes the named cells of a row; bars, spaces and other cells stay. */
export function setCells(edit: PageEditor, page: Page, table: Table, row: Row, values: Values): void {
  let line = page.line(row.line);
  for (const [column, name] of table.names.entries()) {
    const text = values[name];
    if (text === undefined || table.names.indexOf(name) !== column) continue;
    while (rangesIn(line, false).length <= column) line = `${line.trimEnd().replace(/(?<!\|)$/, ' |')} — |`;
    const [from, to] = rangesIn(line, false)[column] as Range;
    const [, before = '', old = '', after = ''] = /^(\s*)(.*?)(\s*)$/.exec(line.slice(from, to)) ?? [];
    const [gap, end] = old === '' ? [' ', ' '] : [before, after];
    line = line.slice(0, from) + gap + (encodeCell(text) || '—') + end + line.slice(to);
  }
  edit.set(row.line, line);
}

/** A section of a page with its tables. */
export interface Part {
  heading: Heading;
  tables: readonly Table[];
}

/** The section under a heading of the second level. */
export function partIn(page: Page, title: RegExp): Part | null {
  const heading = page.headings.find((one) => one.level === 2 && title.test(one.title));
  return heading ? { heading, tables: tablesIn(page, heading.line + 1, heading.end) } : null;
}

/** Adds rows at the top or at the end of a part; its table, or the part before line `at`, is made if it is missing. */
export function addRows(
  edit: PageEditor,
  page: Page,
  part: Part | null | undefined,
  { heading, titles, at }: { heading: string; titles: readonly string[]; at: number },
  rows: readonly Values[],
  where: 'top' | 'end',
): void {
  if (rows.length === 0) return;
  const table = where === 'top' ? part?.tables[0] : part?.tables.at(-1);
  const lines = rows.map((one) => renderRow(table?.names ?? titles.map((title) => title.toLowerCase()), one));
  if (table) return edit.insert(where === 'top' ? table.line + 2 : table.end, lines);
  const made = ['', ...renderHeader(titles), ...lines];
  if (part) return edit.insert(part.heading.line + 1, made);
  const isEnd = at >= page.lines.length;
  const gap = !isEnd && (at === 0 || page.line(at - 1).trim() === '') ? [] : [''];
  edit.insert(at, [...gap, heading, ...made, ...(isEnd ? [] : [''])]);
}

/** A row for these columns. */
export function renderRow(names: readonly string[], values: Values): string {
  return `| ${names.map((name) => encodeCell(values[name] ?? '') || '—').join(' | ')} |`;
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

/** The cells of a row as written, without the spaces around them. With `code`, a bar in code does not separate cells. */
export const splitRow = (line: string, code = false): string[] =>
  rangesIn(line, code).map(([from, to]) => line.slice(from, to).trim());

type Range = [from: number, to: number];

/** The columns of text between the bars. */
function rangesIn(line: string, code: boolean): Range[] {
  const bars = barsIn(line, code);
  const [first = -1] = bars;
  const start = line.slice(0, first).trim() === '' ? first + 1 : 0;
  const ends = bars.filter((bar) => bar >= start);
  const ranges = ends.map((bar, index): Range => [index === 0 ? start : (ends[index - 1] as number) + 1, bar]);
  const rest = (ends.at(-1) ?? start - 1) + 1;
  return line.slice(rest).trim() === '' && ranges.length > 0 ? ranges : [...ranges, [rest, line.length]];
}

/** Changes one cell of a row; bars, spaces and other cells stay. */
export function setCell(line: string, index: number, value: (old: string) => string): string {
  const bars = barsIn(line, true);
  const [from, to] = [bars[index], bars[index + 1]];
  if (from === undefined || to === undefined) return line;
  return `${line.slice(0, from + 1)} ${value(line.slice(from + 1, to).trim())} ${line.slice(to)}`;
}

function barsIn(line: string, code: boolean): number[] {
  const bars: number[] = [];
  const lastTick = code ? line.lastIndexOf('`') : -1;
  let inside = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '`' && code) inside = !inside && at < lastTick;
    else if (line[at] === '|' && line[at - 1] !== '\\' && !inside) bars.push(at);
  }
  return bars;
}
