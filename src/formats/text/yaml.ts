import { type Document, isAlias, isCollection, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import { rememberTexts } from '../remember-last.ts';
import { tooLarge, YAML_LIMIT_CHARACTERS } from '../yaml-limit.ts';
import type { MapNode, Node, Pair, ScalarNode } from './node.ts';

/**
 * A text, or the part of one between two offsets, as nodes; null where it has none. Never throws: damage goes to
 * `onError`. Anchors are not followed, since a few lines could expand to gigabytes.
 */
export function parseYaml(
  text: string,
  onError: OnError,
  onDuplicate: Grower['onDuplicate'],
  part?: readonly [start: number, end: number],
): Node | null {
  const { node, errors, duplicates } = part ? readTree(text, part) : trees(text);
  for (const error of errors) onError(...error);
  for (const duplicate of duplicates) onDuplicate(...duplicate);
  return node;
}

type OnError = (code: string, offset: number, message: string) => void;

/** Nodes are never changed, so each text is parsed once. */
export const trees = rememberTexts((text) => readTree(text, [text.startsWith('\ufeff') ? 1 : 0, text.length]));

function readTree(text: string, [base, end]: readonly [start: number, end: number]) {
  const errors: Parameters<OnError>[] = [];
  const duplicates: Parameters<Grower['onDuplicate']>[] = [];
  const source = text.slice(base, end);
  const failed = (...error: Parameters<OnError>) => ({ node: null, errors: [...errors, error], duplicates });
  if (source.length > YAML_LIMIT_CHARACTERS) return failed('too_large', 0, `${tooLarge(source.length)}.`);
  try {
    const document = parseDocument(source, {
      uniqueKeys: false,
      strict: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    for (const { pos, message } of document.errors.slice(0, 1))
      errors.push(['not_yaml', base + pos[0], `This is not YAML: ${(message.split('\n')[0] ?? '').slice(0, 200)}.`]);
    const reading = (words: string): string => words;
    const onDuplicate: Grower['onDuplicate'] = (...duplicate) => void duplicates.push(duplicate);
    const node = growNodes({ document, source, base, overEscaped: false, reading, onDuplicate, inAlias: true });
    return { node, errors, duplicates };
  } catch {
    return failed('not_yaml', 0, 'This is nested too deeply to be read as YAML.');
  }
}

/** A parsed document, to be made into nodes. */
export interface Grower {
  document: Document;
  /** What was parsed, and where it begins in the whole text. */
  source: string;
  base: number;
  /** The file writes `\\"` for `"`. */
  overEscaped: boolean;
  /** Takes back what a repair changed in a text before it was parsed. */
  reading(text: string): string;
  onDuplicate(key: string, offset: number): void;
  inAlias: boolean;
}

export function growNodes(grower: Grower): Node {
  return grow(grower, grower.document.contents);
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
    const key = grower.reading(
      isScalar(item.key)
        ? String(item.key.value)
        : grower.source.slice(keyRange.start - grower.base, keyRange.end - grower.base),
    );
    if (seen.has(key)) grower.onDuplicate(key, keyRange.start - grower.base);
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
  const raw = typeof node.value === 'string' ? grower.reading(node.value) : node.value;
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
