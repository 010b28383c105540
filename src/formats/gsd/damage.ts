import type { Problem } from '../format.ts';
import { conflictMarkers, elidedLines, lineFinder } from '../text/lines.ts';
import type { StatePage } from './state-markdown.ts';

/** Reports damage to a file, and whether it may still be written. */
export function findDamage(path: string, state: StatePage): { problems: Problem[]; writable: boolean } {
  const { page, front } = state;
  const { text, lines } = page;
  const problems: Problem[] = [];
  let writable = true;
  const report = (
    code: string,
    level: Problem['level'],
    at: readonly number[],
    message: string,
    stops = false,
  ): void => {
    for (const line of at.slice(0, 20)) problems.push({ code, level, path, line: line + 1, message });
    if (stops && at.length > 0) writable = false;
  };
  if (text.trim() === '') {
    report('empty', 'error', [0], 'The file is empty.');
    return { problems, writable };
  }
  const zero = text.indexOf('\0');
  const zeros = zero < 0 ? [] : [lineFinder(text)(zero) - 1];
  const [first, ...others] = page.frontMatter;
  const open = first && !first.closed ? [first.open] : [];
  const version = front?.fields.get('gsd_state_version');
  const isNewer = version !== undefined && Number(version.value) >= 2;
  const newer = `Version ${version?.value} is newer than the supported 1.0; the file is read, not written.`;
  report('binary', 'error', zeros, 'The file contains zero bytes: it is not text.', true);
  report('conflict_markers', 'error', conflictMarkers(lines), 'Unresolved merge conflict; both sides were read.', true);
  report('elided', 'warning', elidedLines(lines), 'Part of the file was elided here.');
  report('front_matter_open', 'error', open, 'The front matter is never closed.', true);
  const stacked = others.map((block) => block.open);
  report('front_matter_stacked', 'warning', stacked, 'A second block of front matter; the first one counts.');
  report('front_matter_stray', 'warning', front?.strays ?? [], 'This line of the front matter is not a field.');
  report('newer_version', 'error', version && isNewer ? [version.line] : [], newer, true);
  const seen = new Map<string, number>();
  for (const { level, title, line } of page.headings) {
    const there = level === 2 ? seen.get(title.toLowerCase()) : undefined;
    const words = `Duplicate section "${title.slice(0, 80)}"; the first is in line ${(there ?? 0) + 1}.`;
    if (there !== undefined && problems.length < 100) report('duplicate_heading', 'warning', [line], words);
    else if (level === 2) seen.set(title.toLowerCase(), line);
  }
  const last = lines.length - 1;
  const end = page.line(last);
  if (page.isQuiet(last) && !/^\s*(?:`{3,}|~{3,})\s*$|-->\s*$/.test(end))
    report('cut_off', 'error', [last], 'The file ends inside a fence or a comment.');
  else if (/^\s*\|/.test(end) && !/\|\s*$/.test(end) && !text.endsWith('\n'))
    report('cut_off', 'error', [last], 'The file ends inside a row of a table.');
  if (state.position.size === 0 && state.lists.length === 0 && !front && !state.next && state.session.size === 0)
    report('nothing_found', 'warning', [0], 'Nothing in this file says where the work is.');
  return { problems, writable };
}
