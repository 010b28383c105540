import { emitInline, emitItem, emitJson, emitLiteral, emitPair, emitScalar, type Manner } from './emit.ts';
import { at, type ListNode, type MapNode, type Node, type Pair, wordsOf } from './node.ts';

/**
 * Byte-exact edits of a text. They are collected against the original and applied once; an edit that changes nothing is
 * dropped.
 */
export interface Editor {
  readonly text: string;
  readonly changed: boolean;
  replace(start: number, end: number, by: string): void;
  /** Gives a node another value. */
  put(node: Node, value: unknown): void;
  /** Sets a scalar, a list or a map under a key; a new key goes first, or after the first of `after` that exists. */
  set(map: MapNode, key: string, value: unknown, after?: readonly string[] | 'first'): void;
  append(list: ListNode, items: readonly unknown[]): void;
  remove(list: ListNode, item: Node): void;
  /** Removes a key and all its duplicates; in a block map with the blank line before it, and not the only one left. */
  removeKey(map: MapNode, key: string): void;
  apply(): string;
}

export function openEditor(text: string, eol: string, manner: Manner): Editor {
  const draft: Draft = { text, eol, manner, splices: [], boxes: new Map(), gone: new Set(), ...positionsIn(text) };
  return {
    text,
    get changed() {
      return draft.splices.length > 0 || draft.boxes.size > 0;
    },
    replace: (start, end, by) => replace(draft, start, end, by),
    put: (node, value) => replaceValue(draft, null, node.start, node, value),
    set: (map, key, value, after = []) => setKey(draft, map, key, value, after),
    append: (list, items) => {
      if (items.length > 0) changesOf(draft, list).last.push(...items.map((value) => ({ value })));
    },
    remove: (list, item) => void changesOf(draft, list).removed.add(item.start),
    removeKey: (map, key) => removePairs(draft, map, key),
    apply: () => {
      // Neighbours share a comma, so all changes of one list or map are made at once.
      const shaped = [...draft.boxes].flatMap(([box, changes]) => reshape(draft, box, changes));
      draft.boxes.clear();
      const isCut = (splice: Splice): boolean =>
        shaped.some(({ start, end, by }) => by === '' && start <= splice.start && splice.end <= end && end > start);
      return applySplices(text, [...draft.splices.filter((splice) => !isCut(splice)), ...shaped]);
    },
  };
}

interface Splice {
  start: number;
  end: number;
  by: string;
}

/** What happens to the children of one list or map, which are known by where they start. */
interface Changes {
  removed: Set<number>;
  first: Addition[];
  last: (Addition & { after?: number })[];
}

interface Addition {
  key?: string;
  value: unknown;
}

interface Draft extends ReturnType<typeof positionsIn> {
  text: string;
  eol: string;
  manner: Manner;
  splices: Splice[];
  boxes: Map<MapNode | ListNode, Changes>;
  /** Pairs of block maps that are removed: nothing is added after them. */
  gone: Set<Pair>;
}

function replace({ text, eol, splices }: Draft, start: number, end: number, by: string): void {
  const put = by.replace(/\r?\n/g, eol);
  if (text.slice(start, end) !== put) splices.push({ start, end, by: put });
}

function changesOf({ boxes }: Draft, box: MapNode | ListNode): Changes {
  const known = boxes.get(box) ?? { removed: new Set<number>(), first: [], last: [] };
  boxes.set(box, known);
  return known;
}

function positionsIn(text: string) {
  // Searching backwards for a character that does not occur would scan the whole text each time.
  const feed = text.includes('\n') ? '\n' : '\r';
  const lineStart = (offset: number): number => text.lastIndexOf(feed, offset - 1) + 1;
  const indentOf = (offset: number): string => /^[ \t]*/.exec(text.slice(lineStart(offset), offset))?.[0] ?? '';
  return {
    lineStart,
    lineEnd(offset: number): number {
      const end = text.indexOf('\n', offset);
      if (end < 0) return text.length;
      return text[end - 1] === '\r' ? end - 1 : end;
    },
    column: (offset: number): number => offset - lineStart(offset),
    indentOf,
    indentAt: (offset: number): number => indentOf(offset).length,
  };
}

