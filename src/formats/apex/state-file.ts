import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Problem } from '../format.ts';
import { lineFinder } from '../text/lines.ts';

/** A JSON text with positions: its values, its problems and their lines. */
export interface StateFile {
  path: string;
  text: string;
  /** The top-level object, for a damaged text as far as it could be read; null when there is none. */
  root: Node | null;
  /** True when only part of the text could be read. */
  damaged: boolean;
  /** The offset of the first damage; the end of an undamaged text. */
  soundUntil: number;
  problems: Problem[];
  lineAt(offset: number): number;
}

/** Deeper than any state file; protects the recursive parser. */
const MAX_DEPTH = 200;

export function openStateFile(path: string, text: string): StateFile {
  const lineAt = lineFinder(text);
  const problems: Problem[] = [];
  const say = (code: string, level: Problem['level'], offset: number | null, message: string): void => {
    problems.push({ code, level, path, line: offset === null ? null : lineAt(offset), message });
  };
  const damaged = (root: Node | null, soundUntil: number): StateFile => ({
    path,
    text,
    root,
    damaged: true,
    soundUntil,
    problems,
    lineAt,
  });
  const start = text.startsWith('\ufeff') ? 1 : 0;
  if (start === 1)
    say('byte_order_mark', 'warning', 0, 'The file begins with a byte order mark, which most JSON readers refuse.');
  if (text.trim() === '') {
    say('empty', 'error', 0, 'The file is empty.');
    return damaged(null, 0);
  }
  const binary = text.search(BINARY);
  if (binary >= 0) {
    say('binary', 'error', binary, 'The file has bytes that are not text.');
    return damaged(null, binary);
  }
  const marker = /^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|$)/m.exec(text);
  if (marker) {
    say('conflict_markers', 'error', marker.index, 'Unresolved merge conflict: the file has conflict markers.');
    return damaged(null, marker.index);
  }
  const deep = tooDeepAt(text);
  if (deep !== null) {
    say('too_deep', 'error', deep, `Values are nested more than ${MAX_DEPTH} levels deep here.`);
    return damaged(null, deep);
  }
  const errors: ParseError[] = [];
  // A space in place of the byte order mark keeps every offset.
  const tree = parseTree(start === 1 ? ` ${text.slice(1)}` : text, errors, {
    allowTrailingComma: true,
    disallowComments: false,
  });
  const root = tree?.type === 'object' ? tree : null;
  const [first] = errors;
  if (first) {
    const [code, message] = damageAt(text, first);
    say(code, 'error', first.offset, message);
    return damaged(root, first.offset);
  }
  if (!root) {
    say('not_an_object', 'error', 0, 'A state file is one JSON object.');
    return damaged(null, 0);
  }
  return { path, text, root, damaged: false, soundUntil: text.length, problems, lineAt };
}

/** The last of duplicate keys counts, as in every JSON reader. */
export function member(node: Node | null | undefined, key: string): Node | undefined {
  return node?.type === 'object'
    ? node.children?.findLast((property) => property.children?.[0]?.value === key)?.children?.[1]
    : undefined;
}

/** The keys and values of an object, in order; of a duplicate key only the last. */
export function members(node: Node | null | undefined): [key: string, value: Node, property: Node][] {
  const found = new Map<string, [string, Node, Node]>();
  for (const property of node?.type === 'object' ? (node.children ?? []) : []) {
    const [key, value] = property.children ?? [];
    if (typeof key?.value !== 'string' || !value) continue;
    found.delete(key.value);
    found.set(key.value, [key.value, value, property]);
  }
  return [...found.values()];
}

export const elements = (node: Node | null | undefined): readonly Node[] =>
  node?.type === 'array' ? (node.children ?? []) : [];

export const stringAt = (node: Node | null | undefined, key: string): string | undefined => {
  const value = member(node, key)?.value as unknown;
  return typeof value === 'string' ? value : undefined;
};

/** Control characters that no text file has; built here so that this source has none. */
const BINARY = new RegExp(
  `[${['0000-0008', '000e-001a', '001c-001f', 'fffe-ffff'].map((range) => range.replace(/[0-9a-f]{4}/g, (digits) => `\\u${digits}`)).join('')}]`,
);

function damageAt(text: string, { offset, error, length }: ParseError): [code: string, message: string] {
  const here = text.slice(Math.max(0, offset - 3), offset + 6);
  if (/\.{3}|…/.test(here)) return ['elided', 'Part of the file was elided here.'];
  const end = text.trimEnd().length;
  const atEnd = offset + length >= end && printParseErrorCode(error) !== 'EndOfFileExpected';
  if (atEnd) return ['truncated', 'The file ends in the middle.'];
  return ['not_json', 'The file cannot be read as JSON from here on.'];
}

function tooDeepAt(text: string): number | null {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22 || code === 0x0a) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) return index;
    } else if (code === 0x7d || code === 0x5d) depth = Math.max(0, depth - 1);
  }
  return null;
}
