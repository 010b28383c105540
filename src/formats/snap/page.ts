import { conflictMarkers, elidedLines, type MarkdownPage, scanMarkdown, splitLines } from '../markdown.ts';
import type { Report } from './report.ts';

/**
 * Reads a Markdown file and reports general damage. An unclosed fence would hide everything after it, so its delimiter
 * is read as text.
 */
export function readPage(text: string, report: Report): { page: MarkdownPage; sound: boolean } {
  let sound = true;
  const spoil = (code: string, line: number | null, message: string): void => {
    sound = false;
    report(code, 'error', line, message);
  };
  const lines = splitLines(text);
  if (text.includes('\u0000')) spoil('binary', null, 'The file has bytes that are not text.');
  else if (text.trim() === '') spoil('empty', null, 'The file is empty.');
  for (const line of conflictMarkers(lines).slice(0, 1))
    spoil('conflict_markers', line + 1, 'Unresolved merge conflict; choose one side.');
  for (const line of elidedLines(lines).slice(0, 1))
    report('elided', 'warning', line + 1, 'Part of the file seems to be elided here.');
  const page = scanMarkdown(text);
  const open = unclosedFrom(page);
  if (open === null) return { page, sound };
  spoil('unclosed_fence', open + 1, 'This fence or comment is never closed; it is read as text.');
  const recovered = scanMarkdown(
    lines.map((line, index) => (index === open ? line.replace(/[`~<]/, ' ') : line)).join(''),
  );
  return { page: { ...recovered, lines: page.lines }, sound };
}

/** The lines of comments between two lines; their content does not count. */
export function commentLines(page: MarkdownPage, from: number, to: number): ReadonlySet<number> {
  const found = new Set<number>();
  let fence: string | null = null;
  let comment = false;
  for (let line = from; line < to; line++) {
    const text = page.lines[line] ?? '';
    if (!page.isQuiet(line)) fence = null;
    else if (fence !== null) {
      if (text.trim().startsWith(fence) && /^[`~]+$/.test(text.trim())) fence = null;
    } else if (comment || /^\s{0,3}<!--/.test(text)) {
      found.add(line);
      comment = !text.includes('-->');
    } else fence = /[`~]{3,}/.exec(text)?.[0] ?? null;
  }
  return found;
}

/** The line of a fence or comment that is open at the end of the file. */
function unclosedFrom(page: MarkdownPage): number | null {
  const end = page.lines.length;
  if (end === 0 || !page.isQuiet(end - 1)) return null;
  const last = page.lines[end - 1] ?? '';
  let start = end - 1;
  while (start > 0 && page.isQuiet(start - 1)) start--;
  // Adjacent blocks look like one: whether the last is closed shows only with a line added after it.
  const probe = scanMarkdown(`${page.lines.slice(start).join('')}${last.endsWith('\n') ? '' : '\n'}# end\n`);
  return probe.headings.at(-1)?.title === 'end' && probe.headings.at(-1)?.line === end - start ? null : start;
}
