import { isObject } from '../is-object.ts';
import { conflictMarkers, elidedLines, lineFinder, splitLines } from '../text/lines.ts';
import type { MapNode, Node } from '../text/node.ts';
import { at, plain } from '../text/node.ts';
import { parseYaml } from '../text/yaml.ts';
import { textOf } from './names.ts';
import type { Report } from './page.ts';

/** TURNFILE.yaml as read, each part with its position, so that a change touches nothing else. */
export interface Turnfile {
  text: string;
  /** False when the text is damaged. */
  sound: boolean;
  root: MapNode | null;
  /** The sections at the top, as plain values. */
  value: Record<string, unknown>;
  sections: ReadonlyMap<string, Entry>;
  agents: ReadonlyMap<string, Entry>;
  tasks: ReadonlyMap<string, Entry>;
  locks: ReadonlyMap<string, Entry>;
  queue: readonly Entry[];
  signals: readonly Entry[];
  revision: number | null;
  header: { revision: Mark | null; by: Mark | null; protocol: boolean };
}

/** A key with its value, or an entry of a list. */
export interface Entry {
  id: string;
  /** Its fields, when it is a map. */
  fields: Readonly<Record<string, unknown>>;
  line: number;
  node: Node;
}

/** A value in a comment of the header. */
export interface Mark {
  start: number;
  end: number;
  text: string;
  line: number;
}

export function readTurnfile(text: string, report: Report): Turnfile {
  // The end of the file belongs to its last line.
  const lineAt = lineFinder(text.replace(/\n$/, ''));
  let sound = true;
  const spoil = (code: string, line: number | null, message: string): void => {
    sound = false;
    report.error(code, line, message);
  };
  const lines = splitLines(text);
  for (const line of conflictMarkers(lines).slice(0, 1))
    spoil('conflict_markers', line + 1, 'Unresolved merge conflict; choose one side.');
  for (const line of elidedLines(lines).slice(0, 1)) spoil('elided', line + 1, 'Part of the file was elided here.');
  const isBinary = text.includes('\u0000');
  if (isBinary) spoil('binary', null, 'The file has bytes that are not text.');
  else if (text.replace('\ufeff', '').trim() === '') spoil('empty', null, 'The file is empty.');
  const read = isBinary
    ? null
    : parseYaml(
        text,
        (code, offset, message) => spoil(code, lineAt(offset), message),
        // Readers differ on which of two counts (most use the last), and either may be the newer note.
        (key, offset) =>
          spoil('duplicate_key', lineAt(offset), `Duplicate key ${key.slice(0, 80)}; the last one is read.`),
      );
  const root = read?.type === 'map' ? read : null;
  if (!root && sound) spoil('not_yaml', 1, 'The file is not a map of sections.');
  const entriesOf = (node: Node | null): Map<string, Entry> =>
    new Map(
      (node?.type === 'map' ? node.pairs : [])
        .filter(({ key }) => key !== '')
        .map(({ key, start, value }) => [key, entryOf(key, value, lineAt(start))]),
    );
  const itemsOf = (node: Node | null): Entry[] =>
    (node?.type === 'list' ? node.items : []).map((item) =>
      entryOf(textOf(fieldsOf(item)['id']) ?? '', item, lineAt(item.start)),
    );
  const revision = plain(at(at(root, 'coordination'), 'revision'));
  return {
    text,
    sound,
    root,
    value: fieldsOf(root),
    sections: entriesOf(root),
    agents: entriesOf(at(root, 'agents')),
    tasks: entriesOf(at(at(root, 'coordination'), 'tasks')),
    locks: entriesOf(at(root, 'locks')),
    queue: itemsOf(at(root, 'turn_queue')),
    signals: itemsOf(at(root, 'messages')),
    revision: typeof revision === 'number' && Number.isSafeInteger(revision) && revision >= 0 ? revision : null,
    header: readHeader(text),
  };
}

const entryOf = (id: string, node: Node, line: number): Entry => ({ id, fields: fieldsOf(node), line, node });

function fieldsOf(node: Node | null): Record<string, unknown> {
  const value = plain(node);
  return isObject(value) ? value : {};
}

function readHeader(text: string): Turnfile['header'] {
  const header: Turnfile['header'] = { revision: null, by: null, protocol: false };
  let start = text.startsWith('\ufeff') ? 1 : 0;
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
