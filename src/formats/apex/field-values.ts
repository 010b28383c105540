import { isName, TEXT_LIMIT_BYTES, utf8Length } from '../../core/text.ts';

/** Converts values of a file to the limits of run model fields. The file itself is not changed. */

export function asText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.length * 3 <= TEXT_LIMIT_BYTES || utf8Length(text) <= TEXT_LIMIT_BYTES) return text;
  return `${text.slice(0, Math.floor(TEXT_LIMIT_BYTES / 4))}…`;
}

export const asWords = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : asText(value);

export function asLabel(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return (
    String(value)
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, 200)
      .trim() || undefined
  );
}

export const asWho = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;

export const asTime = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, 200) : undefined;

export const asPath = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, 4096) : undefined;

/** A valid step key for any key in the file. */
export function asStepKey(written: string): string {
  if (isName(written, '._-', 64)) return written;
  const plain = written
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 64);
  return isName(plain, '._-', 64) ? plain : 'step';
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** A copy without the fields that are undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}

/**
 * Times are compared as instants: `…00Z`, `…00.000Z` and `…00+00:00` are equal. Returns null unless the text is a time.
 */
export function momentOf(written: string | undefined): number | null {
  if (written === undefined || !/^\d{4}-\d{2}-\d{2}/.test(written)) return null;
  const plain = written.trim().replace(/^(\d{4}-\d{2}-\d{2}) (\d)/, '$1T$2');
  const moment = Date.parse(/T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(plain) ? `${plain}Z` : plain);
  return Number.isNaN(moment) ? null : moment;
}

export const sameTime = (one: string | undefined, other: string | undefined): boolean =>
  one === other || (momentOf(one) !== null && momentOf(one) === momentOf(other));

/** The time as the format's own tool writes it. */
export const stamp = (instant: string): string => instant.replace(/\.\d+(?=Z$)/, '');
