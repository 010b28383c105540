import type { Node } from 'jsonc-parser';
import { writeJson } from './json.ts';
import type { StateFile } from './state-file.ts';

/**
 * Edits a JSON text in place: what is not touched keeps its bytes. Edits are collected and applied once, so many
 * changes to a long file cost one pass.
 */
export interface Editor {
  replace(node: Node, value: unknown): void;
  /** Sets a key of an object: its value if it is there, else a new member at the end or, if asked for, at the beginning. */
  set(object: Node, key: string, value: unknown, first?: boolean): void;
  append(array: Node, value: unknown): void;
  /** Removes a member of an object (given its value) or an element of an array. */
  remove(container: Node, child: Node): void;
  touched(): boolean;
  text(): string;
}

export function editorOf(file: StateFile): Editor {
  const style = styleOf(file);
  const values = new Map<Node, unknown>();
  const containers = new Map<Node, Changes>();
  const changesOf = (node: Node): Changes => {
    const known = containers.get(node) ?? { removed: new Set<Node>(), first: [], last: [] };
    containers.set(node, known);
    return known;
  };
  return {
    replace: (node, value) => void values.set(node, value),
    set(object, key, value, first = false) {
      const property = object.children?.findLast((child) => keyOf(child) === key);
      const node = property?.children?.[1];
      if (node) values.set(node, value);
      else changesOf(object)[first ? 'first' : 'last'].push({ key, value });
    },
    append: (array, value) => void changesOf(array).last.push({ value }),
    remove(container, child) {
      const { removed } = changesOf(container);
      if (container.type !== 'object') removed.add(child);
      // Both members of a duplicate key are removed, or the earlier one would be read instead.
      else
        for (const property of container.children ?? [])
          if (keyOf(property) === keyOf(child.parent)) removed.add(property);
    },
    touched: () => values.size > 0 || containers.size > 0,
    text() {
      const edits = [
        ...[...containers].flatMap(([node, changes]) => reshape(node, changes, style)),
        ...[...values].map(([node, value]) => ({
          offset: node.offset,
          length: node.length,
          text: style.written(value, style.indentOf(node.offset)),
        })),
      ];
      return apply(file.text, edits);
    },
  };
}

/** What happens to the children of one object or array. */
interface Changes {
  removed: Set<Node>;
  first: Addition[];
  last: Addition[];
}

/** How the file is written: its line end, its indentation and whether it escapes what is not ASCII. */
interface Style {
  text: string;
  eol: string;
  unit: string | null;
  written(value: unknown, indent: string): string;
  indentOf(offset: number): string;
}

function styleOf({ text, root }: StateFile): Style {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  // Searching backwards for a character that does not occur would scan the whole text each time.
  const lineEnd = eol === '\r' ? '\r' : '\n';
  const unit = indentUnit(text, root);
  const ascii = /\\u[0-9a-f]{4}/i.test(text) && !hasBeyondAscii(text);
  return {
    text,
    eol,
    unit,
    written(value, indent) {
      const json = writeJson(value, unit);
      const plain = ascii
        ? json.replace(/[^\0-\x7f]/g, (unit16) => `\\u${unit16.charCodeAt(0).toString(16).padStart(4, '0')}`)
        : json;
      return plain.replaceAll('\n', eol + indent);
    },
    indentOf(offset) {
      const start = text.lastIndexOf(lineEnd, offset - 1) + 1;
      return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
    },
  };
}

/** The edits of one object or array: runs of removed children, then additions at either end. */
function reshape(node: Node, { removed, first, last }: Changes, style: Style): Edit[] {
  const { text, eol, unit, written, indentOf } = style;
  const children = node.children ?? [];
  const kept = children.filter((child) => !removed.has(child));
  const [head] = children;
  const spread = head ? /[\r\n]/.test(text.slice(node.offset, head.offset)) : unit !== null;
  const indent = head && spread ? indentOf(head.offset) : indentOf(node.offset) + (unit ?? '');
  const gap = spread ? eol + indent : ' ';
  const added = [...first, ...last].map(
    ({ key, value }) =>
      (key === undefined ? '' : `${written(key, '')}: `) + written(value, spread ? indent : indentOf(node.offset)),
  );
  const tail = kept.at(-1);
  if (!tail) {
    const [open, close] = node.type === 'array' ? ['[', ']'] : ['{', '}'];
    const inside =
      added.length === 0 ? '' : spread ? gap + added.join(`,${gap}`) + eol + indentOf(node.offset) : added.join(', ');
    return [{ offset: node.offset, length: node.length, text: open + inside + close }];
  }
  const edits: Edit[] = [];
  const front = added.slice(0, first.length);
  const back = added.slice(first.length);
  if (front.length > 0 && head)
    edits.push({ offset: head.offset, length: 0, text: front.map((member) => `${member},${gap}`).join('') });
  if (back.length > 0)
    edits.push({ offset: endOf(tail), length: 0, text: back.map((member) => `,${gap}${member}`).join('') });
  for (const [from, to] of runs(children, removed)) {
    const next = children[to + 1];
    const start = next ? (children[from]?.offset ?? 0) : endOf(children[from - 1]);
    edits.push({ offset: start, length: (next ? next.offset : endOf(children[to])) - start, text: '' });
  }
  return edits;
}

interface Addition {
  key?: string;
  value: unknown;
}

interface Edit {
  offset: number;
  length: number;
  text: string;
}

const keyOf = (property: Node | undefined): unknown => property?.children?.[0]?.value;

const endOf = (node: Node | undefined): number => (node ? node.offset + node.length : 0);

function* runs(children: readonly Node[], removed: ReadonlySet<Node>): Generator<[from: number, to: number]> {
  for (let from = 0; from < children.length; from++) {
    if (!removed.has(children[from] as Node)) continue;
    let to = from;
    while (to + 1 < children.length && removed.has(children[to + 1] as Node)) to++;
    yield [from, to];
    from = to;
  }
}

function apply(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  // An insertion comes before a removal at the same offset.
  for (const edit of [...edits].sort((one, other) => one.offset - other.offset || one.length - other.length)) {
    // An edit inside a removed range is dropped.
    if (edit.offset < at) continue;
    parts.push(text.slice(at, edit.offset), edit.text);
    at = edit.offset + edit.length;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** The indentation of one level; null for a file on one line. */
function indentUnit(text: string, root: Node | null): string | null {
  const first = root?.children?.[0];
  if (!root || !first) return '  ';
  const between = text.slice(root.offset + 1, first.offset);
  return (
    /[\r\n]([ \t]*)$/.exec(between)?.[1] ??
    (/[\r\n]/.test(text.slice(root.offset, root.offset + root.length)) ? '  ' : null)
  );
}

function hasBeyondAscii(text: string): boolean {
  for (let index = text.startsWith('\ufeff') ? 1 : 0; index < text.length; index++)
    if (text.charCodeAt(index) > 0x7f) return true;
  return false;
}
