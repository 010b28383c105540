import type { Problem } from '../format.ts';
import { conflictMarkers, elidedLines, lineFinder } from '../text/lines.ts';
import type { StatePage } from './state-markdown.ts';

/** Reports damage to a file, and whether it may still be written. */
export function findDamage(path: string, text: string, state: StatePage): { problems: Problem[]; writable: boolean } {
  const problems: Problem[] = [];
  let writable = true;
  const report = (code: string, level: Problem['level'], line: number | null, message: string, stops = false) => {
    problems.push({ code, level, path, line, message });
    if (stops) writable = false;
  };
  if (text.trim() === '') {
    report('empty', 'error', 1, 'The file is empty.');
    return { problems, writable: true };
  }
  const zero = text.indexOf('\0');
  if (zero >= 0)
    report('binary', 'error', lineFinder(text)(zero), 'The file contains zero bytes: it is not text.', true);
  const { page } = state;
  for (const line of conflictMarkers(page.lines).slice(0, 20))
    report('conflict_markers', 'error', line + 1, 'Unresolved merge conflict; both sides were read.', true);
  for (const line of elidedLines(page.lines).slice(0, 20))
    report('elided', 'warning', line + 1, 'Part of the file was elided here.');
  frontProblems(state, report);
  versionProblem(state, report);
  duplicateHeadings(state, report);
  const last = page.lines.length - 1;
  const end = page.line(last);
  if (page.isQuiet(last) && !/^\s*(?:`{3,}|~{3,})\s*$|-->\s*$/.test(end))
    report('cut_off', 'error', page.lines.length, 'The file ends inside a fence or a comment.');
  else if (/^\s*\|/.test(end) && !/\|\s*$/.test(end) && !text.endsWith('\n'))
    report('cut_off', 'error', page.lines.length, 'The file ends inside a row of a table.');
  if (state.position.size === 0 && state.lists.length === 0 && !state.front && !state.next && state.session.size === 0)
    report('nothing_found', 'warning', 1, 'Nothing in this file says where the work is.');
  return { problems, writable };
}

type Report = (code: string, level: Problem['level'], line: number | null, message: string, stops?: boolean) => void;

function frontProblems({ page, front }: StatePage, report: Report): void {
  const [first, ...others] = page.frontMatter;
  if (first && !first.closed)
    report('front_matter_open', 'error', first.open + 1, 'The front matter is never closed.', true);
  for (const block of others)
    report('front_matter_stacked', 'warning', block.open + 1, 'A second block of front matter; the first one counts.');
  for (const line of front?.strays.slice(0, 10) ?? [])
    report('front_matter_stray', 'warning', line + 1, 'This line of the front matter is not a field.');
}

function versionProblem({ front }: StatePage, report: Report): void {
  const field = front?.fields.get('gsd_state_version');
  const version = Number(field?.value);
  if (field && Number.isFinite(version) && version >= 2)
    report(
      'newer_version',
      'error',
      field.line + 1,
      `Version ${field.value} is newer than the supported 1.0; the file is read, not written.`,
      true,
    );
}

function duplicateHeadings({ page }: StatePage, report: Report): void {
  const seen = new Map<string, number>();
  let reported = 0;
  for (const { level, title, line } of page.headings) {
    if (level !== 2) continue;
    const key = title.toLowerCase();
    const first = seen.get(key);
    if (first === undefined) seen.set(key, line);
    else if (reported++ < 20)
      report(
        'duplicate_heading',
        'warning',
        line + 1,
        `Duplicate section "${title.slice(0, 80)}"; the first is in line ${first + 1}.`,
      );
  }
}
