import { emitInline, emitItem, emitPair, emitScalar, type Manner } from './emit.ts';
import { at, type ListNode, type MapNode, type Node, type Pair, wordsOf } from './node.ts';

/**
 * Byte-exact edits of a text. They are collected against the original and applied once; an edit that changes nothing is
 * dropped.
 */
export interface Editor {
  readonly text: string;
  readonly changed: boolean;
  replace(start: number, end: number, by: string): void;
  /** Sets a scalar, a list or a map under a key; a new key goes after the first of `after` that exists. */
  set(map: MapNode, key: string, value: unknown, after?: readonly string[]): void;
  append(list: ListNode, items: readonly unknown[]): void;
  remove(list: ListNode, item: Node): void;
  /** Removes a pair of a block map with the blank line before it; one that is not the only one left. */
  removeKey(map: MapNode, key: string): void;
  apply(): string;
}

export function openEditor(text: string, eol: string, manner: Manner): Editor {
  const splices: Splice[] = [];
  const removed = new Map<ListNode, Set<Node>>();
  const replace = (start: number, end: number, by: string): void => {
    const put = by.replace(/\r?\n/g, eol);
    if (text.slice(start, end) !== put) splices.push({ start, end, by: put });
  };
  const gone = new Set<Pair>();
  const draft = { text, manner, replace, gone, ...positionsIn(text) };
  return {
    text,
    get changed() {
      return splices.length > 0 || removed.size > 0;
    },
    replace,
    set: (map, key, value, after = []) => setKey(draft, map, key, value, after),
    append: (list, items) => appendItems(draft, list, items),
    remove: (list, item) => void removed.set(list, (removed.get(list) ?? new Set()).add(item)),
    removeKey: (map, key) => removePairs(draft, map, key),
    apply: () => {
      // Neighbours share a comma, so what goes from one list goes at once.
      for (const [list, items] of removed) removeItems(draft, list, items);
      removed.clear();
      return applySplices(text, splices);
    },
  };
}

interface Splice {
  start: number;
  end: number;
  by: string;
}

interface Draft extends ReturnType<typeof positionsIn> {
  text: string;
  manner: Manner;
  replace: Editor['replace'];
  /** Pairs that are removed: nothing is added after them. */
  gone: Set<Pair>;
}

