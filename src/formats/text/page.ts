import { rememberTexts } from '../remember-last.ts';
import { bare, lineEnd, splitLines } from './lines.ts';

/**
 * A Markdown page as lines with positions, for formats that edit a file in place. One pass, linear in size. Line numbers
 * count from 0; an end is the line after the last.
 */
export interface Page {
  text: string;
  /** Each with its line end, so that the joined lines are the text, byte for byte. */
  lines: readonly string[];
  /** The line end to write with: that of the first line that has one. */
  eol: string;
  /** The blocks between `---` at the very top; other tools stack them, so there may be several. */
  frontMatter: readonly FrontMatter[];
  /** The first line after all front matter. */
  body: number;
  headings: readonly Heading[];
  /** The line of a fence or comment that is open at the end of the text. */
  unclosed: number | null;
  /** The text of a line without its line end; empty where there is none. */
  line(at: number): string;
  /** Whether a line is not prose: inside a fence or a comment, or its delimiter. */
  isQuiet(at: number): boolean;
  isComment(at: number): boolean;
  /** The text between two lines, without blank lines and spaces around it. */
  prose(from: number, to: number): string;
}

export interface FrontMatter {
  /** The line of the opening delimiter. */
  open: number;
  /** The first line of the content. */
  start: number;
  /** The closing delimiter, or the end of the file where there is none. */
  end: number;
  closed: boolean;
}

export interface Heading {
  level: number;
  /** Without emphasis and closing hashes. */
  title: string;
  line: number;
  /** The line of the next heading of any level. */
  bodyEnd: number;
  /** The line of the next heading of the same or a higher level. */
  end: number;
}

/** `plain` is a line that opens nothing: an unclosed fence would hide everything after it. */
export function scanPage(text: string, plain: number | null = null): Page {
  return plain === null ? pages(text) : scan(text, plain);
}

/** Pages are never changed, so each text is scanned once. */
export const pages = rememberTexts((text) => scan(text, null));

function scan(text: string, plain: number | null): Page {
  const lines = splitLines(text);
  const frontMatter = findFrontMatter(lines);
  const last = frontMatter.at(-1);
  // An unclosed block has no end; its content is then also read as the body.
  const body = last === undefined ? 0 : last.closed ? last.end + 1 : last.start;
  const quiet = new Uint8Array(lines.length);
  const headings: Heading[] = [];
  const above: Heading[] = [];
  let open: { line: number; fence: string | null } | null = null;
  for (let at = body; at < lines.length; at++) {
    const line = lines[at] as string;
    if (open) {
      quiet[at] = open.fence === null ? COMMENT : FENCE;
      if (open.fence === null ? line.includes('-->') : closesFence(line, open.fence)) open = null;
      continue;
    }
    const fence = at === plain ? null : fenceOpened(line);
    if (fence) {
      quiet[at] = FENCE;
      open = { line: at, fence: fence.mark };
    } else if (at !== plain && /^\s{0,3}<!--/.test(line)) {
      if (!line.includes('-->')) open = { line: at, fence: null };
      // Text after a comment on its line is prose.
      if (open || /-->\s*$/.test(line)) quiet[at] = COMMENT;
    } else {
      const heading = readHeading(line, at, lines.length);
      if (!heading) continue;
      const before = headings.at(-1);
      if (before) before.bodyEnd = at;
      while ((above.at(-1)?.level ?? 0) >= heading.level) (above.pop() as Heading).end = at;
      headings.push(heading);
      above.push(heading);
    }
  }
  const line = (at: number): string => bare(lines[at]);
  return {
    text,
    lines,
    eol: lines[0]?.endsWith('\r\n') ? '\r\n' : '\n',
    frontMatter,
    body,
    headings,
    unclosed: open?.line ?? null,
    line,
    isQuiet: (at) => (quiet[at] ?? 0) > 0,
    isComment: (at) => quiet[at] === COMMENT,
    prose: (from, to) => {
      const found: string[] = [];
      for (let at = from; at < to; at++) found.push(line(at).trimEnd());
      return found.join('\n').trim();
    },
  };
}

const FENCE = 1;
const COMMENT = 2;

