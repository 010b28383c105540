import { bare, closesFence, conflictMarkers, fenceOpened, type MarkdownPage } from '../markdown.ts';

/**
 * Free text inside a page that has a form. What would be read as a part of the form (a heading, a rule, an ack, a
 * comment, the marks of a merge, a fence that nobody closes) gets a backslash before it, which Markdown does not show.
 * What stands in a fence stays as it is: it may be a payload, whose token is over its very bytes.
 */
export function encodeProse(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').trim().split('\n');
  const endOf = fenceFinder(lines);
  const encoded: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const end = endOf(at);
    if (end === null) encoded.push((lines[at] as string).replace(shape, '$1\\$2'));
    else {
      encoded.push(...lines.slice(at, end + 1));
      at = end;
    }
  }
  return encoded;
}

/** Where the fence ends that a line opens. The marks of a merge spoil a page wherever they stand, so none is kept. */
function fenceFinder(lines: readonly string[]): (at: number) => number | null {
  const merged = conflictMarkers(lines);
  /** Up to which line a mark opens nothing that can be kept: a text full of them is then gone through once a length. */
  const hopeless = new Map<string, number>();
  let next = 0;
  return (at) => {
    const mark = fenceOpened(lines[at] as string);
    if (mark === null || at < (hopeless.get(mark) ?? 0)) return null;
    let end = at + 1;
    while (end < lines.length && !closesFence(lines[end] as string, mark)) end++;
    while ((merged[next] ?? end) < at) next++;
    const spoiled = merged[next] ?? end;
    if (end < lines.length && spoiled >= end) return end;
    hopeless.set(mark, end < lines.length ? spoiled : end);
    return null;
  };
}

/** The text of the lines given, by number. */
export function decodeProse(page: MarkdownPage, lines: readonly number[]): string {
  return lines
    .map((line) => {
      const text = bare(page.lines[line]);
      return page.isQuiet(line) ? text : text.replace(shielded, '$1$2');
    })
    .join('\n')
    .trim();
}

const marks =
  '\\\\*(?:#{1,6}(?:\\s|$)|-{3,}\\s*$|\\*\\*(?:Ack|Reply)\\b|<!--|<{7}(?:\\s|$)|>{7}(?:\\s|$)|>?\\s?`{3}|>?\\s?~{3})';
const shape = new RegExp(`^(\\s{0,3})(${marks})`);
const shielded = new RegExp(`^(\\s{0,3})\\\\(${marks})`);
