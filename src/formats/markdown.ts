/**
 * Markdown as lines with positions, for formats that edit a file in place. Each line keeps its line end, so that the
 * joined lines are the text, byte for byte. One pass, linear in size.
 */
export interface MarkdownPage {
  lines: readonly string[];
  /** The line end to write with: that of the first line that has one. */
  eol: string;
  /** The blocks between `---` at the very top; other tools stack them, so there may be several. */
  frontMatter: readonly FrontMatter[];
  headings: readonly Heading[];
  /** Whether a line is not prose: inside a fence or a comment, or its delimiter. */
  isQuiet(line: number): boolean;
}

/** Line numbers count from 0; an end is the line after the last. */
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

export function scanMarkdown(text: string): MarkdownPage {
  const lines = splitLines(text);
  const frontMatter = findFrontMatter(lines);
  const quiet = new Uint8Array(lines.length);
  const headings: Heading[] = [];
  const open: Heading[] = [];
  let fence: string | null = null;
  let comment = false;
  for (let at = bodyStart(frontMatter); at < lines.length; at++) {
    const line = lines[at] as string;
    if (fence !== null) {
      quiet[at] = 1;
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    if (comment) {
      quiet[at] = 1;
      comment = !line.includes('-->');
      continue;
    }
    fence = fenceOpened(line);
    if (fence !== null) {
      quiet[at] = 1;
      continue;
    }
    if (/^\s{0,3}<!--/.test(line)) {
      comment = !line.includes('-->');
      // Text after a comment on its line is prose.
      if (comment || /-->\s*$/.test(line)) quiet[at] = 1;
      continue;
    }
    const heading = readHeading(line, at, lines.length);
    if (!heading) continue;
    const above = headings.at(-1);
    if (above) above.bodyEnd = at;
    while ((open.at(-1)?.level ?? 0) >= heading.level) (open.pop() as Heading).end = at;
    headings.push(heading);
    open.push(heading);
  }
  return { lines, eol: lineEnd(lines), frontMatter, headings, isQuiet: (line) => quiet[line] === 1 };
}

/** The text in lines, each with its own line end. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** A line without its line end and, if it is the first, without the byte order mark. */
export function bare(line: string | undefined): string {
  if (line === undefined) return '';
  const end = line.endsWith('\r\n') ? line.length - 2 : line.endsWith('\n') ? line.length - 1 : line.length;
  return line.slice(line.charCodeAt(0) === 0xfeff ? 1 : 0, end);
}

/** Replaces the lines from `from` up to `to`. */
export interface LineEdit {
  from: number;
  to: number;
  /** Without line ends. */
  lines: readonly string[];
}

/** Edits must not overlap; those at one line keep their order. */
export function editLines(page: Pick<MarkdownPage, 'lines' | 'eol'>, edits: readonly LineEdit[]): string {
  const { lines, eol } = page;
  const parts: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.from - other.from || one.to - other.to)) {
    for (; at < edit.from; at++) parts.push(lines[at] as string);
    const last = parts.at(-1);
    if (edit.lines.length > 0 && last !== undefined && !last.endsWith('\n')) parts.push(eol);
    const marked = edit.from === 0 && lines[0]?.charCodeAt(0) === 0xfeff && edit.to > 0;
    for (const [index, line] of edit.lines.entries()) {
      const replaced = edit.from + index < edit.to ? lines[edit.from + index] : undefined;
      const end = replaced === undefined ? eol : replaced.slice(bareEnd(replaced));
      const isLast = index === edit.lines.length - 1 && edit.to === lines.length;
      parts.push((marked && index === 0 ? '\ufeff' : '') + line + (end === '' && !isLast ? eol : end));
    }
    at = Math.max(at, edit.to);
  }
  for (; at < lines.length; at++) parts.push(lines[at] as string);
  return parts.join('');
}

/** The first line after all front matter. */
export function bodyStart(frontMatter: readonly FrontMatter[]): number {
  const last = frontMatter.at(-1);
  // An unclosed block has no end; its content is then also read as the body.
  return last === undefined ? 0 : last.closed ? last.end + 1 : last.start;
}

/** The lines of conflict markers, from 0. A line of equal signs counts only between the other two. */
export function conflictMarkers(lines: readonly string[]): number[] {
  const found: number[] = [];
  let inside = false;
  for (const [at, line] of lines.entries()) {
    const first = line.charCodeAt(0);
    if (first === 0x3c && /^<{7}(\s|$)/.test(line)) inside = true;
    else if (first === 0x3e && /^>{7}(\s|$)/.test(line)) inside = false;
    else if (!(inside && ((first === 0x3d && /^={7}\s*$/.test(line)) || (first === 0x7c && /^\|{7}(\s|$)/.test(line)))))
      continue;
    found.push(at);
  }
  return found;
}

/** The lines that mark an elision: `...`, `# ... rest unchanged ...`, `[truncated]`. */
export function elidedLines(lines: readonly string[]): number[] {
  const found: number[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.length < 200 && /^\s*(?:(?:#|\/\/|<!--|[-*])\s*)?[[(<]?\s*(?:\.{3,}|…|truncated\b)/i.test(line)) {
      const words = bare(line).trim();
      if (/^\W*(?:\.{3,}|…)\W*$/.test(words) || elision.test(words)) found.push(at);
    }
  }
  return found;
}

const elision =
  /\b(?:rest|remain\w*|unchanged|existing|same as|as before|previous|truncated|omitted|elided|snip\w*|more lines)\b/i;

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

/** The delimiter of the fence that a line opens. */
export function fenceOpened(line: string): string | null {
  const mark = /^\s{0,3}(?:>\s?)?(`{3,}|~{3,})(.*)/.exec(line);
  if (!mark) return null;
  // Backquotes followed by more backquotes are inline code.
  return mark[1]?.startsWith('`') && mark[2]?.includes('`') ? null : (mark[1] as string);
}

export function closesFence(line: string, fence: string): boolean {
  const words = bare(line)
    .replace(/^\s*(?:>\s?)?/, '')
    .trimEnd();
  return words.length >= fence.length && words === (fence[0] as string).repeat(words.length);
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

function bareEnd(line: string): number {
  return line.endsWith('\r\n') ? line.length - 2 : line.endsWith('\n') ? line.length - 1 : line.length;
}

function lineEnd(lines: readonly string[]): string {
  return lines[0]?.endsWith('\r\n') ? '\r\n' : '\n';
}
