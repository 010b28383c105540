import type { Edit } from '../../../clients/installation.ts';
import { Fault } from '../../../core/fault.ts';
import { appendAt, eolOf, readJson, removeAt, setAt, valueAt } from './json-text.ts';

/** The text after an edit; `left` is the reason if the edit was not made. */
export interface Edited {
  text: string;
  left?: string;
}

/** Returns the same text if it has the edit already. */
export function applyEdit(text: string, edit: Edit): Edited {
  switch (edit.kind) {
    case 'hooks':
      return { text: withHooks(text, edit.events) };
    case 'entry': {
      const found = valueAt(text, edit.path);
      if (found !== undefined && isSame(found, edit.value)) return { text };
      if (found !== undefined && !isOurs(found))
        return { text, left: `${edit.path.join('.')} already exists and is not ours` };
      mustFit(text, edit.path);
      return { text: setAt(text, edit.path, edit.value) };
    }
    case 'default':
      return { text: valueAt(text, edit.path) === undefined ? setAt(text, edit.path, edit.value) : text };
    case 'name':
      return { text: withName(text, edit) };
    case 'block':
      return { text: withBlock(text, edit.lines, edit.unless) };
    case 'table':
      return withTable(text, edit.name, edit.lines);
    case 'whole':
      return { text: edit.text };
    default:
      return edit satisfies never;
  }
}

/** `base` is the text before the edit, if known. */
export function revertEdit(text: string, edit: Edit, base: string | null): string {
  switch (edit.kind) {
    case 'hooks':
      return withoutHooks(text, Object.keys(edit.events), base);
    case 'entry': {
      const found = valueAt(text, edit.path);
      if (found === undefined || !(isOurs(found) || isSame(found, edit.value))) return text;
      return withoutEmpty(removeAt(text, edit.path), edit.path.slice(0, -1), base);
    }
    case 'default': {
      const isAdded = base !== null && valueAt(base, edit.path) === undefined;
      return isAdded && isSame(valueAt(text, edit.path), edit.value) ? removeAt(text, edit.path) : text;
    }
    case 'name':
      return withoutName(text, edit, base);
    case 'block':
      return withoutBlock(text);
    case 'table':
      return withoutTable(text, edit.name);
    case 'whole':
      return text === edit.text ? '' : text;
    default:
      return edit satisfies never;
  }
}

/** Refuses JSON that cannot be parsed. */
export function mustBeReadable(file: string, text: string, edits: readonly Edit[]): void {
  if (!edits.some(({ kind }) => ['hooks', 'entry', 'default', 'name'].includes(kind))) return;
  const { value, problem } = readJson(text);
  const isObject = value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
  if (problem === null && isObject) return;
  const what = problem ? `line ${problem.line} is not JSON` : 'it is not an object';
  throw new Fault('invalid', `The settings ${file} cannot be read: ${what}.`, {
    hints: ['Nothing was changed. Repair the file, or move it away, and try again.'],
    data: { file, ...problem },
  });
}

