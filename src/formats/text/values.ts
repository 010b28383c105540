import { isName, TEXT_LIMIT_BYTES, utf8Length } from '../../core/text.ts';
import type { Editor } from './editor.ts';
import { type ListNode, type Node, wordsOf } from './node.ts';
import type { Value } from './rows.ts';

/** Values of a file within the limits of run model fields. The file itself is not changed. */

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

export const asCount = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
};

/** A valid step key for any key in the file. */
export function asStepKey(written: string): string {
  if (isName(written, '._-', 64)) return written;
  const name = written
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 64);
  return isName(name, '._-', 64) ? name : 'step';
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
  const iso = written.trim().replace(/^(\d{4}-\d{2}-\d{2}) (\d)/, '$1T$2');
  const moment = Date.parse(/T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(iso) ? `${iso}Z` : iso);
  return Number.isNaN(moment) ? null : moment;
}

/** Equal to the precision of the coarser one: the second of a time with milliseconds is the same. */
export function sameTime(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  const [a, b] = [momentOf(one), momentOf(other)];
  if (a === null || b === null) return false;
  const isExact = /\.\d/.test(one ?? '') && /\.\d/.test(other ?? '');
  return isExact ? a === b : Math.floor(a / 1000) === Math.floor(b / 1000);
}

/** The time to the second, as tools write it. */
export const stamp = (instant: string): string => instant.replace(/\.\d+(?=Z$)/, '');

const same = (value: unknown): unknown => value;

/** Words as they are; a value that is not text stays one of its kind if the words parse as JSON. */
export const text: Value = { read: asWords, write: same };
export const label: Value = { read: asLabel, write: same };
export const who: Value = { read: asWho, write: same };
export const count: Value = { read: asCount, write: same };
export const flag: Value = { read: (raw) => (typeof raw === 'boolean' ? raw : undefined), write: same };
/** The second; a time that says the same is left as it is written. */
export const seconds: Value = {
  read: asTime,
  write: (value: string, like) => (typeof like === 'string' && sameTime(value, like) ? like : stamp(value)),
};
/** As exact as we know it. */
export const instant: Value = {
  read: asTime,
  write: (value: string, like) => (typeof like === 'string' && sameTime(value, like) ? like : value),
};
/** Words, or JSON where that is there. */
export const textOrJson: Value = {
  read: asWords,
  write: (value: string, like) => {
    if (like === undefined || like === null || typeof like === 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      return value;
    }
  },
};

/** One of the words that a tool uses; a spelling that means the same is left. */
export function oneOf<W extends string>(
  read: (word: string) => W | null | undefined,
  words: Readonly<Record<W, unknown>>,
): Value {
  return {
    read: (raw) => (typeof raw === 'string' ? (read(raw) ?? undefined) : undefined),
    write: (value: W, like) =>
      typeof like === 'string' && read(like) === read(String(words[value])) ? like : words[value],
  };
}

/** A list of entries; one that is given alone is read as a list of one and stays alone while it is the only one. */
export function listOf(read: (raw: unknown) => string | undefined): Value {
  return {
    read: (raw) => {
      const entries = (Array.isArray(raw) ? raw : [raw]).flatMap((entry) => read(entry) ?? []);
      return entries.length > 0 ? entries : undefined;
    },
    write: (value: readonly string[], like) =>
      like !== undefined && !Array.isArray(like) && value.length === 1 ? value[0] : value,
  };
}

/**
 * Changes a list to these values by removing and adding entries; what is left keeps its place and its spelling. `keyOf`
 * gives what identifies an entry of the file, undefined for one that is none of ours.
 */
export function editList(
  editor: Editor,
  list: ListNode,
  values: readonly (string | number)[],
  keyOf: (item: Node) => string | undefined = (item) => wordsOf(item) ?? undefined,
): void {
  const left = new Map(values.map((value) => [String(value), value]));
  for (const item of list.items) {
    const key = keyOf(item);
    if (key !== undefined && !left.delete(key)) editor.remove(list, item);
  }
  editor.append(list, [...left.values()]);
}
