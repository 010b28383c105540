import { createScanner, findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';

/**
 * Inserts values into JSON text and removes them. Every other byte stays: comments, blank lines, the style of brackets.
 * The edits of jsonc-parser reformat neighbours and leave comments beside the wrong entry.
 */

type Path = readonly (string | number)[];

export interface JsonText {
  value: unknown;
  /** The first syntax error; comments and trailing commas are allowed. */
  problem: { line: number } | null;
}

export function readJson(text: string): JsonText {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  const problem = first ? { line: text.slice(0, first.offset).split('\n').length } : null;
  return { value: tree ? getNodeValue(tree) : undefined, problem };
}

export function valueAt(text: string, path: Path): unknown {
  const node = nodeAt(text, path);
  return node ? getNodeValue(node) : undefined;
}

/** Sets or replaces a value, and creates the objects around it. */
export function setAt(text: string, path: Path, value: unknown): string {
  const found = nodeAt(text, path);
  if (found) {
    const indent = indentAt(text, found.offset);
    return text.slice(0, found.offset) + printed(text, value, indent) + text.slice(endOf(found));
  }
  if (nodeAt(text, []) === undefined) return setAt(`{}${eolOf(text)}`, path, value);
  const parent = path.slice(0, -1);
  const name = path.at(-1) ?? '';
  const container = nodeAt(text, parent);
  if (!container) return setAt(text, parent, { [name]: value });
  return insertLast(text, container, (indent) => `${JSON.stringify(name)}: ${printed(text, value, indent)}`);
}

/** Adds an element at the end of an existing list. */
export function appendAt(text: string, path: Path, value: unknown): string {
  const list = nodeAt(text, path);
  return list ? insertLast(text, list, (indent) => printed(text, value, indent)) : text;
}

/** Removes a property or element with its comma and, if nothing else is on them, its lines. */
export function removeAt(text: string, path: Path): string {
  const found = nodeAt(text, path);
  if (!found?.parent) return text;
  const element = found.parent.type === 'property' ? found.parent : found;
  const siblings = element.parent?.children ?? [];
  const before = siblings[siblings.indexOf(element) - 1];
  const comma = commaAfter(text, endOf(element));
  const end = comma === null ? endOf(element) : comma + 1;
  const without = cutLines(text, element.offset, end);
  const loose = comma === null && before ? commaAfter(text, endOf(before)) : null;
  return loose === null ? without : without.slice(0, loose) + without.slice(loose + 1);
}

function nodeAt(text: string, path: Path): Node | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  return tree && path.length > 0 ? findNodeAtLocation(tree, [...path]) : tree;
}

const endOf = (node: Node): number => node.offset + node.length;

/** The offset of the comma that comes next, ignoring comments; null if something else comes next. */
function commaAfter(text: string, offset: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === ',' ? at : null;
}

function insertLast(text: string, container: Node, print: (indent: string) => string): string {
  const eol = eolOf(text);
  const close = endOf(container) - 1;
  const last = container.children?.at(-1);
  if (!last) {
    const outer = indentAt(text, container.offset);
    const inner = outer + unitOf(text);
    const inside = text.slice(container.offset + 1, close).trimEnd();
    return `${text.slice(0, container.offset + 1)}${inside}${eol}${inner}${print(inner)}${eol}${outer}${text.slice(close)}`;
  }
  const comma = commaAfter(text, endOf(last));
  const after = comma === null ? endOf(last) : comma + 1;
  const lineEnd = text.slice(after, close).search(/\r?\n/);
  const head = comma === null ? `${text.slice(0, endOf(last))},` : text.slice(0, after);
  // The container is on one line, so the new value is too.
  if (lineEnd < 0) return `${head} ${print(indentAt(text, container.offset))}${text.slice(after)}`;
  const indent = indentAt(text, last.offset);
  const rest = after + lineEnd;
  const tail = comma === null ? '' : ',';
  return `${head}${text.slice(after, rest)}${eol}${indent}${print(indent)}${tail}${text.slice(rest)}`;
}

function printed(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${eolOf(text)}${indent}`);
}

export function eolOf(text: string): string {
  return /\r\n/.test(text) ? '\r\n' : '\n';
}

/** The white space at the start of the line. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function unitOf(text: string): string {
  return /^([ \t]+)["[{]/m.exec(text)?.[1] ?? '  ';
}

function cutLines(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(end)) ?? [''];
  if (text.slice(lineStart, start).trim() === '' && rest[1] !== undefined)
    return text.slice(0, lineStart) + text.slice(end + rest[0].length);
  const before = text.slice(0, start).replace(/[ \t]+$/, '');
  return before + text.slice(end);
}