/** The fence that a line opens: its delimiter and what follows it. */
export function fenceOpened(line: string): { mark: string; info: string } | null {
  const parts = /^\s{0,3}(?:>\s?)?(`{3,}|~{3,})(.*)/.exec(line);
  if (!parts) return null;
  const [, mark = '', info = ''] = parts;
  // Backquotes followed by more backquotes are inline code.
  return mark.startsWith('`') && info.includes('`') ? null : { mark, info: info.trim() };
}

/** The line that closes the fence opened at `from`, or one past the last: an unclosed fence extends to the end. */
export function fenceEnd(lines: readonly string[], from: number, mark: string): number {
  let at = from + 1;
  while (at < lines.length && !closesFence(lines[at] as string, mark)) at++;
  return at;
}

function closesFence(line: string, mark: string): boolean {
  const words = bare(line)
    .replace(/^\s*(?:>\s?)?/, '')
    .trimEnd();
  return words.length >= mark.length && words === (mark[0] as string).repeat(words.length);
}

function findFrontMatter(lines: readonly string[]): FrontMatter[] {
  const found: FrontMatter[] = [];
  let at = 0;
  for (;;) {
    // Blocks may be stacked with blank lines between them, but the first must be at the top.
    let open = at;
    if (found.length > 0) while (open < lines.length && bare(lines[open]).trim() === '') open++;
    if (!/^---\s*$/.test(bare(lines[open])) || lines[open] === undefined) return found;
    if (found.length > 0 && !/^[A-Za-z_][\w-]*:/.test(bare(lines[open + 1]))) return found;
    let end = open + 1;
    while (end < lines.length && !/^(?:---|\.\.\.)\s*$/.test(bare(lines[end]))) end++;
    const closed = end < lines.length;
    if (!closed && found.length > 0) return found;
    found.push({ open, start: open + 1, end, closed });
    if (!closed) return found;
    at = end + 1;
  }
}

function readHeading(line: string, at: number, end: number): Heading | null {
  if (!/^\ufeff? {0,3}#/.test(line)) return null;
  const parts = /^ {0,3}(#{1,6})[ \t]+(\S.*)/.exec(bare(line));
  if (!parts) return null;
  const title = (parts[2] as string)
    .trimEnd()
    .replace(/(?:^|\s)#+$/, '')
    .replace(/^\*\*(.*)\*\*$/, '$1')
    .trim();
  return { level: (parts[1] as string).length, title, line: at, bodyEnd: end, end };
}

/** Edits of a page by lines. They are collected against the original and applied once; one that changes nothing is dropped. */
export interface PageEditor {
  readonly changed: boolean;
  /** Replaces the lines from `from` up to `to`; new lines have no line end. */
  replace(from: number, to: number, lines: readonly string[]): void;
  set(line: number, text: string): void;
  /** New lines in front of a line; those of several calls keep their order. */
  insert(at: number, lines: readonly string[]): void;
  remove(from: number, to?: number): void;
  apply(): string;
}

/** A second edit of a line is refused, unless it is to be ignored. */
export function editPage(page: Page, second: 'refused' | 'ignored' = 'refused'): PageEditor {
  const edits: Edit[] = [];
  const touched = new Set<number>();
  const isFree = (from: number, to: number): boolean => {
    for (let at = from; at < to; at++) if (touched.has(at)) return false;
    return true;
  };
  const replace: PageEditor['replace'] = (from, to, lines) => {
    if (!isFree(from, to)) {
      if (second === 'ignored') return;
      throw new Error(`Two edits of line ${from + 1}.`);
    }
    if (to - from === lines.length && lines.every((line, index) => line === page.line(from + index))) return;
    edits.push({ from, to, lines });
    for (let at = from; at < to; at++) touched.add(at);
  };
  return {
    get changed() {
      return edits.length > 0;
    },
    replace,
    set: (line, text) => replace(line, line + 1, [text]),
    insert: (at, lines) => replace(at, at, lines),
    remove: (from, to = from + 1) => replace(from, to, []),
    apply: () => applyEdits(page, edits),
  };
}

interface Edit {
  from: number;
  to: number;
  lines: readonly string[];
}

function applyEdits({ text, lines, eol }: Page, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.from - other.from || one.to - other.to)) {
    if (edit.from < at) throw new Error(`An edit inside another one at line ${edit.from + 1}.`);
    for (; at < edit.from; at++) parts.push(lines[at] as string);
    const last = parts.at(-1);
    if (edit.lines.length > 0 && last !== undefined && !last.endsWith('\n')) parts.push(eol);
    const marked = edit.from === 0 && lines[0]?.charCodeAt(0) === 0xfeff && edit.to > 0;
    if (marked && edit.lines.length === 0) parts.push('\ufeff');
    for (const [index, line] of edit.lines.entries()) {
      const replaced = edit.from + index < edit.to ? lines[edit.from + index] : undefined;
      const end = replaced === undefined ? eol : lineEnd(replaced);
      const isLast = index === edit.lines.length - 1 && edit.to === lines.length;
      parts.push((marked && index === 0 ? '\ufeff' : '') + line + (end === '' && !isLast ? eol : end));
    }
    at = edit.to;
  }
  for (; at < lines.length; at++) parts.push(lines[at] as string);
  return parts.join('');
}
