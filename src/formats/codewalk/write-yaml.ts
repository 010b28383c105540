import { isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { isObject } from '../is-object.ts';
import { eolOf, itemsOf, nodeOf, pairOf, type Splice, type YamlPage } from './yaml-page.ts';

/** Values as this format writes them. An entry is a list of keys with values; null is written as `null`. */
export type Value = string | number | boolean | null | Value[] | Entries;
export type Entries = readonly (readonly [string, Value])[];

/** Keys and values at an indentation, without a final line end. */
export function renderEntries(entries: Entries, indent: number, eol = '\n'): string {
  return entries
    .map(([key, value]) => `${' '.repeat(indent)}${renderKey(key)}:${renderValue(value, indent, eol)}`)
    .join(eol);
}

/** One list entry with its dash. */
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

/** Marks a list of pairs as a map, to distinguish it from a list of two-element lists. */
export function entries(...pairs: (readonly [string, Value | undefined])[]): Entries {
  const kept = pairs.filter((pair): pair is readonly [string, Value] => pair[1] !== undefined);
  return Object.defineProperty(kept, 'isEntries', { value: true });
}

function renderBlock(text: string, indent: number, eol: string): string {
  // A block that begins with a space or ends in blank lines is preserved only by quoting.
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

/** A value on one line, for maps and lists in brackets. */
function renderInline(value: Value): string {
  if (isEntries(value)) return `{${value.map(([key, one]) => `${renderKey(key)}: ${renderInline(one)}`).join(', ')}}`;
  if (Array.isArray(value)) return `[${(value as Value[]).map(renderInline).join(', ')}]`;
  return renderScalar(value as string | number | boolean | null);
}

const renderKey = (key: string): string => (/^\w[\w./@-]*$/.test(key) ? key : JSON.stringify(key));

/** Quotes sentences and words that YAML would read as another type. */
export function renderScalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  if (/^[A-Za-z][\w./@-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value)) return value;
  return /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(value) ? value : JSON.stringify(value);
}

/** The splices that set `key` of a map: in place, or after the last key. */
export function setKey(page: YamlPage, map: YAMLMap, key: string, value: Value | undefined): Splice[] {
  const pair = pairOf(map, key);
  const eol = eolOf(page);
  if (!pair) {
    if (value === undefined) return [];
    const last = map.items.at(-1);
    if (map.flow) {
      const at = last ? endOf((last.value ?? last.key) as Node) : (map.range?.[0] ?? 0) + 1;
      return [{ from: at, to: at, text: `${last ? ', ' : ''}${renderKey(key)}: ${renderInline(value)}` }];
    }
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
  // A key without a value is removed with its lines, unless something else is on them.
  if (value === undefined && !map.flow && page.text.slice(Math.max(line, page.from), page.from + begin).trim() === '')
    return [
      { from: Math.max(line - page.from, 0), to: lineEndAfter(page, endOf(node ?? (pair.key as Node))), text: '' },
    ];
  const text =
    value === undefined ? ' null' : map.flow ? inlineLike(node, value) : renderLike(node, value, indent, eol);
  const colon = (pair.key as Node).range?.[1] ?? 0;
  if (!node?.range || (isScalar(node) && node.value === null && node.range[0] === node.range[1])) {
    // The splice includes the colon, so that keys added at the same offset come after the value.
    const at = page.text.slice(page.from).indexOf(':', colon);
    return [{ from: at, to: at + 1, text: `:${text}` }];
  }
  const [from, to] = [node.range[0], trimEnd(page, node.range[1])];
  // A list or a map begins on the line below its key; the replacement begins after the colon.
  const start = isScalar(node) ? from : page.text.slice(page.from).indexOf(':', colon) + 1;
  return [{ from: start, to, text: isScalar(node) ? text.slice(1) : text }];
}

/** Keeps the kind of quotes. */
function renderLike(node: Node | null, value: Value, indent: number, eol: string): string {
  const quoted = quotedLike(node, value);
  if (quoted !== null) return quoted;
  if (isScalar(node) && node.type === 'BLOCK_LITERAL' && typeof value === 'string' && !value.endsWith('\n'))
    return renderValue(String(node.value).endsWith('\n') ? `${value}\n` : value, indent, eol);
  return renderValue(value, indent, eol);
}

function inlineLike(node: Node | null, value: Value): string {
  return quotedLike(node, value) ?? ` ${renderInline(value)}`;
}

function quotedLike(node: Node | null, value: Value): string | null {
  if (!isScalar(node) || typeof value !== 'string' || value.includes('\n')) return null;
  if (node.type === 'QUOTE_DOUBLE') return ` ${JSON.stringify(value)}`;
  // Single quotes cannot hold control characters.
  return node.type === 'QUOTE_SINGLE' && !/\p{Cc}/u.test(value) ? ` '${value.replaceAll("'", "''")}'` : null;
}

/** The splices that remove entries from the list under `key` and add others at its end. */
export function editList(
  page: YamlPage,
  root: YAMLMap,
  key: string,
  removed: ReadonlySet<Node>,
  added: readonly Entries[],
): Splice[] {
  const node = nodeOf(root, key);
  const items = itemsOf(node);
  const gone = items.filter((item) => removed.has(item));
  if (gone.length + added.length === 0 && !(node && removed.has(node))) return [];
  if (isSeq(node) && node.flow && items.length > 0) return editFlowList(node, removed, added);
  const last = items.at(-1);
  if (last?.range) {
    const eol = eolOf(page);
    const end = lineEndAfter(page, endOf(last));
    const indent = indentOf(page, dashOf(page, last));
    const text = `${leading(page, end, eol)}${added.map((entry) => renderItem(entry, indent, eol)).join(eol)}${eol}`;
    return [
      ...gone.map((item) => removeItem(page, item)),
      ...(added.length === 0 ? [] : [{ from: end, to: end, text }]),
    ];
  }
  // A single entry without a list becomes the first of the list.
  const only = node === null || isSeq(node) || removed.has(node) ? [] : [fromJson(node.toJS(page.document))];
  return setKey(page, root, key, [...only.filter((one) => one !== null), ...added] as Value[]);
}

function editFlowList(list: YAMLSeq, removed: ReadonlySet<Node>, added: readonly Entries[]): Splice[] {
  const items = list.items as Node[];
  const [start, end] = list.range ?? [0, 0];
  const kept = items.findIndex((item) => !removed.has(item));
  if (kept < 0) return [{ from: start, to: end, text: renderInline([...added] as Value[]) }];
  const splices = items.flatMap((item, index): Splice[] => {
    if (!removed.has(item)) return [];
    // Each removal includes the comma towards an entry that stays, so that removals never overlap.
    const from = index < kept ? startOf(item) : endOf(items[index - 1]);
    return [{ from, to: index < kept ? startOf(items[index + 1]) : endOf(item), text: '' }];
  });
  const at = endOf(items.at(-1));
  return [...splices, ...added.map((entry) => ({ from: at, to: at, text: `, ${renderInline(entry as Value)}` }))];
}

function removeItem(page: YamlPage, item: Node): Splice {
  const from = page.text.slice(page.from).lastIndexOf('\n', dashOf(page, item)) + 1;
  return { from, to: lineEndAfter(page, endOf(item)), text: '' };
}

/** Values from the JSON of unknown keys; what has no JSON is null. */
export function fromJson(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromJson);
  if (isObject(value))
    return entries(...Object.entries(value).map(([key, one]) => [key, fromJson(one)] as const)) as Value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function dashOf(page: YamlPage, item: Node): number {
  return page.text.slice(page.from).lastIndexOf('-', startOf(item));
}

const startOf = (node: Node | undefined): number => node?.range?.[0] ?? 0;

function leading(page: YamlPage, at: number, eol: string): string {
  const before = page.text[page.from + at - 1];
  return at === 0 || before === '\n' ? '' : eol;
}

/** Where the content of a node ends: the range of a collection includes blank lines and comments after it. */
function endOf(node: Node | null | undefined): number {
  if (isMap(node) && !node.flow && node.items.length > 0) {
    const last = node.items.at(-1);
    return endOf((last?.value ?? last?.key) as Node | null);
  }
  if (isSeq(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1) as Node);
  return node?.range?.[1] ?? 0;
}

/** The start of the line after an offset. */
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
