import type { Problem } from '../format.ts';
import { conflictMarkers, elidedLines } from '../text/lines.ts';
import { type Page, scanPage } from '../text/page.ts';

/** Reports a problem of one file: a warning, or an error. */
export interface Report {
  (code: string, line: number | null, message: string): void;
  error(code: string, line: number | null, message: string): void;
}

/** A limit for files in which every line is wrong. */
const PROBLEMS_PER_FILE = 500;

export function reporter(path: string, problems: Problem[], ignored?: string): Report {
  let count = 0;
  const add =
    (level: Problem['level']) =>
    (code: string, line: number | null, message: string): void => {
      if (code !== ignored && count++ < PROBLEMS_PER_FILE) problems.push({ code, level, path, line, message });
    };
  return Object.assign(add('warning'), { error: add('error') });
}

/** For a text whose problems were reported before. */
export const unreported: Report = reporter('', []);

/** Reads a Markdown file and reports general damage. */
export function readPage(text: string, report: Report): { page: Page; sound: boolean } {
  let sound = true;
  const spoil = (code: string, line: number | null, message: string): void => {
    sound = false;
    report.error(code, line, message);
  };
  const page = scanPage(text);
  if (text.includes('\u0000')) spoil('binary', null, 'The file has bytes that are not text.');
  else if (text.trim() === '') spoil('empty', null, 'The file is empty.');
  for (const line of conflictMarkers(page.lines).slice(0, 1))
    spoil('conflict_markers', line + 1, 'Unresolved merge conflict; choose one side.');
  for (const line of elidedLines(page.lines).slice(0, 1))
    report('elided', line + 1, 'Part of the file seems to be elided here.');
  if (page.unclosed === null) return { page, sound };
  spoil('unclosed_fence', page.unclosed + 1, 'This fence or comment is never closed; it is read as text.');
  return { page: scanPage(text, page.unclosed), sound };
}