function setKey(draft: Draft, map: MapNode, key: string, value: unknown, after: readonly string[] | 'first'): void {
  const { text, manner, gone, lineStart, lineEnd, column, indentAt } = draft;
  const there = at(map, key);
  if (there) {
    if (says(there, value)) return;
    const pair = map.pairs.find((entry) => entry.value === there);
    if (pair) replaceValue(draft, map, pair.start, there, value);
    return;
  }
  const left = map.pairs.filter((entry) => !gone.has(entry));
  const named = after === 'first' ? [] : after;
  const before = named.map((name) => left.findLast((entry) => entry.key === name)).find(Boolean) ?? left.at(-1);
  const first = map.pairs[0];
  if (before && first && !map.flow) {
    const indent = column(first.start);
    const end = after === 'first' ? lineStart(first.start) : lineEnd(before.value.end);
    const pair = `${' '.repeat(indent)}${emitPair(key, value, indent, manner)}`;
    // Where entries stand apart, a new one does too.
    const gap = map.pairs.length > 1 && /\n[ \t]*\r?\n$/.test(text.slice(0, lineStart(before.start)).slice(-40));
    replace(draft, end, end, after === 'first' ? `${pair}\n` : `${gap ? '\n' : ''}\n${pair}`);
  } else if (!before && !first && manner.style !== 'json') {
    // An empty map in braces.
    const indent = indentAt(map.start) + 2;
    if (map.flow) replace(draft, map.start, map.end, emitInline({ [key]: value }, manner));
    else replace(draft, map.start, map.end, emitPair(key, value, indent, manner));
  } else {
    const changes = changesOf(draft, map);
    if (after === 'first') changes.first.push({ key, value });
    else changes.last.push({ key, value, ...(before ? { after: before.start } : {}) });
  }
}

function removePairs(draft: Draft, map: MapNode, key: string): void {
  const { text, gone, lineStart, lineEnd } = draft;
  for (const pair of [...map.pairs, ...(map.shadowed ?? [])].filter((entry) => entry.key === key)) {
    if (map.flow) {
      changesOf(draft, map).removed.add(pair.start);
      continue;
    }
    // On the line of a dash or of its map it cannot be cut out with the line.
    if (text.slice(lineStart(pair.start), pair.start).trim() !== '') {
      replaceValue(draft, map, pair.start, pair.value, null);
      continue;
    }
    gone.add(pair);
    const start = lineStart(pair.start);
    const gap = /(?<=\n)[ \t]*\r?\n$/.exec(text.slice(Math.max(0, start - 40), start))?.[0].length ?? 0;
    const end = lineEnd(pair.value.end);
    // With the line end before it, so that a key can be added where it ends.
    const from = start - gap;
    if (from > 0) replace(draft, text[from - 2] === '\r' ? from - 2 : from - 1, end, '');
    else replace(draft, 0, end < text.length ? text.indexOf('\n', end) + 1 : end, '');
  }
}

const childrenOf = (box: MapNode | ListNode): { start: number; end: number }[] =>
  box.type === 'list'
    ? box.items
    : [...box.pairs, ...(box.shadowed ?? [])]
        .map(({ start, value }) => ({ start, end: value.end }))
        .sort((one, other) => one.start - other.start);

/** The edits of one list, or of one map in braces: runs of removed children, then additions. */
function reshape(draft: Draft, box: MapNode | ListNode, changes: Changes): Splice[] {
  const { text, eol, manner, lineStart, lineEnd, column, indentOf } = draft;
  const children = childrenOf(box);
  const kept = children.filter(({ start }) => !changes.removed.has(start));
  const [head] = children;
  const put = (splices: Splice[]): Splice[] =>
    splices.map((splice) => ({ ...splice, by: splice.by.replace(/\r?\n/g, eol) }));
  if (box.type === 'list' && !box.flow && head) {
    const items = changes.last.map(({ value }) => value);
    const dash = text.lastIndexOf('-', head.start - 1);
    const emit = (item: unknown): string => emitItem(item, column(dash), manner);
    const lead = ' '.repeat(column(dash));
    const tail = lineEnd(kept.at(-1)?.end ?? head.end);
    if (kept.length === 0) {
      const end = children.at(-1)?.end ?? box.end;
      if (items.length > 0) return put([{ start: dash, end, by: items.map(emit).join(`\n${lead}`) }]);
      const colon = text.lastIndexOf(':', dash) + 1;
      const isBelow = colon > 0 && text.slice(colon, dash).trim() === '';
      return put([{ start: isBelow ? colon : dash, end, by: isBelow ? ' []' : '[]' }]);
    }
    const cuts = children
      .filter(({ start }) => changes.removed.has(start))
      .map(({ start, end }) => {
        const stop = lineEnd(end);
        return { start: lineStart(start), end: stop < text.length ? text.indexOf('\n', stop) + 1 : stop, by: '' };
      });
    const added = items.map((item) => `\n${lead}${emit(item)}`).join('');
    return put([...cuts, ...(added === '' ? [] : [{ start: tail, end: tail, by: added }])]);
  }
  if (box.type === 'list' && !head && manner.style !== 'json') {
    const items = changes.last.map(({ value }) => value);
    return put([valueSplice(draft, null, box.start, box, items)]);
  }
  const unit = manner.style === 'json' ? (manner.unit === undefined ? '  ' : manner.unit) : null;
  const spread = head ? /[\r\n]/.test(text.slice(box.start, head.start)) : unit !== null;
  const outer = indentOf(box.start);
  const indent = head && spread ? indentOf(head.start) : outer + (unit ?? '');
  const gap = spread ? `\n${indent}` : ' ';
  const emit = ({ key, value }: Addition): string => {
    const written =
      manner.style === 'json' ? emitJson(value, spread ? indent : outer, manner) : emitInline(value, manner);
    if (key === undefined) return written;
    return `${manner.style === 'json' ? emitJson(key, '', manner) : emitScalar(key, manner)}: ${written}`;
  };
  const tail = kept.at(-1);
  if (!tail) {
    const added = [...changes.first, ...changes.last].map(emit);
    const [open, close] = box.type === 'list' ? ['[', ']'] : ['{', '}'];
    const inside = added.length === 0 ? '' : spread ? `${gap}${added.join(`,${gap}`)}\n${outer}` : added.join(', ');
    return put([{ start: box.start, end: box.end, by: open + inside + close }]);
  }
  const splices: Splice[] = [];
  if (changes.first.length > 0 && head)
    splices.push({
      start: head.start,
      end: head.start,
      by: changes.first.map((one) => `${emit(one)},${gap}`).join(''),
    });
  for (const added of changes.last) {
    const place = kept.find(({ start }) => start === added.after)?.end ?? tail.end;
    splices.push({ start: place, end: place, by: `,${gap}${emit(added)}` });
  }
  for (const [from, to] of runs(children, changes.removed)) {
    const next = children[to + 1];
    const start = next ? (children[from]?.start ?? 0) : (children[from - 1]?.end ?? 0);
    splices.push({ start, end: next ? next.start : (children[to]?.end ?? start), by: '' });
  }
  return put(splices);
}

