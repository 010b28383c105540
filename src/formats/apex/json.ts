import { isObject } from '../is-object.ts';

/**
 * JSON as the format's own tool writes it. A Map keeps the order of its keys: a plain object would put `7` before
 * `3_5`. With null as indentation it is written on one line.
 */
export function writeJson(value: unknown, unit: string | null, indent = ''): string {
  const entries =
    value instanceof Map
      ? [...value]
      : isObject(value)
        ? Object.entries(value).filter(([, field]) => field !== undefined)
        : null;
  if (entries === null && !Array.isArray(value)) return JSON.stringify(value) ?? 'null';
  const inner = unit === null ? '' : indent + unit;
  const parts = entries
    ? entries.map(([key, field]) => `${JSON.stringify(key)}: ${writeJson(field, unit, inner)}`)
    : (value as unknown[]).map((element) => writeJson(element, unit, inner));
  const [open, close] = entries ? ['{', '}'] : ['[', ']'];
  if (parts.length === 0) return open + close;
  return unit === null
    ? open + parts.join(', ') + close
    : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}
