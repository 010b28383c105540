import { type Document, isAlias, isCollection, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import { rememberLast } from '../remember-last.ts';
import { tooLarge, YAML_LIMIT_CHARACTERS } from '../yaml-limit.ts';
import {
  canShield,
  maskElisions,
  maskOverEscapes,
  muteLine,
  type Repair,
  shieldLine,
  unshield,
} from './yaml-repair.ts';

/**
 * Front matter as a tree of nodes with offsets in the file. YAML and JSON are read alike, because JSON is YAML in
 * braces; so one editor serves all variants.
 */
export type Node = MapNode | ListNode | ScalarNode;

export interface MapNode {
  type: 'map';
  start: number;
  end: number;
  flow: boolean;
  pairs: Pair[];
}

export interface Pair {
  key: string;
  start: number;
  value: Node;
}

export interface ListNode {
  type: 'list';
  start: number;
  end: number;
  flow: boolean;
  items: Node[];
}

export interface ScalarNode {
  type: 'scalar';
  start: number;
  end: number;
  value: string | number | boolean | null;
  /** As written, without quotes: `007` stays `007`. */
  words: string;
  quote: 'none' | 'single' | 'double' | 'block';
  /** `key:` with nothing after it. */
  absent: boolean;
}

export interface Grown {
  root: Node | null;
  overEscaped: boolean;
  found: Repair['found'];
  /** Something could not be read even after repair. */
  broken: boolean;
}

const options = { uniqueKeys: false, strict: false, prettyErrors: false, logLevel: 'silent' } as const;
const LARGE = 24_576;
const PIECE = 8192;
const DEEPEST = 500;
const PASSES = 6;

/** Reads `text.slice(start, end)`. */
export const growTree = rememberLast(readTree);

function readTree(text: string, start: number, end: number): Grown {
  if (end - start > YAML_LIMIT_CHARACTERS) {
    const found = [{ code: 'too_large', level: 'error' as const, offset: start, message: `${tooLarge(end - start)}.` }];
    return { root: null, overEscaped: false, found, broken: true };
  }
  const source = text.slice(start, end);
  const escapes = maskOverEscapes(source);
  const elisions = maskElisions(escapes.text);
  const overEscaped = escapes.found.length > 0;
  const found = [...escapes.found, ...elisions.found];
  const shift = (entries: Repair['found']) => entries.map((entry) => ({ ...entry, offset: entry.offset + start }));
  if (isTooDeep(elisions.text)) {
    const message = 'Brackets are nested too deeply here to be a session.';
    return {
      root: null,
      overEscaped,
      found: shift([{ code: 'too_deep', level: 'error', offset: 0, message }]),
      broken: true,
    };
  }
  const { document, repairs, broken } = readPatiently(elisions.text);
  found.push(...repairs);
  const grower = { document, source, base: start, overEscaped, found, inAlias: false };
  const root = document === null ? null : grow(grower, document.contents);
  return { root: root?.type === 'scalar' && root.absent ? null : root, overEscaped, found: shift(found), broken };
}

interface Grower {
  document: Document;
  source: string;
  base: number;
  overEscaped: boolean;
  found: Repair['found'];
  inAlias: boolean;
}

/** Parses, repairs the lines with errors, parses again. Lines that still fail are omitted and reported. */
function readPatiently(source: string): { document: Document; repairs: Repair['found']; broken: boolean } {
  const repairs: Repair['found'] = [];
  const repairable = canShield(source);
  const end = readableEnd(source);
  let text = source.slice(0, end);
  if (end < source.length) {
    const message = 'Hardly any line from here on is valid YAML; the rest of the front matter is ignored.';
    repairs.push({ code: 'not_yaml', level: 'error', offset: end, message });
  }
  for (let pass = 1; ; pass++) {
    const document = parseDocument(text, options);
    if (document.errors.length === 0) return { document, repairs, broken: end < source.length };
    if (pass === (source.length > LARGE ? 3 : PASSES) || !repairable) {
      for (const error of document.errors.slice(0, 20)) {
        repairs.push({
          code: 'not_yaml',
          level: 'error',
          offset: error.pos[0],
          message: `This cannot be read as YAML: ${error.message}.`,
        });
      }
      return { document, repairs, broken: true };
    }
    const lines = text.split('\n');
    const wrong = linesAt(
      lines,
      document.errors.map((error) => Math.min(error.pos[0], Math.max(0, text.length - 1))),
    );
    for (const [index, offset] of wrong) {
      const line = lines[index] ?? '';
      const shielded = shieldLine(line);
      const mute = pass > 2 || shielded === line;
      lines[index] = mute ? muteLine(line) : shielded;
      repairs.push(
        mute
          ? {
              code: 'unreadable_line',
              level: 'error',
              offset,
              message: 'This line cannot be read as YAML and was ignored.',
            }
          : {
              code: 'unquoted',
              level: 'warning',
              offset,
              message: 'This line is not valid YAML; it was read as if quoted.',
            },
      );
    }
    text = lines.join('\n');
  }
}

/**
 * The parser's time grows with the square of the errors, so a large text is tried in pieces first and read up to the
 * first piece full of them.
 */
function readableEnd(source: string): number {
  if (source.length <= LARGE || isJson(source)) return source.length;
  if (/^\s*\{/.test(source)) return LARGE;
  // A text can be cut safely where a phase or a key begins.
  const seam = /\n(?=[ \t]*- id:|\S)/g;
  for (let start = 0; start < source.length; ) {
    seam.lastIndex = start + PIECE;
    const cut = seam.exec(source);
    const end = cut ? cut.index + 1 : source.length;
    const piece = source.slice(start, Math.min(end, start + PIECE * 4));
    if (parseDocument(piece, options).errors.length > 40) return start;
    start = end;
  }
  return source.length;
}

function isJson(source: string): boolean {
  if (!/^\s*\{/.test(source)) return false;
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

/** The lines that contain the offsets, each once, with their start. */
function linesAt(lines: readonly string[], offsets: readonly number[]): Map<number, number> {
  const sorted = [...offsets].sort((a, b) => a - b);
  const found = new Map<number, number>();
  let start = 0;
  let next = 0;
  for (const [index, line] of lines.entries()) {
    const after = start + line.length + 1;
    while (next < sorted.length && (sorted[next] ?? 0) < after) {
      found.set(index, start);
      next++;
    }
    start = after;
  }
  return found;
}

/** Counts brackets outside quotes; an unclosed quote extends to the end of its line. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\n') quote = '';
    else if (quote !== '') {
      if (character === '\\' && quote === '"') at++;
      else if (character === quote) quote = '';
    } else if (character === '"') quote = character;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
    if (depth > DEEPEST) return true;
  }
  return /(?:[-?:][ \t]{1,8}){200}/.test(text);
}

function grow(grower: Grower, node: unknown): Node {
  if (isAlias(node)) {
    const at = rangeOf(grower, node);
    const target = grower.inAlias ? undefined : node.resolve(grower.document);
    // An alias is read as its target but edited in place. An alias inside another is not followed: a few lines could
    // expand to gigabytes.
    const copy = target === undefined ? absent(at.start) : grow({ ...grower, inAlias: true }, target);
    return { ...copy, start: at.start, end: at.end };
  }
  if (isMap(node)) return growMap(grower, node);
  if (isSeq(node)) {
    const at = rangeOf(grower, node);
    const items = node.items.map((item) => grow(grower, item));
    const flow = node.flow === true;
    return { type: 'list', start: at.start, end: flow ? at.end : (items.at(-1)?.end ?? at.end), flow, items };
  }
  if (isScalar(node)) return growScalar(grower, node);
  return absent(grower.base);
}

function growMap(grower: Grower, node: Parameters<typeof isMap>[0] & object): MapNode {
  const at = rangeOf(grower, node);
  const flow = (node as { flow?: boolean }).flow === true;
  const pairs: Pair[] = [];
  const seen = new Set<string>();
  for (const item of (node as { items: unknown[] }).items) {
    if (!isPair(item)) continue;
    const keyRange = rangeOf(grower, item.key);
    const key = unshield(
      isScalar(item.key)
        ? String(item.key.value)
        : grower.source.slice(keyRange.start - grower.base, keyRange.end - grower.base),
    );
    if (seen.has(key)) {
      const message = `Duplicate key "${key}"; the last non-empty one counts.`;
      grower.found.push({ code: 'duplicate_key', level: 'warning', offset: keyRange.start - grower.base, message });
    }
    seen.add(key);
    const value = grow(grower, item.value);
    if (value.type === 'scalar' && value.absent) {
      const colon = grower.source.indexOf(':', keyRange.end - grower.base);
      value.start = value.end = colon < 0 ? keyRange.end : grower.base + colon + 1;
    }
    pairs.push({ key, start: keyRange.start, value });
  }
  return { type: 'map', start: at.start, end: flow ? at.end : (pairs.at(-1)?.value.end ?? at.end), flow, pairs };
}

function growScalar(
  grower: Grower,
  node: { value: unknown; source?: string; type?: string; range?: unknown },
): ScalarNode {
  const { start, end } = rangeOf(grower, node);
  const quotes = {
    QUOTE_SINGLE: 'single',
    QUOTE_DOUBLE: 'double',
    BLOCK_LITERAL: 'block',
    BLOCK_FOLDED: 'block',
  } as const;
  const quote = quotes[node.type as keyof typeof quotes] ?? 'none';
  const raw = typeof node.value === 'string' ? unshield(node.value) : node.value;
  const value = typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean' ? raw : null;
  const words = typeof value === 'string' ? value : (node.source ?? (value === null ? '' : String(value)));
  const escaped = grower.overEscaped && quote === 'double' && grower.source[start - grower.base - 1] === '\\';
  return {
    type: 'scalar',
    start: escaped ? start - 1 : start,
    end: escaped ? end + 1 : end,
    value,
    words,
    quote,
    absent: value === null && start === end,
  };
}

function rangeOf(grower: Grower, node: unknown): { start: number; end: number } {
  const range = isCollection(node) || isScalar(node) || isAlias(node) ? node.range : null;
  const start = range?.[0] ?? 0;
  let end = range?.[1] ?? start;
  // A block scalar's range includes the line ends after it.
  while (end > start && /\s/.test(grower.source[end - 1] ?? '')) end--;
  return { start: grower.base + start, end: grower.base + end };
}

function absent(at: number): ScalarNode {
  return { type: 'scalar', start: at, end: at, value: null, words: '', quote: 'none', absent: true };
}

/**
 * The value under a key; of duplicates the last non-empty one, so that an empty template line does not hide a value.
 */
export function at(node: Node | null | undefined, key: string): Node | null {
  return all(node, key).findLast((value) => !isEmpty(value)) ?? all(node, key).at(-1) ?? null;
}

/** All values under a key, including duplicates. */
export function all(node: Node | null | undefined, key: string): Node[] {
  return node?.type === 'map' ? node.pairs.filter((entry) => entry.key === key).map((entry) => entry.value) : [];
}

function isEmpty(node: Node): boolean {
  if (node.type === 'list') return node.items.length === 0;
  return node.type === 'map' ? node.pairs.length === 0 : node.value === null;
}

/** A node as plain JSON. */
export function plain(node: Node | null): unknown {
  if (node === null) return null;
  switch (node.type) {
    case 'map':
      return Object.fromEntries(node.pairs.map((pair) => [pair.key, plain(pair.value)]));
    case 'list':
      return node.items.map(plain);
    case 'scalar':
      return typeof node.value === 'number' && !Number.isFinite(node.value) ? node.words : node.value;
    default:
      return node satisfies never;
  }
}

/** The text of a scalar; null if it has none. */
export function wordsOf(node: Node | null): string | null {
  return node?.type === 'scalar' && node.value !== null && node.words !== '' ? node.words : null;
}
