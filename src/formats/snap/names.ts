import { isName, oneLine } from '../../core/text.ts';

/** A name in lower case with dashes, as ids and names of files have it. */
export function slug(name: string | undefined): string {
  const low = (name ?? '').toLowerCase();
  if (/^[a-z0-9]*$/.test(low)) return low;
  return low.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
}

/** What names are compared by: `Claude Code`, `claude-code` and `claudecode` are one. */
export const nameKey = (name: string | undefined): string => slug(name).replaceAll('-', '');

/** A name, an id or a time on one line, with a maximum length. */
export function label(text: string | undefined): string | undefined {
  const line = text === undefined ? '' : oneLine(text, 200);
  return line === '' ? undefined : line;
}

/** A scalar as text; undefined when there is none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The step key for a task id; the id itself if it is valid. */
export function stepKeyOf(id: string, taken: ReadonlySet<string>): string {
  if (isName(id, '._-', 64) && !taken.has(id)) return id;
  const base = slug(id).slice(0, 56).replace(/-+$/, '') || 'task';
  for (let number = 1; ; number++) {
    const key = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(key) && isName(key, '._-', 64)) return key;
    if (number > 1 && !isName(key, '._-', 64)) return `task-${taken.size + 1}`;
  }
}

/** Text normalised for comparison. */
export const sameWords = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

/** A time in a file may be only a day; then only the day is compared. */
export function sameTime(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return true;
  const day = /^\d{4}-\d{2}-\d{2}$/;
  return (day.test(one) || day.test(other)) && one.slice(0, 10) === other.slice(0, 10);
}