function positionsIn(text: string) {
  const lineStart = (offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;
  return {
    lineStart,
    lineEnd(offset: number): number {
      const end = text.indexOf('\n', offset);
      if (end < 0) return text.length;
      return text[end - 1] === '\r' ? end - 1 : end;
    },
    column: (offset: number): number => offset - lineStart(offset),
    indentAt: (offset: number): number => (/^[ \t]*/.exec(text.slice(lineStart(offset), offset))?.[0] ?? '').length,
  };
}

function setKey(draft: Draft, map: MapNode, key: string, value: unknown, after: readonly string[]): void {
  const { text, manner, replace, gone, lineStart, lineEnd, column, indentAt } = draft;
  const there = at(map, key);
  if (there) {
    if (says(there, value)) return;
    const pair = map.pairs.find((entry) => entry.value === there);
    if (pair) replaceValue(draft, map, pair.start, there, value);
    return;
  }
  const left = map.pairs.filter((entry) => !gone.has(entry));
  const before = after.map((name) => left.findLast((entry) => entry.key === name)).find(Boolean) ?? left.at(-1);
  const first = map.pairs[0];
  if (!before || !first) {
    // An empty map in braces.
    const indent = indentAt(map.start) + 2;
    const pair = emitPair(key, value, indent, manner);
    if (manner.style === 'json')
      replace(map.start, map.end, `{\n${' '.repeat(indent)}${pair}\n${' '.repeat(indent - 2)}}`);
    else if (map.flow) replace(map.start, map.end, emitInline({ [key]: value }, manner));
  } else if (!map.flow) {
    const indent = column(first.start);
    const end = lineEnd(before.value.end);
    // Where entries stand apart, a new one does too.
    const gap = map.pairs.length > 1 && /\n[ \t]*\r?\n$/.test(text.slice(0, lineStart(before.start)).slice(-40));
    replace(end, end, `${gap ? '\n' : ''}\n${' '.repeat(indent)}${emitPair(key, value, indent, manner)}`);
  } else if (isSpread(draft, map)) {
    const indent = indentAt(first.start);
    replace(before.value.end, before.value.end, `,\n${' '.repeat(indent)}${emitPair(key, value, indent, manner)}`);
  } else {
    const name = manner.style === 'json' ? JSON.stringify(key) : emitScalar(key, manner);
    replace(before.value.end, before.value.end, `, ${name}: ${emitInline(value, manner)}`);
  }
}

function removePairs({ text, replace, gone, lineStart, lineEnd }: Draft, map: MapNode, key: string): void {
  for (const pair of map.pairs.filter((entry) => entry.key === key)) {
    gone.add(pair);
    const start = lineStart(pair.start);
    const gap = /(?<=\n)[ \t]*\r?\n$/.exec(text.slice(Math.max(0, start - 40), start))?.[0].length ?? 0;
    const end = lineEnd(pair.value.end);
    replace(start - gap, end < text.length ? text.indexOf('\n', end) + 1 : end, '');
  }
}

function appendItems(draft: Draft, list: ListNode, items: readonly unknown[]): void {
  const { text, manner, replace, lineEnd, column, indentAt } = draft;
  const last = list.items.at(-1);
  if (items.length === 0) return;
  if (!last) {
    replaceValue(draft, null, list.start, list, items);
  } else if (!list.flow) {
    const dash = text.lastIndexOf('-', last.start - 1);
    const indent = column(dash);
    const end = lineEnd(last.end);
    replace(end, end, items.map((item) => `\n${' '.repeat(indent)}${emitItem(item, indent, manner)}`).join(''));
  } else if (isSpread(draft, list)) {
    const indent = indentAt(last.start);
    const emit = (item: unknown) =>
      manner.style === 'json' ? emitItem(item, indent, manner) : emitInline(item, manner);
    replace(last.end, last.end, items.map((item) => `,\n${' '.repeat(indent)}${emit(item)}`).join(''));
  } else {
    replace(last.end, last.end, items.map((item) => `, ${emitInline(item, manner)}`).join(''));
  }
}

function removeItems(draft: Draft, list: ListNode, gone: ReadonlySet<Node>): void {
  const { text, replace, lineStart, lineEnd } = draft;
  const { items } = list;
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last) return;
  if (items.every((item) => gone.has(item))) {
    if (list.flow) replace(first.start, last.end, '');
    else replace(list.start, last.end, '[]');
    return;
  }
  for (const [index, item] of items.entries()) {
    if (!gone.has(item)) continue;
    if (!list.flow) {
      const end = lineEnd(item.end);
      replace(lineStart(item.start), end < text.length ? text.indexOf('\n', end) + 1 : end, '');
      continue;
    }
    // One that follows an entry that stays takes the comma before it, one in front of the first that stays the one after.
    const before = items.slice(0, index).findLast((one) => !gone.has(one));
    const previous = items[index - 1];
    const next = items[index + 1];
    if (before && previous) replace(previous.end, item.end, '');
    else if (next) replace(item.start, next.start, '');
  }
}

function replaceValue(draft: Draft, map: MapNode | null, keyStart: number, there: Node, value: unknown): void {
  const { text, manner, replace, column, indentAt } = draft;
  const start = there.start;
  if (typeof value === 'string' && there.type === 'scalar') {
    const quote = there.value === null || typeof there.value !== 'string' ? undefined : there.quote;
    replace(start, there.end, `${there.absent ? ' ' : ''}${emitScalar(value, manner, quote)}`);
    return;
  }
  if (typeof value !== 'object' || value === null) {
    replace(start, there.end, `${isAbsent(there) ? ' ' : ''}${emitInline(value, manner)}`);
    return;
  }
  if (map?.flow && manner.style !== 'json') {
    replace(start, there.end, emitInline(value, manner));
    return;
  }
  // Rendered as a pair and cut after the colon: the value may begin on the same line or below.
  const line = map ? column(keyStart) : indentAt(keyStart);
  const indent = manner.style === 'json' ? indentAt(keyStart) : line;
  const put = emitPair('k', value, indent, manner).slice(manner.style === 'json' ? 5 : 2);
  const colon = text.lastIndexOf(':', start - 1) + 1;
  const gap = text.slice(colon, start).trim() === '' ? colon : start;
  replace(gap, there.end, gap === colon ? (put.startsWith('\n') ? put : ` ${put.trimStart()}`) : put.trimStart());
}

function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, by } of [...splices].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < from) throw new Error(`Two edits of the same text at ${start}.`);
    parts.push(text.slice(from, start), by);
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

const isSpread = ({ text }: Draft, node: MapNode | ListNode): boolean =>
  text.slice(node.start, node.end).includes('\n');

const isAbsent = (node: Node): boolean => node.type === 'scalar' && node.absent;

function says(node: Node, value: unknown): boolean {
  if (node.type !== 'scalar') return false;
  if (value === null || value === undefined) return node.value === null;
  return typeof value === 'string' ? wordsOf(node) === value : node.value === value;
}
