import { bare, type MarkdownPage, scanMarkdown } from '../markdown.ts';

/**
 * Free text inside a page that has a form. What would be read as a part of the form (a heading, a rule, an ack, a
 * comment, a fence that nobody closes) gets a backslash before it, which Markdown does not show.
 */
export function encodeProse(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').trim().split('\n');
  // The first line keeps a rule at the top of the text from being taken for front matter.
  const page = scanMarkdown(`-\n${lines.join('\n')}\n# end\n`);
  const closed = page.headings.at(-1)?.line === lines.length + 1;
  const commented = lines.some((line) => /^ {0,3}<!--/.test(line));
  if (!closed || commented) return lines.map((line) => line.replace(shape, '$1\\$2'));
  return lines.map((line, index) =>
    page.isQuiet(index + 1) || fence.test(line) ? line : line.replace(shape, '$1\\$2'),
  );
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

const fence = /^\s{0,3}(?:>\s?)?(?:`{3,}|~{3,})/;
const marks = '\\\\*(?:#{1,6}(?:\\s|$)|-{3,}\\s*$|\\*\\*(?:Ack|Reply)\\b|<!--|>?\\s?`{3}|>?\\s?~{3})';
const shape = new RegExp(`^( {0,3})(${marks})`);
const shielded = new RegExp(`^( {0,3})\\\\(${marks})`);
