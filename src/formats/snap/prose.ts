import { conflictMarkers } from '../text/lines.ts';
import { fenceEnd, fenceOpened, type Page } from '../text/page.ts';

/**
 * Free text inside a structured page. A line that would be read as structure (a heading, a rule, an ack, a comment, a
 * conflict marker, an unclosed fence) gets a backslash, which Markdown does not show. The content of a fence stays as
 * it is: it may be an attachment, whose token covers its exact bytes.
 */
export function encodeProse(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').trim().split('\n');
  const merged = new Set(conflictMarkers(lines));
  const endOf = fenceFinder(lines);
  const encoded: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOf(at);
    const block = lines.slice(at, end);
    // Conflict markers damage a page anywhere, so a fence that contains them is escaped too.
    const isKept = block.length > 1 && !block.some((_, index) => merged.has(at + index));
    encoded.push(...(isKept ? block : block.map((line) => line.replace(shape, '$1\\$2'))));
    at = end;
  }
  return encoded;
}

/** The line after the fence that a line opens, or the next line if it opens none that is closed. */
function fenceFinder(lines: readonly string[]): (at: number) => number {
  /** Fences known to be unclosed, so that a text full of them is scanned once for each. */
  const open = new Set<string>();
  return (at) => {
    const mark = fenceOpened(lines[at] as string)?.mark;
    if (mark === undefined || open.has(mark)) return at + 1;
    const end = fenceEnd(lines, at, mark);
    if (end < lines.length) return end + 1;
    open.add(mark);
    return at + 1;
  };
}

/** The text of the given lines. */
export function decodeProse(page: Page, lines: readonly number[]): string {
  return lines
    .map((line) => {
      const text = page.line(line);
      return page.isQuiet(line) ? text : text.replace(shielded, '$1$2');
    })
    .join('\n')
    .trim();
}

const marks =
  '\\\\*(?:#{1,6}(?:\\s|$)|-{3,}\\s*$|\\*\\*(?:Ack|Reply)\\b|<!--|<{7}(?:\\s|$)|>{7}(?:\\s|$)|>?\\s?`{3}|>?\\s?~{3})';
const shape = new RegExp(`^(\\s{0,3})(${marks})`);
const shielded = new RegExp(`^(\\s{0,3})\\\\(${marks})`);
