import { describe, expect, it } from 'vitest';
import { conflictMarkers, editLines, elidedLines, scanMarkdown } from './markdown.ts';

describe('a Markdown page', () => {
  it('is the same as its lines, byte for byte', () => {
    const text = '\ufeff# One\r\n\r\nbody\nlast';
    expect(scanMarkdown(text).lines.join('')).toBe(text);
    expect(scanMarkdown('').lines).toEqual([]);
  });

  it('finds headings with the range of their sections', () => {
    const page = scanMarkdown('# A\n\n## B ##\nx\n### **C**\ny\n## D\n');
    expect(page.headings).toEqual([
      { level: 1, title: 'A', line: 0, bodyEnd: 2, end: 7 },
      { level: 2, title: 'B', line: 2, bodyEnd: 4, end: 6 },
      { level: 3, title: 'C', line: 4, bodyEnd: 6, end: 6 },
      { level: 2, title: 'D', line: 6, bodyEnd: 7, end: 7 },
    ]);
  });

  it('finds no heading in a fence or a comment', () => {
    const page = scanMarkdown('```md\n# no\n~~~\n```\n<!-- a\n## no\n-->\n<!-- one line -->\n## yes\n`` ` # ``\n');
    expect(page.headings.map(({ title }) => title)).toEqual(['yes']);
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((line) => page.isQuiet(line))).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('splits stacked front matter and detects an unclosed block', () => {
    expect(scanMarkdown('---\na: 1\n---\n\n---\nb: 2\n---\n# T\n').frontMatter).toEqual([
      { open: 0, start: 1, end: 2, closed: true },
      { open: 4, start: 5, end: 6, closed: true },
    ]);
    const open = scanMarkdown('---\na: 1\n# T\n');
    expect(open.frontMatter).toEqual([{ open: 0, start: 1, end: 3, closed: false }]);
    expect(open.headings).toHaveLength(1);
    expect(scanMarkdown('---\na: 1\n---\n\n---\n\n# T\n').frontMatter).toHaveLength(1);
  });

  it('edits lines and leaves the others with their own line ends', () => {
    const page = scanMarkdown('\ufeffa\r\nb\nc');
    expect(editLines(page, [{ from: 0, to: 1, lines: ['A'] }])).toBe('\ufeffA\r\nb\nc');
    expect(editLines(page, [{ from: 3, to: 3, lines: ['d'] }])).toBe('\ufeffa\r\nb\nc\r\nd\r\n');
    expect(editLines(page, [{ from: 2, to: 3, lines: ['x', 'y'] }])).toBe('\ufeffa\r\nb\nx\r\ny\r\n');
    expect(editLines(page, [{ from: 1, to: 2, lines: [] }])).toBe('\ufeffa\r\nc');
    expect(editLines(page, [])).toBe('\ufeffa\r\nb\nc');
  });

  it('finds what a merge or an elision left behind', () => {
    expect(conflictMarkers(['=======\n', '<<<<<<< HEAD\n', 'a\n', '=======\n', 'b\n', '>>>>>>> x\n'])).toEqual([
      1, 3, 5,
    ]);
    expect(
      elidedLines(['...\n', 'a ...\n', '<!-- ... rest unchanged ... -->\n', '# [...]\n', '... and more\n']),
    ).toEqual([0, 2, 3]);
  });
});