/** Our commands in a client's settings: the program with `hook` or `mcp`, or the hook launcher. */
const OUR_COMMAND =
  /holdfast(?:\.cjs)?(?:\\?["'])?(?:\s+|\\?",\s*\\?")(?:hook\s+[a-z]+\s|mcp\b)|holdfast-hook(?:\.sh|\.cjs)?(?:\\?["'])?\s+[a-z]+\s/;

export function isOurs(entry: unknown): boolean {
  return OUR_COMMAND.test(JSON.stringify(entry) ?? '');
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

type Group = { hooks?: unknown };

function withHooks(text: string, events: Readonly<Record<string, object>>): string {
  let next = text;
  mustFit(next, ['hooks', '']);
  for (const [event, entry] of Object.entries(events)) {
    const path = ['hooks', event];
    const list = valueAt(next, path);
    if (list === undefined) {
      next = setAt(next, path, [entry]);
      continue;
    }
    if (!Array.isArray(list)) throw unexpected(path);
    if (list.some((one) => isSame(one, entry))) continue;
    // At its own index: Codex knows the other hooks by their index.
    const former = list.findIndex((one: Group) => isOurs(one) && !hasForeign(one));
    next = former < 0 ? appendAt(next, path, entry) : setAt(next, [...path, former], entry);
  }
  return next;
}

/** The group also has a hook that is not ours. */
function hasForeign({ hooks }: Group): boolean {
  return Array.isArray(hooks) && hooks.some((one) => !isOurs(one));
}

function withoutHooks(text: string, events: readonly string[], base: string | null): string {
  let next = text;
  for (const event of events) {
    const path = ['hooks', event];
    const list = valueAt(next, path);
    if (!Array.isArray(list)) continue;
    for (const [at, group] of [...(list as Group[]).entries()].reverse()) {
      if (!isOurs(group)) continue;
      if (!hasForeign(group)) {
        next = removeAt(next, [...path, at]);
        continue;
      }
      for (const [inner, one] of [...(group.hooks as unknown[]).entries()].reverse())
        if (isOurs(one)) next = removeAt(next, [...path, at, 'hooks', inner]);
    }
    next = withoutEmpty(next, path, base);
  }
  return next;
}

/** Removes containers that became empty and were not there before, from the inside outward. */
function withoutEmpty(text: string, path: readonly string[], base: string | null): string {
  if (path.length === 0) return text;
  const found = valueAt(text, path);
  const isEmpty = typeof found === 'object' && found !== null && Object.keys(found).length === 0;
  if (!isEmpty || (base !== null && valueAt(base, path) !== undefined)) return text;
  return withoutEmpty(removeAt(text, path), path.slice(0, -1), base);
}

type NameEdit = Extract<Edit, { kind: 'name' }>;

function withName(text: string, { path, name, others }: NameEdit): string {
  const found = valueAt(text, path);
  if (found === undefined) {
    mustFit(text, path);
    return setAt(text, path, [name, ...others]);
  }
  if (typeof found === 'string') return found === name ? text : setAt(text, path, [found, name]);
  if (!Array.isArray(found)) throw unexpected(path);
  return found.includes(name) ? text : appendAt(text, path, name);
}

function withoutName(text: string, edit: NameEdit, base: string | null): string {
  const { path, name, others } = edit;
  const before = base === null ? undefined : valueAt(base, path);
  // It was there before us.
  if (before === name || (Array.isArray(before) && before.includes(name))) return text;
  const found = valueAt(text, path);
  if (!Array.isArray(found)) return text;
  if (before === undefined && isSame(found, [name, ...others]))
    return withoutEmpty(removeAt(text, path), path.slice(0, -1), base);
  if (typeof before === 'string' && isSame(found, [before, name])) return setAt(text, path, before);
  const at = found.indexOf(name);
  return at < 0 ? text : removeAt(text, [...path, at]);
}

/** Every container on the path must be an object or missing. */
function mustFit(text: string, path: readonly string[]): void {
  for (let length = 1; length < path.length; length++) {
    const found = valueAt(text, path.slice(0, length));
    if (found === undefined) return;
    if (typeof found !== 'object' || found === null || Array.isArray(found)) throw unexpected(path.slice(0, length));
  }
}

function unexpected(path: readonly string[]): Fault {
  return new Fault('invalid', `${path.join('.')} in the settings does not have the form that the client reads.`, {
    hints: ['Nothing was changed. Repair the settings and try again.'],
  });
}

const BEGIN = '<!-- holdfast:begin -->';
const END = '<!-- holdfast:end -->';

function withBlock(text: string, lines: readonly string[], unless: string | undefined): string {
  const eol = eolOf(text);
  const block = [BEGIN, ...lines, END].join(eol);
  const found = blockIn(text);
  if (found) return text.slice(0, found.start) + block + text.slice(found.end);
  if (unless !== undefined && text.split(/\r?\n/).some((line) => line.trim() === unless)) return text;
  if (text.trim() === '') return `${text}${block}${eol}`;
  return `${text}${text.endsWith('\n') ? '' : eol}${eol}${block}${eol}`;
}

function withoutBlock(text: string): string {
  const found = blockIn(text);
  if (!found) return text;
  const before = text.slice(0, found.start);
  const after = text.slice(found.end).replace(/^\r?\n/, '');
  // The blank line before the block was inserted with it.
  return before.replace(/(\r?\n)\r?\n$/, '$1') + after;
}

function blockIn(text: string): { start: number; end: number } | null {
  const start = text.indexOf(BEGIN);
  if (start < 0) return null;
  const end = text.indexOf(END, start);
  if (end >= 0) return { start, end: end + END.length };
  throw new Fault('invalid', `A block that starts with ${BEGIN} has no end.`, {
    hints: [`Nothing was changed. Put ${END} after its last line and try again.`],
  });
}

/** The line above a table of ours. There is none below: Codex writes its own tables above the last comment. */
const TABLE_MARK = '# Put here by `holdfast install`; `holdfast uninstall` takes it out.';

function withTable(text: string, name: string, lines: readonly string[]): Edited {
  const eol = eolOf(text);
  const table = [TABLE_MARK, `[${name}]`, ...lines].join(eol) + eol;
  if (text.includes(table)) return { text };
  const parent = name.split('.')[0] ?? '';
  const isOurTable = text.split(/\r?\n/).some((line, at, all) => line === `[${name}]` && all[at - 1] === TABLE_MARK);
  const base = isOurTable ? withoutTable(text, name) : text;
  if (new RegExp(`^\\s*\\[\\s*${parent}\\s*\\.\\s*["']?${name.slice(parent.length + 1)}["']?\\s*\\]`, 'm').test(base))
    return { text, left: `[${name}] already exists and is not ours` };
  if (new RegExp(`^\\s*${parent}\\s*[.=]`, 'm').test(base))
    return { text, left: `${parent} is written on one line, to which a table cannot be added` };
  if (base.trim() === '') return { text: base + table };
  return { text: `${base}${base.endsWith('\n') ? '' : eol}${eol}${table}` };
}

/** Also removes its sub-tables, which mean nothing without it. A table without our mark is not ours. */
function withoutTable(text: string, name: string): string {
  if (!text.includes(TABLE_MARK)) return text;
  const lines = text.split('\n');
  const kept: string[] = [];
  let ours = false;
  for (const line of lines) {
    const bare = line.trim();
    if (bare.startsWith('[')) ours = bare === `[${name}]` || bare.startsWith(`[${name}.`);
    // Comments and blank lines belong to what follows them.
    else if (ours && (bare === '' || bare.startsWith('#'))) ours = false;
    if (bare === TABLE_MARK) {
      if (kept.at(-1)?.trim() === '') kept.pop();
      continue;
    }
    if (!ours) kept.push(line);
  }
  return kept.join('\n');
}
