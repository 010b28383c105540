import type { Node } from 'jsonc-parser';
import { writeJson } from './json.ts';
import type { StateFile } from './state-file.ts';

/**
 * Changes a JSON text in place: what is not touched keeps its bytes. Everything is collected first and laid over the
 * text once, so that many changes to a long file cost one pass.
 */
export interface Editor {
  /** Gives a value another one. */
  replace(node: Node, value: unknown): void;
  /** Sets a key of an object: its value if it is there, else a new member at the end or, if asked for, at the beginning. */
  set(object: Node, key: string, value: unknown, first?: boolean): void;
  append(array: Node, value: unknown): void;
  /** Takes a member out of an object (by its value) or an element out of an array. */
  remove(container: Node, child: Node): void;
  touched(): boolean;
  text(): string;
}

export function editorOf({ text, root }: StateFile): Editor {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  // Looking back for a character that is nowhere would walk through the whole text each time.
  const lineEnd = eol === '\r' ? '\r' : '\n';
  const unit = indentUnit(text, root);
  const oneLine = unit === null;
  const ascii = /\\u[0-9a-f]{4}/i.test(text) && !hasBeyondAscii(text);
  const values = new Map<Node, unknown>();
  const containers = new Map<Node, { removed: Set<Node>; first: Addition[]; last: Addition[] }>();
  const of = (node: Node) => {
    const known = containers.get(node) ?? { removed: new Set<Node>(), first: [], last: [] };
    containers.set(node, known);
    return known;
  };

  const written = (value: unknown, indent: string): string => {
    const json = writeJson(value, unit);
    const plain = ascii
      ? json.replace(/[^\0-\x7f]/g, (unit16) => `\\u${unit16.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json;
    return plain.replaceAll('\n', eol + indent);
  };
  const indentOf = (offset: number): string => {
    const start = text.lastIndexOf(lineEnd, offset - 1) + 1;
    return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
  };
  const memberText = ({ key, value }: Addition, indent: string): string =>
    (key === undefined ? '' : `${written(key, '')}: `) + written(value, indent);

  /** The edits of one object or array: runs of removed children, then additions at either end. */
  const reshape = (node: Node): Edit[] => {
    const { removed, first, last } = of(node);
    const children = node.children ?? [];
    const kept = children.filter((child) => !removed.has(child));
    const [head] = children;
    const spread = head ? /[\r\n]/.test(text.slice(node.offset, head.offset)) : !oneLine;
    const indent = head && spread ? indentOf(head.offset) : indentOf(node.offset) + (unit ?? '');
    const gap = spread ? eol + indent : ' ';
    const added = [...first, ...last].map((addition) => memberText(addition, spread ? indent : indentOf(node.offset)));
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
  };

  return {
    replace: (node, value) => void values.set(node, value),
    set(object, key, value, first = false) {
      const property = object.children?.findLast((child) => child.children?.[0]?.value === key);
      const node = property?.children?.[1];
      if (node) values.set(node, value);
      else of(object)[first ? 'first' : 'last'].push({ key, value });
    },
    append: (array, value) => void of(array).last.push({ value }),
    remove(container, child) {
      of(container).removed.add(container.type === 'object' ? (child.parent ?? child) : child);
    },
    touched: () => values.size > 0 || containers.size > 0,
    text() {
      const edits = [
        ...[...containers.keys()].flatMap(reshape),
        ...[...values].map(([node, value]) => ({
          offset: node.offset,
          length: node.length,
          text: written(value, indentOf(node.offset)),
        })),
      ];
      return apply(text, edits);
    },
  };
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
  // What is put in stands before what is taken out at the same place.
  for (const edit of [...edits].sort((one, other) => one.offset - other.offset || one.length - other.length)) {
    // A change inside of what was taken out is gone with it.
    if (edit.offset < at) continue;
    parts.push(text.slice(at, edit.offset), edit.text);
    at = edit.offset + edit.length;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** What one level is indented by; null for a file that is all on one line. */
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
