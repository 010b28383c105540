/** The blocks of a Markdown page that matter for a plan. Fenced code, quotes, comments and front matter are left out. */
export type Block =
  | { kind: 'heading'; level: number; text: string; line: number }
  | { kind: 'item'; indent: number; ordered: boolean; box: Box | null; text: string; line: number }
  | { kind: 'text'; indent: number; text: string; line: number };

export type Box = 'open' | 'done' | 'skipped';

export function outline(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  let fence: string | null = null;
  let isComment = false;
  // A paragraph continues in the next line; a blank line ends it.
  let isOpen = false;
  for (let at = frontMatterEnd(lines); at < lines.length; at++) {
    const written = (lines[at] ?? '').replaceAll('\t', '    ');
    const mark = /^\s*(```+|~~~+)/.exec(written)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence)) fence = null;
      continue;
    }
    if (mark !== undefined && !isComment) {
      fence = mark;
      continue;
    }
    const { text: line, isInside } = withoutComments(written, isComment);
    isComment = isInside;
    const block = /^\s*>/.test(line) ? null : blockOf(line, at + 1);
    const last = blocks.at(-1);
    if (block?.kind === 'text' && isOpen && last?.kind === 'text') last.text += ` ${block.text}`;
    else if (block) blocks.push(block);
    isOpen = block?.kind === 'text';
  }
  return blocks;
}

function blockOf(line: string, number: number): Block | null {
  if (line.trim() === '' || /^\s*(?:[-*_]\s*){3,}$/.test(line)) return null;
  const heading = /^ {0,3}(#{1,6})\s+(.*\S)/.exec(line);
  if (heading) {
    const [, marks = '', words = ''] = heading;
    return { kind: 'heading', level: marks.length, text: plain(words.replace(/\s+#+$/, '')), line: number };
  }
  const indent = line.length - line.trimStart().length;
  const item = /^\s*(?:[-*+]|(\d{1,4}[.)]))\s+(?:\[([ xX✓✔-])\]\s+)?(.*\S)/.exec(line);
  if (!item) return { kind: 'text', indent, text: line.trim(), line: number };
  const [, ordinal, mark, words = ''] = item;
  return { kind: 'item', indent, ordered: ordinal !== undefined, box: boxOf(mark), text: words.trim(), line: number };
}

function boxOf(mark: string | undefined): Box | null {
  if (mark === undefined) return null;
  if (mark === ' ') return 'open';
  return mark === '-' ? 'skipped' : 'done';
}

/** Without emphasis; code keeps its marks. */
export const plain = (words: string): string => words.replace(/\*\*|__/g, '').trim();

function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== '---') return 0;
  const end = lines.indexOf('---', 1);
  return end < 0 ? 0 : end + 1;
}

function withoutComments(line: string, inside: boolean): { text: string; isInside: boolean } {
  let text = '';
  let isInside = inside;
  for (let at = 0; at < line.length; ) {
    const mark = isInside ? '-->' : '<!--';
    const found = line.indexOf(mark, at);
    const end = found < 0 ? line.length : found;
    if (!isInside) text += line.slice(at, end);
    if (found >= 0) isInside = !isInside;
    at = found < 0 ? line.length : found + mark.length;
  }
  return { text, isInside };
}
