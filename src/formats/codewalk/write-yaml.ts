import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { eolOf, itemsOf, nodeOf, pairOf, type Splice, type YamlPage } from './yaml-page.ts';

/** Values as this format writes them. A record is a list of keys with values; null is written as `null`. */
export type Value = string | number | boolean | null | Value[] | Entries;
export type Entries = readonly (readonly [string, Value])[];

/** Text of keys and values at an indentation, without a line end at the end. */
export function renderEntries(entries: Entries, indent: number, eol = '\n'): string {
  return entries.map(([key, value]) => `${' '.repeat(indent)}${key}:${renderValue(value, indent, eol)}`).join(eol);
}

/** One record of a list, its mark in front. */
export function renderItem(entries: Entries, indent: number, eol: string): string {
  const text = renderEntries(entries, indent + 2, eol);
  return `${' '.repeat(indent)}- ${text.slice(indent + 2)}`;
}

function renderValue(value: Value, indent: number, eol: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    if (isEntries(value)) return `${eol}${renderEntries(value, indent + 2, eol)}`;
    const mark = `${eol}${' '.repeat(indent + 2)}-`;
    return (value as Value[])
      .map((one) =>
        isEntries(one) ? `${eol}${renderItem(one, indent + 2, eol)}` : `${mark}${renderValue(one, indent + 2, eol)}`,
      )
      .join('');
  }
  if (typeof value === 'string' && value.includes('\n')) return ` ${renderBlock(value, indent, eol)}`;
  return ` ${renderScalar(value as string | number | boolean | null)}`;
}

function isEntries(value: Value): value is Entries {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string') &&
    (value as unknown as { isEntries?: boolean }).isEntries === true
  );
}

/** Marks a list of pairs as a map, so that a list of two-word lists is not taken for one. */
export function entries(...pairs: (readonly [string, Value | undefined])[]): Entries {
  const kept = pairs.filter((pair): pair is readonly [string, Value] => pair[1] !== undefined);
  return Object.defineProperty(kept, 'isEntries', { value: true });
}

function renderBlock(text: string, indent: number, eol: string): string {
  // A block that begins with a space, or ends in blank lines, is kept exactly by quoting only.
  if (
    /^\s|[ \t]\n|\n\n$|\s$/.test(text.replace(/\n$/, '')) ||
    /[^\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]/.test(text.replace(/[\ud800-\udfff]/g, ''))
  )
    return JSON.stringify(text);
  const body = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === '' ? '' : `${' '.repeat(indent + 2)}${line}`));
  return [text.endsWith('\n') ? '|' : '|-', ...body].join(eol);
}

/** Words that YAML would read as something else are quoted, as are all sentences. */
export function renderScalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  if (/^[A-Za-z][\w./@-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value)) return value;
  return /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(value) ? value : JSON.stringify(value);
}

/** The splices that give `key` of a map another value: in its place, or behind the last key. */
export function setKey(page: YamlPage, map: YAMLMap, key: string, value: Value | undefined): Splice[] {
  const pair = pairOf(map, key);
  const eol = eolOf(page);
  if (!pair) {
    if (value === undefined) return [];
    if (map.flow) return [];
    const last = map.items.at(-1);
    const indent = indentOf(page, (last?.key as Node | undefined)?.range?.[0] ?? 0);
    const end = lineEndAfter(page, endOf((last?.value ?? last?.key) as Node | undefined));
    return [
      {
        from: end,
        to: end,
        text: `${leading(page, end, eol)}${renderEntries(entries([key, value]), indent, eol)}${eol}`,
      },
    ];
  }
  const node = pair.value;
  const indent = indentOf(page, (pair.key as Node).range?.[0] ?? 0);
  const begin = (pair.key as Node).range?.[0] ?? 0;
  const line = page.text.lastIndexOf('\n', page.from + begin - 1) + 1;
  // A key that is no longer said goes with its lines, unless other things stand on them.
  if (value === undefined && !map.flow && page.text.slice(Math.max(line, page.from), page.from + begin).trim() === '')
    return [
      { from: Math.max(line - page.from, 0), to: lineEndAfter(page, endOf(node ?? (pair.key as Node))), text: '' },
    ];
  const text = value === undefined ? ' null' : renderLike(node, value, indent, eol);
  const colon = (pair.key as Node).range?.[1] ?? 0;
  if (!node?.range || (isScalar(node) && node.value === null && node.range[0] === node.range[1])) {
    const at = page.text.slice(page.from).indexOf(':', colon) + 1;
    return [{ from: at, to: at, text }];
  }
  const [from, to] =
    isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED')
      ? [node.range[0], trimEnd(page, node.range[1])]
      : [node.range[0], trimEnd(page, node.range[1])];
  // A list or a map begins on the line below its key; what is put there instead begins behind the colon.
  const start = isScalar(node) ? from : page.text.slice(page.from).indexOf(':', colon) + 1;
  return [{ from: start, to, text: isScalar(node) ? text.slice(1) : text }];
}

