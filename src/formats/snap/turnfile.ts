import { isAlias, isCollection, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { isObject } from '../is-object.ts';
import { lineFinder } from '../line-finder.ts';
import { conflictMarkers, elidedLines, splitLines } from '../markdown.ts';
import { tooLarge, YAML_LIMIT_CHARACTERS } from '../yaml-limit.ts';
import type { Report } from './report.ts';

/** TURNFILE.yaml as read, each part with its position, so that a change touches nothing else. */
export interface Turnfile {
  /** Without a byte order mark. */
  text: string;
  bom: string;
  /** False when the text is damaged. */
  sound: boolean;
  root: Entry | null;
  /** The sections at the top, as plain values. */
  value: Record<string, unknown>;
  sections: ReadonlyMap<string, Entry>;
  coordination: ReadonlyMap<string, Entry>;
  agents: ReadonlyMap<string, Entry>;
  tasks: ReadonlyMap<string, Entry>;
  locks: ReadonlyMap<string, Entry>;
  queue: readonly Entry[];
  signals: readonly Entry[];
  revision: number | null;
  header: { revision: Mark | null; by: Mark | null; protocol: boolean };
  lineAt(offset: number): number;
}

/** A key with its value, or an entry of a list. */
export interface Entry {
  id: string;
  /** Its fields, when it is a map. */
  fields: Readonly<Record<string, unknown>>;
  /** The offset of the key, or of the entry in a list. */
  start: number;
  line: number;
  /** The value's node; null when the key has none. */
  node: unknown;
}

/** A value in a comment of the header. */
export interface Mark {
  start: number;
  end: number;
  text: string;
  line: number;
}

/** Deeper than any Turnfile: deeper levels are ignored, so that the stack cannot overflow. */
const DEPTH = 12;

export function readTurnfile(source: string, report: Report): Turnfile {
  const bom = source.startsWith('\ufeff') ? '\ufeff' : '';
  const text = source.slice(bom.length);
  // The end of the file belongs to its last line.
  const lineAt = lineFinder(text.replace(/\n$/, ''));
  const header = readHeader(text);
  let sound = true;
  const spoil = (code: string, line: number | null, message: string): void => {
    sound = false;
    report(code, 'error', line, message);
  };
  const lines = splitLines(text);
  for (const line of conflictMarkers(lines).slice(0, 1))
    spoil('conflict_markers', line + 1, 'Unresolved merge conflict; choose one side.');
  for (const line of elidedLines(lines).slice(0, 1)) spoil('elided', line + 1, 'Part of the file was elided here.');
  if (text.includes('\u0000')) spoil('binary', null, 'The file has bytes that are not text.');
  else if (text.trim() === '') spoil('empty', null, 'The file is empty.');
  const contents = sound || !text.includes('\u0000') ? readYaml(text, lineAt, spoil) : null;
  const root = isMap(contents) ? contents : null;
  if (!root && sound) spoil('not_yaml', 1, 'The file is not a map of sections.');
  const value = (root ? plainOf(root, 0) : {}) as Record<string, unknown>;
  if (root) checkKeys(root, lineAt, spoil);
  const sections = pairsOf(root, value, lineAt);
  const inside = (entry: Entry | undefined): Map<string, Entry> => pairsOf(entry?.node, entry?.fields, lineAt);
  const coordination = inside(sections.get('coordination'));
  const revision = sections.get('coordination')?.fields['revision'];
  return {
    text,
    bom,
    sound,
    root: root ? { id: '', fields: value, start: 0, line: 1, node: root } : null,
    value,
    sections,
    coordination,
    agents: inside(sections.get('agents')),
    tasks: inside(coordination.get('tasks')),
    locks: inside(sections.get('locks')),
    queue: itemsOf(sections.get('turn_queue')?.node, value['turn_queue'], lineAt),
    signals: itemsOf(sections.get('messages')?.node, value['messages'], lineAt),
    revision: typeof revision === 'number' && Number.isSafeInteger(revision) && revision >= 0 ? revision : null,
    header,
    lineAt,
  };
}

type Spoil = (code: string, line: number | null, message: string) => void;

function readYaml(text: string, lineAt: (offset: number) => number, spoil: Spoil): unknown {
  if (text.length > YAML_LIMIT_CHARACTERS) {
    spoil('too_large', 1, `${tooLarge(text.length)}.`);
    return null;
  }
  try {
    const document = parseDocument(text, { uniqueKeys: false, strict: false, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error)
      spoil(
        'not_yaml',
        lineAt(error.pos[0]),
        `This is not YAML: ${(error.message.split('\n')[0] ?? '').slice(0, 200)}.`,
      );
    return document.contents;
  } catch {
    // Nested deeper than the stack.
    spoil('not_yaml', null, 'This cannot be read as YAML.');
    return null;
  }
}

type LineAt = (offset: number) => number;

/**
 * A duplicate key makes the file unsound: readers differ on which one counts (most use the last), and either may be the
 * newer note.
 */
function checkKeys(map: YAMLMap, lineAt: LineAt, spoil: Spoil, depth = 0): void {
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const id = isScalar(key) ? String(key.value) : null;
    if (id !== null && seen.has(id))
      spoil('duplicate_key', lineAt(startOf(key)), `Duplicate key ${id.slice(0, 80)}; the last one is read.`);
    if (id !== null) seen.add(id);
    if (depth < DEPTH && isMap(value)) checkKeys(value, lineAt, spoil, depth + 1);
    if (depth < DEPTH && isSeq(value))
      for (const item of value.items) if (isMap(item)) checkKeys(item, lineAt, spoil, depth + 1);
  }
}

function pairsOf(map: unknown, plain: unknown, lineAt: LineAt): Map<string, Entry> {
  const found = new Map<string, Entry>();
  if (!isMap(map)) return found;
  for (const { key, value } of map.items) {
    const id = isScalar(key) ? String(key.value ?? '') : '';
    if (id === '') continue;
    const start = startOf(key);
    found.set(id, { id, fields: fieldsOf(fieldsOf(plain)[id]), start, line: lineAt(start), node: value });
  }
  return found;
}

function itemsOf(list: unknown, plain: unknown, lineAt: LineAt): Entry[] {
  if (!isSeq(list) || !Array.isArray(plain)) return [];
  return list.items.map((node, index) => {
    const fields = fieldsOf(plain[index]);
    const start = startOf(node);
    return { id: textOf(fields['id']) ?? '', fields, start, line: lineAt(start), node };
  });
}

const startOf = (node: unknown): number => (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0;

function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** The value without anchors: the format forbids them, and a few lines could expand to gigabytes. */
function plainOf(node: unknown, depth: number): unknown {
  if (isScalar(node)) return typeof node.value === 'bigint' ? String(node.value) : (node.value ?? null);
  if (isAlias(node) || !isCollection(node) || depth > DEPTH) return null;
  if (isSeq(node)) return node.items.map((item) => plainOf(item, depth + 1));
  const plain: Record<string, unknown> = {};
  for (const { key, value } of (node as YAMLMap).items) {
    const id = isScalar(key) ? String(key.value ?? '') : '';
    // Never set the prototype.
    if (id !== '' && id !== '__proto__') plain[id] = plainOf(value, depth + 1);
  }
  return plain;
}

/** A scalar as text; undefined when there is none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function readHeader(text: string): Turnfile['header'] {
  const header: Turnfile['header'] = { revision: null, by: null, protocol: false };
  let start = 0;
  for (let line = 1; line <= 40 && start < text.length; line++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const words = text.slice(start, Math.min(end, start + 500));
    if (!words.startsWith('#') && words.trim() !== '') break;
    const match = /^#\s*(Last modified revision|Modified by|Protocol):[ \t]*([^\r]*)/.exec(words);
    if (match) {
      const value = (match[2] ?? '').trimEnd();
      const from = start + match[0].length - (match[2] ?? '').length;
      const mark = { start: from, end: from + value.length, text: value, line };
      if (match[1] === 'Protocol') header.protocol = true;
      else if (match[1] === 'Modified by') header.by ??= mark;
      else header.revision ??= mark;
    }
    start = end + 1;
  }
  return header;
}
