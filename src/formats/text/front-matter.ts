import type { FrontMatter, Page, PageEditor } from './page.ts';

/**
 * Front matter of a state file, read line by line: the tool that owns it has no YAML library either, so real files
 * contain invalid YAML (a stray `},{` after a quoted value, unquoted colons). Nested keys are joined by a dot.
 */
export interface FrontField {
  key: string;
  /** Without quotes and comment. */
  value: string;
  line: number;
  /** The line after the last one of a multi-line value. */
  end: number;
  /** The columns of the value, quotes included. */
  from: number;
  to: number;
}

export interface FrontFields {
  block: FrontMatter;
  fields: ReadonlyMap<string, FrontField>;
  /** Lines that are neither field nor comment nor part of a value. */
  strays: readonly number[];
}

export function readFrontMatter(page: Page, block: FrontMatter): FrontFields {
  const fields = new Map<string, FrontField>();
  const strays: number[] = [];
  let parent: FrontField | null = null;
  for (let line = block.start; line < block.end; line++) {
    const text = page.line(line);
    // An unclosed block ends where the page visibly begins.
    if (!block.closed && /^#{1,6} /.test(text)) break;
    if (/^\s*(?:#|$)/.test(text)) continue;
    const parts = /^(\s*)([\p{L}_][\p{L}\p{N}_.-]{0,80}):(?:[ \t]+|$)/u.exec(text);
    if (!parts) {
      if (parent && /^\s+\S|^-\s/.test(text)) {
        parent.value += `${parent.value === '' ? '' : '\n'}${text.trim()}`;
        parent.end = line + 1;
      } else strays.push(line);
      continue;
    }
    const indented = (parts[1] as string).length > 0;
    const from = (parts[0] as string).length;
    const { value, to } = readScalar(text, from);
    const key: string = indented && parent ? `${parent.key.split('.')[0]}.${parts[2]}` : (parts[2] as string);
    const field: FrontField = { key, value, line, end: line + 1, from, to };
    if (indented && parent) {
      const top = fields.get(parent.key.split('.')[0] as string);
      if (top) top.end = line + 1;
    } else parent = field;
    if (!fields.has(key)) fields.set(key, field);
  }
  return { block, fields, strays };
}

/** Sets a field and keeps its quotes. */
export function setFront(edit: PageEditor, page: Page, field: FrontField, value: string): void {
  const text = page.line(field.line);
  const old = text.slice(field.from, field.to);
  const gap = field.from === text.length && !/[ \t]$/.test(text) ? ' ' : '';
  const line = text.slice(0, field.from) + gap + quotedLike(old, value) + text.slice(field.to);
  edit.replace(field.line, Math.max(field.end, field.line + 1), [line]);
}

export function frontLine(key: string, value: string): string {
  return `${key}: ${quotedLike('', value)}`;
}

function quotedLike(old: string, value: string): string {
  const flat = value.replace(/\s*\n\s*/g, ' ').trim();
  if (old.startsWith("'") && !flat.includes("'")) return `'${flat}'`;
  if (old.startsWith('"') || !isPlain(flat)) return JSON.stringify(flat);
  return flat;
}

/** Whether YAML reads the text back unchanged without quotes. */
function isPlain(text: string): boolean {
  return (
    text !== '' &&
    !/^[\s\-?:,[\]{}#&*!|>'"%@`]/.test(text) &&
    !/: |\s#|:$|\s$/.test(text) &&
    !/^\d{4}-\d\d-\d\dT/.test(text)
  );
}

function readScalar(text: string, from: number): { value: string; to: number } {
  const rest = text.slice(from);
  const quote = rest[0];
  if (quote === '"') {
    const parts = /^"(?:[^"\\]|\\.)*"/.exec(rest);
    if (parts) return { value: unescaped(parts[0]), to: from + parts[0].length };
  }
  if (quote === "'") {
    const parts = /^'(?:[^']|'')*'/.exec(rest);
    if (parts) return { value: parts[0].slice(1, -1).replaceAll("''", "'"), to: from + parts[0].length };
  }
  const comment = rest.search(/(?:^|\s)#/);
  const value = (comment < 0 ? rest : rest.slice(0, comment)).trimEnd();
  // The indicator of a block scalar is not its value.
  return { value: /^[|>][-+]?$/.test(value) ? '' : value, to: from + value.length };
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