function* runs(
  children: readonly { start: number }[],
  removed: ReadonlySet<number>,
): Generator<[from: number, to: number]> {
  for (let from = 0; from < children.length; from++) {
    if (!removed.has(children[from]?.start ?? -1)) continue;
    let to = from;
    while (to + 1 < children.length && removed.has(children[to + 1]?.start ?? -1)) to++;
    yield [from, to];
    from = to;
  }
}

function replaceValue(draft: Draft, map: MapNode | null, keyStart: number, there: Node, value: unknown): void {
  const { start, end, by } = valueSplice(draft, map, keyStart, there, value);
  replace(draft, start, end, by);
}

function valueSplice(draft: Draft, map: MapNode | null, keyStart: number, there: Node, value: unknown): Splice {
  const { text, manner, column, indentAt, indentOf } = draft;
  const { start, end } = there;
  if (manner.style === 'json') return { start, end, by: emitJson(value, indentOf(start), manner) };
  if (typeof value === 'string' && there.type === 'scalar') {
    // Several lines stay a block, and a block stays one.
    const isBlock = there.quote === 'block';
    const whole = isBlock && there.words.endsWith('\n') && !value.endsWith('\n') ? `${value}\n` : value;
    const isWords = manner.style === 'words' && map && !map.flow;
    const literal = isWords ? emitLiteral(whole, column(keyStart) + 2, isBlock) : null;
    if (literal !== null) return { start, end, by: `${there.absent ? ' ' : ''}${literal.replace(/\n$/, '')}` };
    const quote = there.value === null || typeof there.value !== 'string' ? undefined : there.quote;
    return { start, end, by: `${there.absent ? ' ' : ''}${emitScalar(value, manner, quote)}` };
  }
  if (typeof value !== 'object' || value === null)
    return { start, end, by: `${isAbsent(there) ? ' ' : ''}${emitInline(value, manner)}` };
  if (map?.flow) return { start, end, by: emitInline(value, manner) };
  // Rendered as a pair and cut after the colon: the value may begin on the same line or below.
  const put = emitPair('k', value, map ? column(keyStart) : indentAt(keyStart), manner).slice(2);
  const colon = text.lastIndexOf(':', start - 1) + 1;
  const gap = text.slice(colon, start).trim() === '' ? colon : start;
  const by = gap === colon ? (put.startsWith('\n') ? put : ` ${put.trimStart()}`) : put.trimStart();
  return { start: gap, end, by };
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

const isAbsent = (node: Node): boolean => node.type === 'scalar' && node.absent;

function says(node: Node, value: unknown): boolean {
  if (node.type !== 'scalar') return false;
  if (value === null || value === undefined) return node.value === null;
  return typeof value === 'string' ? wordsOf(node) === value : node.value === value;
}
