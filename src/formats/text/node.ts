/**
 * A document as a tree of nodes with offsets in the text. YAML and JSON are read alike, because JSON is YAML in braces;
 * so one editor serves all.
 */
export type Node = MapNode | ListNode | ScalarNode;

export interface MapNode {
  type: 'map';
  start: number;
  end: number;
  flow: boolean;
  pairs: Pair[];
  /** Pairs whose key is repeated later, where their reader takes only the last. */
  shadowed?: Pair[];
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

/** A text under a key; undefined where there is none. */
export function stringAt(node: Node | null | undefined, key: string): string | undefined {
  const there = at(node, key);
  return there?.type === 'scalar' && typeof there.value === 'string' ? there.value : undefined;
}

export const pairsOf = (node: Node | null | undefined): readonly Pair[] => (node?.type === 'map' ? node.pairs : []);

export const itemsOf = (node: Node | null | undefined): readonly Node[] => (node?.type === 'list' ? node.items : []);
