/** Arithmetic on given times. Nothing here reads a clock. */

/** The last instant that still sorts correctly as text. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

export function addMs(instant: string, ms: number): string {
  return new Date(Math.min(Date.parse(instant) + ms, LAST_MS)).toISOString();
}

export function msBetween(earlier: string, later: string): number {
  return Date.parse(later) - Date.parse(earlier);
}

/** Whether a time, or the whole day of a date, is over. Free text such as "next week" is never over. */
export function isPast(due: string, now: string): boolean {
  if (/^\d{4}-\d\d-\d\d$/.test(due)) return now.slice(0, 10) > due;
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/.exec(due) ?? [];
  return day !== undefined && Date.parse(`${day}T${time}${zone ?? 'Z'}`) < Date.parse(now);
}

/** A duration for people: `14 min`, `2 days`. */
export function inWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  if (hours < 36) return `${hours} h`;
  return `${Math.round(hours / 24)} days`;
}

/** `just now`, `14 min ago`: for people, who do not count seconds. */
export const agoInWords = (ms: number): string => (ms < 5000 ? 'just now' : `${inWords(ms)} ago`);

/** `10:41 UTC` today, `2026-01-02 10:41 UTC` on other days. */
export function clockTime(instant: string, now: string): string {
  const minutes = `${instant.slice(11, 16)} UTC`;
  return instant.slice(0, 10) === now.slice(0, 10) ? minutes : `${instant.slice(0, 10)} ${minutes}`;
}

/** `10:41` today, `2 Jan 10:41` on other days, with the year if it is another one. All in UTC. */
export function shortTime(instant: string, now: string): string {
  const minutes = instant.slice(11, 16);
  if (instant.slice(0, 10) === now.slice(0, 10)) return minutes;
  const [year = '', month = '', day = ''] = instant.slice(0, 10).split('-');
  const date = `${Number(day)} ${MONTHS[Number(month) - 1] ?? month}${year === now.slice(0, 4) ? '' : ` ${year}`}`;
  return minutes === '' ? date : `${date} ${minutes}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Parses a date or time in ISO order, as other tools write it; UTC unless it has a zone. Null for other text. */
export function instantOf(words: string): string | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?$/.exec(
    words.trim(),
  );
  if (!match) return null;
  const [, day, minutes = '00:00', seconds = ':00', zone = 'Z'] = match;
  const ms = Date.parse(`${day}T${minutes}${seconds}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
