import type { Problem } from '../format.ts';
import { rememberLast } from '../remember-last.ts';
import { type Editor, openEditor } from '../text/editor.ts';
import { conflictMarkers, elidedLines, lineFinder, splitLines } from '../text/lines.ts';
import type { MapNode } from '../text/node.ts';
import { parseYaml } from '../text/yaml.ts';

/** A YAML document inside a file: the whole file, a fence in a page, or front matter. */
export interface Document {
  path: string;
  text: string;
  root: MapNode | null;
  problems: Problem[];
  /** It could not be read as YAML, so nothing is written into it. */
  isDamaged: boolean;
  lineOf(offset: number): number;
  edit(): Editor;
}

/** Only for the main document, which is read and then edited; the files of entries would evict it. */
export const openMain = rememberLast(openDocument);

export function openDocument(path: string, text: string): Document {
  const lineOf = lineFinder(text);
  const problems: Problem[] = [];
  const last = text.endsWith('\n') ? text.length - 1 : text.length;
  const report = (code: string, level: Problem['level'], line: number, message: string): void =>
    void problems.push({ code, level, path, line, message });
  for (const [code, lines, message] of [
    ['binary', zeroLines(text), 'The file contains zero bytes: it is not text.'],
    ['conflict_markers', conflictMarkers(splitLines(text)), 'Unresolved merge conflict.'],
  ] as const)
    for (const line of lines.slice(0, 20)) report(code, 'error', line + 1, message);
  for (const line of elidedLines(splitLines(text)).slice(0, 20))
    report('elided', 'warning', line + 1, 'Part of the file was elided here.');
  const region = bounds(text);
  const root = parseYaml(
    text,
    (_, offset, message) => report('not_yaml', 'error', lineOf(Math.min(offset, last)), message),
    (key, offset) =>
      report(
        'duplicate_key',
        'warning',
        lineOf(region[0] + offset),
        `Duplicate key "${key}"; the last with a value counts.`,
      ),
    region,
  );
  const eol = /\r\n/.test(text.slice(0, 2000)) ? '\r\n' : '\n';
  return {
    path,
    text,
    root: root?.type === 'map' ? root : null,
    problems,
    isDamaged: problems.some(({ level }) => level === 'error'),
    lineOf,
    edit: () => openEditor(text, eol, { style: 'words', overEscaped: false }),
  };
}

function zeroLines(text: string): number[] {
  const at = text.indexOf('\0');
  return at < 0 ? [] : [lineFinder(text)(at) - 1];
}

/** The inside of a fence or of front matter, else the whole text. */
function bounds(text: string): [number, number] {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const head = text.slice(0, 20_000);
  const fence = /^(`{3,}|~{3,})(?:ya?ml)?[ \t]*\r?\n/m.exec(head);
  const key = /^(["']?)initiative\1[ \t]*:/m.exec(head);
  if (fence && (!key || fence.index < key.index)) {
    const from = fence.index + fence[0].length;
    const end = text.indexOf(`\n${fence[1]}`, from - 1);
    return [from, end < 0 ? text.length : end + 1];
  }
  const front = /^---[ \t]*\r?\n/.exec(text.slice(start, start + 200));
  if (!front) return [start, text.length];
  const from = start + front[0].length;
  const end = /^---[ \t]*\r?$/m.exec(text.slice(from));
  return [from, end ? from + end.index : text.length];
}