/** The same kind of quotes as before. */
function renderLike(node: Node | null, value: Value, indent: number, eol: string): string {
  if (isScalar(node) && typeof value === 'string' && !value.includes('\n')) {
    if (node.type === 'QUOTE_DOUBLE') return ` ${JSON.stringify(value)}`;
    if (node.type === 'QUOTE_SINGLE') return ` '${value.replaceAll("'", "''")}'`;
  }
  if (isScalar(node) && typeof value === 'string' && node.type === 'BLOCK_LITERAL' && !value.endsWith('\n'))
    return renderValue(`${value}\n`, indent, eol);
  return renderValue(value, indent, eol);
}

/** A record at the end of the list under `key`; the list is made where there is none. */
export function addItems(page: YamlPage, root: YAMLMap, key: string, records: readonly Entries[]): Splice[] {
  if (records.length === 0) return [];
  const eol = eolOf(page);
  const node = nodeOf(root, key);
  const last = itemsOf(node).at(-1);
  if (!isSeq(node) || node.flow || !last?.range) return setKey(page, root, key, [...records] as Value[]);
  const dash = page.text.slice(page.from).lastIndexOf('-', last.range[0]);
  const indent = indentOf(page, dash);
  const end = lineEndAfter(page, endOf(last));
  return [
    {
      from: end,
      to: end,
      text: `${leading(page, end, eol)}${records.map((record) => renderItem(record, indent, eol)).join(eol)}${eol}`,
    },
  ];
}

export function removeItem(page: YamlPage, item: Node): Splice[] {
  if (!item.range) return [];
  const body = page.text.slice(page.from);
  const dash = body.lastIndexOf('-', item.range[0]);
  const from = body.lastIndexOf('\n', dash) + 1;
  return [{ from, to: lineEndAfter(page, endOf(item)), text: '' }];
}

function leading(page: YamlPage, at: number, eol: string): string {
  const before = page.text[page.from + at - 1];
  return at === 0 || before === '\n' ? '' : eol;
}

/** Where the last thing inside a node ends: the range of a collection takes blank lines and comments behind it too. */
function endOf(node: Node | null | undefined): number {
  if (isMap(node) && !node.flow && node.items.length > 0) {
    const last = node.items.at(-1);
    return endOf((last?.value ?? last?.key) as Node | null);
  }
  if (isSeq(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1) as Node);
  return node?.range?.[1] ?? 0;
}

/** The beginning of the line after the one an offset is in. */
function lineEndAfter(page: YamlPage, offset: number): number {
  const body = page.text.slice(page.from, page.to);
  if (offset > 0 && body[offset - 1] === '\n') return offset;
  const end = body.indexOf('\n', offset);
  return end < 0 ? body.length : end + 1;
}

function trimEnd(page: YamlPage, offset: number): number {
  let at = offset;
  while (at > 0 && /\s/.test(page.text[page.from + at - 1] as string)) at--;
  return at;
}

function indentOf(page: YamlPage, offset: number): number {
  const start = page.text.lastIndexOf('\n', page.from + offset - 1) + 1;
  return page.from + offset - Math.max(start, page.from);
}
