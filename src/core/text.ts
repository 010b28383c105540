import * as v from 'valibot';

/** Free text is stored as given, up to this many bytes of UTF-8. */
export const TEXT_LIMIT_BYTES = 1024 * 1024;

/**
 * Text of a person or an agent. The mark lets an erasure find every such field of an event by its schema and keep the
 * structure (keys, ids, states).
 */
export const Text = v.pipe(
  v.string(),
  v.check(
    (text) => text.length * 3 <= TEXT_LIMIT_BYTES || utf8Length(text) <= TEXT_LIMIT_BYTES,
    'is longer than 1 MiB: put it into a file and record the file as an artifact',
  ),
  v.metadata({ text: true }),
);

/** Text that is not blank. */
export const Sentence = v.pipe(
  Text,
  v.check((text) => text.trim() !== '', 'must not be empty'),
);

export const ERASED = '[erased]';

/** Step keys: `p1`, `3_5`, `2.3`. They are typed on command lines and become parts of file names. */
export const StepKey = v.pipe(
  v.string(),
  v.check(
    (text) => isName(text, '._-', 64),
    'must be letters, digits, dots, dashes or underscores, at most 64 of them',
  ),
);

/** Names of agents and people; they become parts of file names. */
export const ActorName = v.pipe(
  v.string(),
  v.check(
    (text) => isName(text, '._@+-', 64),
    'must be letters, digits, dots, dashes, underscores, @ or +, at most 64 of them',
  ),
);

/** A short label on one line: a checkpoint's name, an alias, a role. */
export const Label = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.maxLength(200, 'must be at most 200 characters'),
  v.check((text) => !hasControls(text), 'must not contain control characters'),
);

/** A path inside the workspace, with forward slashes. */
export const FilePath = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(4096, 'must be at most 4,096 characters'),
);

/** UTC, as `2026-01-02T03:04:05.678Z`. */
export const Instant = v.pipe(v.string(), v.isoTimestamp('must be a time such as 2026-01-02T03:04:05.678Z'));

export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/**
 * Whether a text starts with a letter or digit, followed by letters, digits or the given marks. Characters of other
 * scripts are tested one by one: a regular expression with Unicode classes takes longer to build than a command may take.
 */
export function isName(text: string, marks: string, limitChars: number): boolean {
  if (text === '' || text.length > limitChars) return false;
  let isFirst = true;
  for (const character of text) {
    const isAllowed =
      (character >= 'a' && character <= 'z') ||
      (character >= '0' && character <= '9') ||
      (character >= 'A' && character <= 'Z') ||
      (!isFirst && marks.includes(character)) ||
      (character > '\u007f' && isForeignLetter(character));
    if (!isAllowed) return false;
    isFirst = false;
  }
  return true;
}

function isForeignLetter(character: string): boolean {
  foreignLetter ??= /[\p{L}\p{N}\p{M}]/u;
  return foreignLetter.test(character);
}
let foreignLetter: RegExp | undefined;

/** What a terminal or a reader could take for something other than text: controls, direction marks, line separators. */
const UNPRINTABLE =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]|\\udb40[\\udc00-\\udc7f]';
const unprintable = new RegExp(UNPRINTABLE, 'g');
/** Matches text that is not one printable line with single spaces. */
const uneven = new RegExp(`^ |  | $|[^\\S ]|${UNPRINTABLE}`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const controls = /[\u0000-\u001f\u007f-\u009f]/;

function hasControls(text: string): boolean {
  return text.search(controls) >= 0;
}

/**
 * Makes text harmless for a terminal or a prompt: no control characters, direction overrides, invisible tags or escape
 * sequences. Line feeds and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(unprintable, '\ufffd');
}

/** The same on one line, cut with an ellipsis. */
export function oneLine(text: string, limitChars = 200): string {
  // Cut first: a megabyte of text must not be scanned to show two hundred characters.
  const start = text.slice(0, limitChars * 4);
  // Most texts are already one line, and a brief has hundreds of them.
  const flat = uneven.test(start) ? printable(start).replace(/\s+/g, ' ').trim() : start;
  if (flat.length <= limitChars && text.length <= limitChars * 4) return flat;
  let end = Math.min(limitChars - 1, flat.length);
  const last = flat.charCodeAt(end - 1);
  if (last >= 0xd800 && last < 0xdc00) end--;
  return `${flat.slice(0, end)}…`;
}

/** Makes every text in an answer safe to show; what is recorded stays as given. */
export function safeToShow<T>(value: T): T {
  // Nearly every answer is harmless already, and the test is ten times as fast as the replacement.
  return suspicious.test(JSON.stringify(value)) ? makeSafe(value) : value;
}

/** What JSON writes as an escape, and what it leaves unescaped although a terminal could act on it. */
const suspicious = /\\(?:u00|[bfr])|[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\udb40/;

function makeSafe<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(makeSafe) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, makeSafe(part)])) as T;
  }
  return value;
}
