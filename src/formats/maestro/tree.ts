import { type Document, parseDocument } from 'yaml';
import { rememberLast } from '../remember-last.ts';
import type { Node } from '../text/node.ts';
import { growNodes } from '../text/yaml.ts';
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
  const onDuplicate = (key: string, offset: number): void => {
    const message = `Duplicate key "${key}"; the last non-empty one counts.`;
    found.push({ code: 'duplicate_key', level: 'warning', offset, message });
  };
  const root = growNodes({
    document,
    source,
    base: start,
    overEscaped,
    reading: unshield,
    onDuplicate,
    inAlias: false,
  });
  return { root: root.type === 'scalar' && root.absent ? null : root, overEscaped, found: shift(found), broken };
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
