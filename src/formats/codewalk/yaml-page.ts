import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Problem } from '../format.ts';
import { rememberLast } from '../remember-last.ts';
import { tooLarge, YAML_LIMIT_CHARACTERS } from '../yaml-limit.ts';

/**
 * A YAML document inside a file: the whole file, a fence in a page, or front matter. It is edited by splicing text at
 * its nodes, because printing it would reflow lines and lose comments.
 */
export interface YamlPage {
  text: string;
  /** Where the document begins and ends in the text. */
  from: number;
  to: number;
  root: YAMLMap | null;
  document: Document.Parsed;
  errors: { line: number; message: string }[];
  lineOf(node: unknown): number;
}

export interface Splice {
  from: number;
  to: number;
  text: string;
}

/** Only for the main document, which is read and then edited; the files of entries would evict it. */
export const readMainPage = rememberLast(readYamlPage);

export function readYamlPage(text: string): YamlPage {
  const [from, to] = bounds(text);
  const counter = new LineCounter();
  const isTooLarge = to - from > YAML_LIMIT_CHARACTERS;
  const document = parseDocument(isTooLarge ? '' : text.slice(from, to), {
    lineCounter: counter,
    uniqueKeys: false,
    version: '1.2',
    logLevel: 'silent',
    prettyErrors: false,
  });
  const above = countLines(text, from);
  const line = (offset: number) => Math.max(1, counter.linePos(offset).line) + above;
  const contents = document.contents;
  return {
    text,
    from,
    to,
    root: isMap(contents) ? contents : null,
    document,
    errors: isTooLarge
      ? [{ line: above + 1, message: tooLarge(to - from) }]
      : document.errors
          .slice(0, 20)
          .map((error) => ({ line: line(error.pos[0]), message: error.message.split('\n')[0] ?? error.code })),
    lineOf: (node) => {
      const range = (node as Node | null)?.range;
      return range ? line(range[0]) : above + 1;
    },
  };
}

/** The inside of a fence or of front matter, else the whole text. */
function bounds(text: string): [number, number] {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const fence = /^(`{3,}|~{3,})(?:ya?ml)?[ \t]*\r?\n/m.exec(text.slice(0, 20_000));
  const key = /^(["']?)initiative\1[ \t]*:/m.exec(text.slice(0, 20_000));
  if (fence && (!key || fence.index < key.index)) {
    const from = fence.index + fence[0].length;
    const end = text.indexOf(`\n${fence[1]}`, from - 1);
    return [from, end < 0 ? text.length : end + 1];
  }
  const front = /^---[ \t]*\r?\n/.exec(text.slice(start, start + 200));
  if (front) {
    const from = start + front[0].length;
    const end = /^---[ \t]*\r?$/m.exec(text.slice(from));
    return [from, end ? from + end.index : text.length];
  }
  return [start, text.length];
}

function countLines(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

export function applySplices(page: YamlPage, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, text } of [...splices].sort((one, other) => one.from - other.from || one.to - other.to)) {
    const start = page.from + from;
    if (start < at) continue;
    parts.push(page.text.slice(at, start), text);
    at = page.from + to;
  }
  parts.push(page.text.slice(at));
  return parts.join('');
}

export function eolOf(page: YamlPage): string {
  return /\r\n/.test(page.text.slice(0, 2000)) ? '\r\n' : '\n';
}

export function pairOf(map: YAMLMap | null | undefined, key: string): Pair<Node, Node | null> | null {
  for (const pair of map?.items ?? [])
    if (isScalar(pair.key) && String(pair.key.value) === key) return pair as Pair<Node, Node | null>;
  return null;
}

export function nodeOf(map: YAMLMap | null | undefined, key: string): Node | null {
  return pairOf(map, key)?.value ?? null;
}

/** The text of a scalar as written: `2.10` is not 2.1. */
export function wordsOf(node: Node | null | undefined): string | null {
  if (!isScalar(node) || node.value === null || node.value === undefined) return null;
  const words = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
  return words.trim() === '' ? null : words;
}

export function itemsOf(node: Node | null | undefined): Node[] {
  return isSeq(node) ? ((node as YAMLSeq<Node>).items.filter((item) => item !== null) as Node[]) : [];
}

/** A list of texts; a single one counts as a list of one, a map in it as `key: text`. */
export function listOf(node: Node | null | undefined): string[] {
  const one = wordsOf(node);
  if (one !== null) return [one];
  return itemsOf(node).flatMap((item) => {
    const words = wordsOf(item);
    if (words !== null) return [words];
    if (!isMap(item)) return [];
    return (item as YAMLMap<Node, Node | null>).items.map(
      (pair) => `${wordsOf(pair.key) ?? ''}: ${wordsOf(pair.value) ?? ''}`,
    );
  });
}

export function problem(
  code: string,
  level: Problem['level'],
  path: string,
  line: number | null,
  message: string,
): Problem {
  return { code, level, path, line, message };
}
