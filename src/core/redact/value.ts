/** What a value looks like. The rules decide by it where the form around the value alone proves nothing. */

/** True for what stands in the place of a secret: `$TOKEN`, `%s`, `xxxx`, `your-key-here`, `process.env.KEY`, `NAME`. */
export function isPlaceholder(value: string): boolean {
  return STANDS_FOR.test(value) || WORD_OF_CODE.test(value) || /^[A-Z]+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]*)+$/.test(value);
}

const STANDS_FOR =
  /^[`$%{<*&@\\[]|^(.)\1*$|x{4}|\*{3}|\.{3}|…|your|example|sample|placeholder|change.?me|redacted|dummy|process\.env|environ|secrets\./i;
const WORD_OF_CODE =
  /^(?:true|false|null|none|nil|undefined|yes|no|on|off|string|number|boolean|stdin|password|passwd|secret|token|key|required|optional|prompt|any|str|bytes|int|value)[,;.]?$/i;

const RANDOM_CHARS = 12;

/** Nobody's word: letters and digits mixed, with much variety. Words, paths, versions, dates and identifiers are not. */
export function looksRandom(value: string): boolean {
  if (value.length < RANDOM_CHARS || !/[a-z]/i.test(value)) return false;
  if (isDense(value)) return true;
  if (isJoinedWords(value)) return false;
  return /\d[^\d]*\d/.test(value) && bitsPerChar(value) >= 3.2 && classChanges(value) >= 0.2;
}

/**
 * Long, with much variety and changing between classes often. Two digits are not asked for: some keys have one, and one
 * in three hundred has none, which then shows by its mixed case.
 */
export function isDense(value: string): boolean {
  if (value.length < 20 || bitsPerChar(value) < 3.6) return false;
  return isShuffledCase(value) || (classesIn(value) === 3 && classChanges(value) >= 0.3 && !isJoinedWords(value));
}

/** Letters whose case changes as no name's does: `aBXcdEfGGh` has parts of two letters, `getElementById` of four. */
export function isShuffledCase(value: string): boolean {
  if (value.length < 16 || !/^[A-Za-z]+$/.test(value) || classesIn(value) !== 2) return false;
  const parts = value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  return value.length / parts.length < 3.5;
}

/** A value in the place of a password, where the form leaves no doubt that one stands there: anything but ordinary text. */
export function isPassword(value: string): boolean {
  if (value.length < 4 || isPlaceholder(value) || isOrdinary(value)) return false;
  // Another flag, unless it is what a generator made.
  return !value.startsWith('-') || looksRandom(value.replace(/^-+/, ''));
}

/** A value of a flag or name that may also hold a plain word: `--token V`. */
export function isToken(value: string): boolean {
  return value.length >= 8 && isPassword(value) && (/\d/.test(value) || classesIn(value) >= 2) && !isJoinedWords(value);
}

/** A password where prose or code may stand as well: more than a word, and no file, version or size. */
export function isStrongPassword(value: string): boolean {
  return (
    value.length >= 6 &&
    !isPlaceholder(value) &&
    !isOrdinary(value) &&
    /[a-z]/i.test(value) &&
    /\d/.test(value) &&
    !/^[a-z]+\d?$/i.test(value) &&
    !/^v?\d+(?:\.\d+)+/.test(value) &&
    !/^[\w-]+\.\w{1,5}$/.test(value) &&
    !/^\d+(?:px|ms|s|m|h|d|k|kb|mb|gb|rem|em|vh|vw|%)$/i.test(value)
  );
}

/** A name, call or list in source code, which may stand behind `password=`. */
export function isCode(value: string): boolean {
  return (
    /^(?:[A-Z][a-z]{2,}){2,}$/.test(value) ||
    /^(?:getent|cat|read|echo|printf|function|null|self\b|this\b)/.test(value) ||
    /^[\w$]+(?:\.[\w$]+)+$/.test(value) ||
    /[,=]/.test(value.replace(/={1,2}$/, ''))
  );
}

/** A name in source code with dots or dollar signs: `_step14.value`, `Schema$1`. A part that looks random makes it none. */
export function isIdentifier(value: string): boolean {
  return /^[\w$]+(?:\.[\w$]+)+$|^\w+\$\d+$/.test(value) && !value.split(/[.$]/).some(looksRandom);
}

/** Words joined by marks, without a part that mixes letters and digits over some length. */
export function isJoinedWords(value: string): boolean {
  return /^[a-z]+(?:[-_./:][a-z0-9]+)*$/i.test(value) && longestMixedPart(value) < RANDOM_CHARS;
}

/** How many of lower case, upper case and digits occur. */
export function classesIn(value: string): number {
  return Number(/[a-z]/.test(value)) + Number(/[A-Z]/.test(value)) + Number(/\d/.test(value));
}

/** A path, an address, a short number or a call. A long random text that begins like a path is none. */
function isOrdinary(value: string): boolean {
  if (/^\d{1,6}$/.test(value) || /[()]|=>|\[\]/.test(value)) return true;
  const isPath = /^(?:[.~]?\/|\.\.\/|[A-Za-z]:\\|https?:)/.test(value);
  return isPath && !(value.length >= 30 && classesIn(value) === 3 && bitsPerChar(value) >= 4.2);
}

function longestMixedPart(value: string): number {
  let longest = 0;
  for (const part of value.split(/[-_./:]/)) {
    if (part.length > longest && /\d/.test(part) && /[a-z]/i.test(part)) longest = part.length;
  }
  return longest;
}

function bitsPerChar(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** How often the text changes between lower case, upper case, digits and marks, for each character. Words seldom do. */
function classChanges(value: string): number {
  let changes = 0;
  let last = '';
  for (const character of value) {
    const now = classOf(character);
    if (last !== '' && now !== last) changes++;
    last = now;
  }
  return changes / value.length;
}

function classOf(character: string): 'lower' | 'upper' | 'digit' | 'mark' {
  if (character >= 'a' && character <= 'z') return 'lower';
  if (character >= 'A' && character <= 'Z') return 'upper';
  return character >= '0' && character <= '9' ? 'digit' : 'mark';
}
