import { isCollection, isMap, isScalar, isSeq } from 'yaml';
import type { Entry, Turnfile } from './turnfile.ts';

type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, unknown>>;

/** The changes to the entries of one section. */
export interface MapChange {
  add: readonly { id: string; fields: Fields }[];
  change: readonly { entry: Entry; fields: Fields }[];
  remove: readonly Entry[];
}

export interface Splice {
  start: number;
  end: number;
  text: string;
}

export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const splice of [...splices].sort((one, other) => one.start - other.start || one.end - other.end)) {
    if (splice.start < at) continue;
    parts.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  return [...parts, text.slice(at)].join('');
}

/** Sets fields of one entry; its other fields stay. */
export function setFields({ text }: Turnfile, entry: Entry, fields: Fields): Splice[] {
  const { node } = entry;
  if (!isMap(node) || node.flow || node.items.length === 0) {
    return [replaceNode(text, entry, JSON.stringify({ ...entry.fields, ...fields }))];
  }
  const splices: Splice[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const pair = node.items.findLast(({ key }) => isScalar(key) && key.value === name);
    if (pair) {
      const start = rangeOf(pair.key)[0];
      splices.push(replaceNode(text, { start, node: pair.value }, scalar(value)));
    } else added.push(`${name}: ${scalar(value)}`);
  }
  if (added.length > 0) {
    const pad = ' '.repeat(columnOf(text, rangeOf(node.items[0]?.key)[0]));
    splices.push(
      insertAfter(
        text,
        contentEnd(node),
        added.map((line) => pad + line),
      ),
    );
  }
  return splices;
}

/** Adds, changes and removes entries of a section that is a map. */
export function setEntries(
  turnfile: Turnfile,
  section: Entry,
  entries: ReadonlyMap<string, Entry>,
  { add, change, remove }: MapChange,
): Splice[] {
  const { text } = turnfile;
  const { node } = section;
  const left = entries.size - remove.length;
  const pad = ' '.repeat(columnOf(text, section.start) + 2);
  if (!isMap(node) || node.flow || left === 0) {
    const kept = [...entries.values()].filter((entry) => !remove.includes(entry));
    const merged = kept.map((entry) => ({
      id: entry.id,
      fields: { ...entry.fields, ...change.find((one) => one.entry === entry)?.fields },
    }));
    const all = [...merged, ...add];
    const lines = all.flatMap((one) => renderEntry(pad, one.id, one.fields));
    return [replaceNode(text, section, all.length === 0 ? '{}' : `\n${lines.join('\n')}`)];
  }
  const splices = change.flatMap((one) => setFields(turnfile, one.entry, one.fields));
  for (const entry of remove) {
    const start = lineStart(text, entry.start);
    // The blank line between entries belongs to the one after it.
    const gap = /(?<=\n)[ \t]*\r?\n$/.exec(text.slice(Math.max(0, start - 40), start))?.[0].length ?? 0;
    splices.push({ start: start - gap, end: lineEnd(text, contentEnd(entry.node) ?? entry.start), text: '' });
  }
  const first = node.items[0];
  const last = node.items.at(-1);
  if (add.length > 0 && first && last) {
    const indent = ' '.repeat(columnOf(text, rangeOf(first.key)[0]));
    const gap =
      node.items.length > 1 &&
      /\n[ \t]*\r?\n[ \t]*$/.test(text.slice(Math.max(0, rangeOf(last.key)[0] - 40), rangeOf(last.key)[0]));
    const lines = add.flatMap((one) => [...(gap ? [''] : []), ...renderEntry(indent, one.id, one.fields)]);
    splices.push(insertAfter(text, contentEnd(last.value) ?? rangeOf(last.key)[1], lines));
  }
  return splices;
}

/** A new section at the end of its map. */
export function addSection({ text }: Turnfile, within: Entry, name: string, lines: readonly string[]): Splice[] {
  const { node } = within;
  const first = isMap(node) ? node.items[0] : undefined;
  if (!isMap(node) || node.flow || !first) return [];
  const pad = ' '.repeat(columnOf(text, rangeOf(first.key)[0]));
  return [insertAfter(text, contentEnd(node), [...(pad === '' ? [''] : []), `${pad}${name}:`, ...lines])];
}

/** One entry in block style, with strings quoted so that no reader changes their type. */
export function renderEntry(pad: string, id: string, fields: Fields): string[] {
  return [
    `${pad}${key(id)}:`,
    ...Object.entries(fields).map(([name, value]) => `${pad}  ${key(name)}: ${scalar(value)}`),
  ];
}

export function scalar(value: unknown): string {
  return JSON.stringify((value as Value | undefined) ?? null).replace(/","/g, '", "');
}

export function key(id: string): string {
  const plain = /^[A-Za-z][\w.-]*$/.test(id) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(id);
  return plain ? id : JSON.stringify(id);
}

function replaceNode(text: string, { start, node }: Pick<Entry, 'start' | 'node'>, put: string): Splice {
  const [from, to] = rangeOf(node);
  // A key without a value has nothing to replace: the new value goes after its colon.
  const isThere = node !== null && node !== undefined && to > from;
  const at = isThere ? from : Math.max(from, text.indexOf(':', start) + 1);
  const onNewLine = put.startsWith('\n');
  let begin = at;
  if (onNewLine || !isThere) while (begin > start && (text[begin - 1] === ' ' || text[begin - 1] === '\t')) begin--;
  const end = isThere ? (isCollection(node) && !node.flow ? (contentEnd(node) ?? to) : to) : at;
  const blockIndent = isThere && isCollection(node) && !node.flow;
  const from2 = blockIndent ? text.indexOf(':', start) + 1 : begin;
  const feed = isThere && text[end - 1] === '\n' ? eolOf(text) : '';
  const gap = onNewLine || (isThere && !blockIndent) ? '' : ' ';
  return { start: from2, end, text: gap + put.replaceAll('\n', eolOf(text)) + feed };
}

function insertAfter(text: string, offset: number | null, lines: readonly string[]): Splice {
  const at = lineEnd(text, offset ?? text.length);
  const eol = eolOf(text);
  const before = at > 0 && text[at - 1] !== '\n' ? eol : '';
  return { start: at, end: at, text: before + lines.map((line) => line + eol).join('') };
}

/** Where the content of a node ends: after its last scalar, before what follows it. */
function contentEnd(node: unknown): number | null {
  let current = node;
  for (;;) {
    if (!isCollection(current) || current.flow || current.items.length === 0) break;
    const last: unknown = current.items.at(-1);
    if (isSeq(current)) current = last;
    else {
      const { key: name, value } = last as { key: unknown; value: unknown };
      if (value === null || value === undefined) return rangeOf(name)[1];
      current = value;
    }
  }
  return current === null || current === undefined ? null : rangeOf(current)[1];
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = (node as { range?: readonly number[] } | null | undefined)?.range;
  return [range?.[0] ?? 0, range?.[1] ?? 0];
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The offset after the line that contains the character before the offset. */
function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset;
  const feed = text.indexOf('\n', offset);
  return feed < 0 ? text.length : feed + 1;
}

const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

const eolOf = (text: string): string => (/\r\n/.test(text.slice(0, 2000)) ? '\r\n' : '\n');
