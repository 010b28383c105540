import { type Node as JsonNode, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Manner } from './emit.ts';
import type { MapNode, Node, Pair } from './node.ts';

/** A JSON text as nodes, and its damage. */
export interface JsonText {
  text: string;
  /** The top-level object, for a damaged text as far as it could be read; null when there is none. */
  root: MapNode | null;
  /** True when only part of the text could be read. */
  damaged: boolean;
  /** The offset of the first damage; the end of an undamaged text. */
  soundUntil: number;
  found: { code: string; level: 'error' | 'warning'; offset: number; message: string }[];
}

/** Deeper than any state file; protects the recursive parser. */
const MAX_DEPTH = 200;

/** Never throws. Comments and trailing commas are allowed. */
export function parseJson(text: string): JsonText {
  const found: JsonText['found'] = [];
  const damaged = (root: MapNode | null, code: string, offset: number, message: string): JsonText => {
    found.push({ code, level: 'error', offset, message });
    return { text, root, damaged: true, soundUntil: offset, found };
  };
  const isMarked = text.startsWith('\ufeff');
  if (isMarked) {
    const message = 'The file begins with a byte order mark, which most JSON readers refuse.';
    found.push({ code: 'byte_order_mark', level: 'warning', offset: 0, message });
  }
  if (text.trim() === '') return damaged(null, 'empty', 0, 'The file is empty.');
  const binary = text.search(BINARY);
  if (binary >= 0) return damaged(null, 'binary', binary, 'The file has bytes that are not text.');
  const marker = /^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|$)/m.exec(text);
  if (marker)
    return damaged(null, 'conflict_markers', marker.index, 'Unresolved merge conflict: the file has conflict markers.');
  const deep = tooDeepAt(text);
  if (deep !== null)
    return damaged(null, 'too_deep', deep, `Values are nested more than ${MAX_DEPTH} levels deep here.`);
  const errors: ParseError[] = [];
  // A space in place of the byte order mark keeps every offset.
  const tree = parseTree(isMarked ? ` ${text.slice(1)}` : text, errors, {
    allowTrailingComma: true,
    disallowComments: false,
  });
  const root = tree?.type === 'object' ? (grow(text, tree) as MapNode) : null;
  const [first] = errors;
  if (first) return damaged(root, ...damageAt(text, first));
  if (!root) return damaged(null, 'not_an_object', 0, 'A state file is one JSON object.');
  return { text, root, damaged: false, soundUntil: text.length, found };
}

function grow(text: string, node: JsonNode): Node {
  const [start, end] = [node.offset, node.offset + node.length];
  if (node.type === 'array')
    return { type: 'list', start, end, flow: true, items: (node.children ?? []).map((child) => grow(text, child)) };
  if (node.type !== 'object') {
    const value = (node.value ?? null) as string | number | boolean | null;
    const words = typeof value === 'string' ? value : value === null ? '' : text.slice(start, end);
    const quote = typeof value === 'string' ? 'double' : 'none';
    return { type: 'scalar', start, end, value, words, quote, absent: false };
  }
  // The last of duplicate keys counts, as in every JSON reader.
  const pairs = new Map<string, Pair>();
  const shadowed: Pair[] = [];
  for (const { offset, children = [] } of node.children ?? []) {
    const [key, value] = children;
    if (typeof key?.value !== 'string' || !value) continue;
    const before = pairs.get(key.value);
    if (before) shadowed.push(before);
    pairs.delete(key.value);
    pairs.set(key.value, { key: key.value, start: offset, value: grow(text, value) });
  }
  return {
    type: 'map',
    start,
    end,
    flow: true,
    pairs: [...pairs.values()],
    ...(shadowed.length > 0 ? { shadowed } : {}),
  };
}

/** How a JSON text is written: its indentation, and whether it escapes what is not ASCII. */
export function jsonManner({ text, root }: Pick<JsonText, 'text' | 'root'>): Manner {
  const ascii = /\\u[0-9a-f]{4}/i.test(text) && !hasBeyondAscii(text);
  return { style: 'json', overEscaped: false, unit: indentUnit(text, root), ascii };
}

/** The indentation of one level; null for a text on one line. */
function indentUnit(text: string, root: MapNode | null): string | null {
  const first = root?.pairs[0];
  if (!root || !first) return '  ';
  const between = text.slice(root.start + 1, first.start);
  return /[\r\n]([ \t]*)$/.exec(between)?.[1] ?? (/[\r\n]/.test(text.slice(root.start, root.end)) ? '  ' : null);
}

function hasBeyondAscii(text: string): boolean {
  for (let index = text.startsWith('\ufeff') ? 1 : 0; index < text.length; index++)
    if (text.charCodeAt(index) > 0x7f) return true;
  return false;
}

/** Control characters that no text file has; built here so that this source has none. */
const BINARY = new RegExp(
  `[${['0000-0008', '000e-001a', '001c-001f', 'fffe-ffff'].map((range) => range.replace(/[0-9a-f]{4}/g, (digits) => `\\u${digits}`)).join('')}]`,
);

function damageAt(
  text: string,
  { offset, error, length }: ParseError,
): [code: string, offset: number, message: string] {
  const here = text.slice(Math.max(0, offset - 3), offset + 6);
  if (/\.{3}|…/.test(here)) return ['elided', offset, 'Part of the file was elided here.'];
  const end = text.trimEnd().length;
  const atEnd = offset + length >= end && printParseErrorCode(error) !== 'EndOfFileExpected';
  if (atEnd) return ['truncated', offset, 'The file ends in the middle.'];
  return ['not_json', offset, 'The file cannot be read as JSON from here on.'];
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
