import { isObject } from '../is-object.ts';

/**
 * How a file writes its values. `quoted`: like Maestro's template, strings in double quotes, short lists in brackets.
 * `plain`: like js-yaml in the servers 1.4 and 1.5. `json`: like the server 1.6. `words`: like Codewalk's template, single
 * words and dates bare, sentences in double quotes, several lines as a literal block.
 */
export type Style = 'quoted' | 'plain' | 'json' | 'words';

export interface Manner {
  style: Style;
  /** The file writes `\"` for `"`; added values must not contain such quotes. */
  overEscaped: boolean;
  /** The indentation of one level in JSON; null for a text on one line. */
  unit?: string | null;
  /** JSON that escapes all characters that are not ASCII. */
  ascii?: boolean;
}

/** `key: value` at the given indentation, without a final line end. Further lines are indented to match. */
export function emitPair(key: string, value: unknown, indent: number, manner: Manner): string {
  if (manner.style === 'json') return `${JSON.stringify(key)}: ${emitJson(value, ' '.repeat(indent), manner)}`;
  const name = isBareKey(key, manner) ? key : emitScalar(key, manner);
  const literal = manner.style === 'words' && typeof value === 'string' ? emitLiteral(value, indent + 2) : null;
  if (literal !== null) return `${name}: ${literal}`;
  const block = emitBlock(value, indent + 2, manner);
  return block === null ? `${name}: ${emitInline(value, manner)}` : `${name}:\n${block}`;
}

/** Several lines as a literal block, and one where a block was; null for text that only quotes can hold. */
export function emitLiteral(text: string, indent: number, isBlock = false): string | null {
  const body = text.replace(/\n$/, '');
  if (!(isBlock || text.includes('\n')) || /^\s|[ \t]\n|\s$|\r/.test(body) || body.search(exotic) >= 0) return null;
  const lines = body.split('\n').map((line) => (line === '' ? '' : ' '.repeat(indent) + line));
  return [text.endsWith('\n') ? '|' : '|-', ...lines].join('\n');
}

/** A key such as `2-3` is not a number either, nor a date. */
const isBareKey = (key: string, { style }: Manner): boolean =>
  (/^[A-Za-z_][\w.-]*$/.test(key) && isPlain(key)) || (style === 'words' && /^\d{1,3}(?:\.\d+)?-[\w.-]*$/.test(key));

/** `- value` at the given indentation; in JSON the value alone. */
export function emitItem(value: unknown, indent: number, manner: Manner): string {
  if (manner.style === 'json') return emitJson(value, ' '.repeat(indent), manner);
  const block = emitBlock(value, indent + 2, manner);
  return block === null ? `- ${emitInline(value, manner)}` : `- ${block.trimStart()}`;
}

/** A value on one line, for inside brackets. */
export function emitInline(value: unknown, manner: Manner): string {
  if (manner.style === 'json') return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map((entry) => emitInline(entry, manner)).join(', ')}]`;
  if (isObject(value)) {
    const pairs = entriesOf(value).map(([key, entry]) => `${emitScalar(key, manner)}: ${emitInline(entry, manner)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  if (typeof value === 'string') return emitScalar(value, manner);
  return JSON.stringify(value ?? null);
}

/** A string in the requested quotes, or in others where those cannot hold it. */
export function emitScalar(text: string, manner: Manner, quote?: 'none' | 'single' | 'double' | 'block'): string {
  if (manner.style === 'json') return JSON.stringify(text);
  if (manner.style === 'words' && quote !== 'single') return quote === 'double' || !isWord(text) ? doubled(text) : text;
  const wanted = quote ?? (manner.style === 'quoted' ? 'double' : 'none');
  if (wanted === 'none' && isPlain(text)) return text;
  if (manner.overEscaped) {
    if (wanted === 'double' && !/["\\]/.test(text) && isOneLine(text)) return `\\"${text}\\"`;
    return isPlain(text) ? text : `'${text.replace(/\s+/g, ' ').replaceAll("'", "''")}'`;
  }
  if (wanted !== 'double' && isOneLine(text)) return `'${text.replaceAll("'", "''")}'`;
  return doubled(text);
}

const doubled = (text: string): string =>
  JSON.stringify(text).replace(exotic, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** One word that no version of YAML takes for something else, or a date. */
const isWord = (text: string): boolean =>
  (/^[A-Za-z][\w./@-]*$/.test(text) && isPlain(text)) || /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text);

function emitBlock(value: unknown, indent: number, manner: Manner): string | null {
  const lead = ' '.repeat(indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    if (manner.style === 'quoted' && value.every((entry) => !isObject(entry) && !Array.isArray(entry))) return null;
    return value.map((entry) => lead + emitItem(entry, indent, manner)).join('\n');
  }
  if (!isObject(value)) return null;
  const entries = entriesOf(value);
  if (entries.length === 0) return null;
  return entries.map(([key, entry]) => lead + emitPair(key, entry, indent, manner)).join('\n');
}

/** A map keeps the order of keys such as `2`, which an object does not. */
const entriesOf = (value: object): [string, unknown][] => (value instanceof Map ? [...value] : Object.entries(value));

/**
 * JSON as its tools write it, its further lines indented to match. A Map keeps the order of its keys: a plain object would
 * put `7` before `3_5`.
 */
export function emitJson(value: unknown, indent: string, manner: Manner): string {
  const unit = manner.unit === undefined ? '  ' : manner.unit;
  const json = jsonOf(value, unit, indent);
  if (!manner.ascii) return json;
  return json.replace(/[^\0-\x7f]/g, (unit16) => `\\u${unit16.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function jsonOf(value: unknown, unit: string | null, indent: string): string {
  const entries = isObject(value) ? entriesOf(value).filter(([, field]) => field !== undefined) : null;
  if (entries === null && !Array.isArray(value)) return JSON.stringify(value) ?? 'null';
  const inner = unit === null ? '' : indent + unit;
  const parts = entries
    ? entries.map(([key, field]) => `${JSON.stringify(key)}: ${jsonOf(field, unit, inner)}`)
    : (value as unknown[]).map((element) => jsonOf(element, unit, inner));
  const [open, close] = entries ? ['{', '}'] : ['[', ']'];
  if (parts.length === 0) return open + close;
  return unit === null
    ? open + parts.join(', ') + close
    : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** Whether a text needs no quotes in YAML 1.1 and 1.2. */
function isPlain(text: string): boolean {
  return (
    /^[\p{L}_/.][\p{L}\p{N}_ ./()+@=<>~;?!$%^*&|'"`-]*$/u.test(text) &&
    !/^\s|\s$|^\.\.?\.?$|^\.(?:nan|inf|\d)/i.test(text) &&
    !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
  );
}

const isOneLine = (text: string): boolean => text.search(/[\n\r\t]/) < 0 && text.search(exotic) < 0;

/** Characters that YAML treats as line ends or does not allow unescaped. */
const exotic = new RegExp(
  `[${['00-\\x08', '0b', '0c', '0e-\\x1f', '7f-\\x9f'].map((range) => `\\x${range}`).join('')}\\u2028\\u2029\\ufeff\\ud800-\\udfff]`,
  'g',
);
