import type { Editor } from './editor.ts';
import { at, type MapNode, type Node, plain } from './node.ts';

/**
 * The table of a format: one row for each field of an entry in the file. It drives reading, editing, new entries, the
 * documentation, and the list of what the format cannot hold.
 */
export interface Row<E, A = unknown> {
  /** The key in the file, `a.b` for one in a map below; `a|b` are other spellings that are read. Empty: the value itself. */
  at: string;
  /** The field of the run model's entry; `=` for a value that is computed and not read. */
  is: (keyof E & string) | '=';
  as: Value;
  /** One sentence for `docs/formats/`. */
  says: string;
  /** What a new entry has when the run model says nothing, or how to find out; without it the key is left out. */
  fresh?: unknown | ((entry: E) => unknown);
  /** Written with a new entry and never changed. */
  isFixed?: true;
  /** Whether the key is added where it is missing; by default if the run model says something. */
  when?: (entry: E, about: A) => boolean;
  /** What is written when the run model no longer says it: a value, or `REMOVED`; undefined leaves the field alone. */
  clears?: (entry: E, was: E) => unknown;
  /** Computes the value; undefined leaves the field alone. */
  value?: (entry: E, about: A, was: E | null) => unknown;
  /** Read and edited, but not part of a new entry: the format defines it nowhere. */
  isForeign?: true;
  /** The keys after which a missing one is added. */
  after?: readonly string[];
}

/** How a value is read from a file, and written in the precision and spelling of the one that is there. */
export interface Value {
  /** Undefined: the file does not say. The node is null where the value is not in the file itself. */
  read(raw: unknown, node: Node | null): unknown;
  write(value: never, like: unknown): unknown;
  /** Lists are edited entry by entry. */
  edit?(
    editor: Editor,
    map: MapNode,
    key: string,
    there: Node | null,
    value: never,
    row: { after?: readonly string[] },
  ): void;
}

/** Takes the key out of the file. */
export const REMOVED = Symbol('removed');

const spellings = (row: { at: string }): string[] => row.at.split('|');

/** The node of a row's value, and the spelling of its key; of several spellings the first that is not null counts. */
export function findRow(node: Node | null, row: { at: string }): { key: string; map: MapNode; node: Node } | null {
  const found = spellings(row).flatMap((path) => {
    const parts = path.split('.');
    const key = parts.pop() as string;
    const map = parts.reduce<Node | null>((inner, part) => at(inner, part), node);
    const there = map?.type === 'map' ? at(map, key) : null;
    return there ? [{ key, map: map as MapNode, node: there }] : [];
  });
  return found.find((one) => one.node.type !== 'scalar' || one.node.value !== null) ?? found[0] ?? null;
}

/** What an entry of the file says: a node, or plain fields where the entry is only a text. */
export function readRows<E>(
  rows: readonly Row<E, never>[],
  entry: Node | Readonly<Record<string, unknown>>,
): Partial<E> {
  const isNode = 'type' in entry && 'start' in entry && 'end' in entry;
  const said: Record<string, unknown> = {};
  for (const row of rows) {
    if (row.is === '=') continue;
    const there = isNode ? (row.at === '' ? (entry as Node) : (findRow(entry as Node, row)?.node ?? null)) : null;
    const raw = isNode
      ? plain(there)
      : spellings(row)
          .map((key) => (entry as Record<string, unknown>)[key])
          .find(hasValue);
    const value = hasValue(raw) ? row.as.read(raw, there) : undefined;
    if (value !== undefined) said[row.is] = value;
  }
  return said as Partial<E>;
}

/** A value in a document. */
export interface Spot {
  raw: unknown;
  node: Node | null;
  set(raw: unknown, value?: unknown): void;
  remove?(): void;
}

/** A document that rows edit: a map of JSON or YAML, or a page of key lines. */
export interface Sheet<R extends { at: string }> {
  find(row: R): Spot | null;
  add(row: R, raw: unknown, value: unknown): void;
}

/** Writes the fields of an entry that differ from what the file says. */
export function editRows<E extends object, A>(
  editor: Editor,
  rows: readonly Row<E, A>[],
  node: MapNode,
  was: E,
  now: E,
  about: A,
): void {
  const put = (row: Row<E, A>, map: MapNode, key: string, there: Node | null, raw: unknown, value: unknown): void => {
    if (row.as.edit && value !== undefined) row.as.edit(editor, map, key, there, value as never, row);
    else editor.set(map, key, raw, row.after ?? []);
  };
  const sheet: Sheet<Row<E, A>> = {
    find: (row) => {
      const there = row.at === '' ? null : findRow(node, row);
      if (!there) return null;
      const { map, key } = there;
      return {
        raw: plain(there.node),
        node: there.node,
        set: (raw, value) => put(row, map, key, there.node, raw, value),
        remove: () => editor.removeKey(map, key),
      };
    },
    add: (row, raw, value) => {
      const [key = ''] = spellings(row);
      if (!key.includes('.')) put(row, node, key, null, raw, value);
    },
  };
  editSheet(sheet, rows, was, now, about);
}

export function editSheet<E extends object, A, R extends Row<E, A>>(
  sheet: Sheet<R>,
  rows: readonly R[],
  was: E,
  now: E,
  about: A,
): void {
  for (const row of rows) {
    if (row.isFixed) continue;
    const there = sheet.find(row);
    const change = changeOf(row, there?.raw, there?.node ?? null, was, now, about);
    if (change === null) continue;
    const { raw, value } = change;
    if (raw === REMOVED) there?.remove?.();
    else if (value === undefined) there?.set(raw);
    else if (there) there.set(raw, value);
    else if (row.when?.(now, about) !== false) sheet.add(row, raw, value);
  }
}

/**
 * The same for an entry that is not a node: what differs, by the keys that the file uses. `said` are its fields as read: the
 * columns of a row, the lines of a card.
 */
export function changedFields<E extends object, A>(
  rows: readonly Row<E, A>[],
  said: Readonly<Record<string, unknown>>,
  was: E,
  now: E,
  about: A,
): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const row of rows) {
    if (row.isFixed) continue;
    const names = spellings(row);
    const key = names.find((name) => hasValue(said[name])) ?? names.find((name) => name in said) ?? names[0];
    const like = said[key as string];
    const change = changeOf(row, hasValue(like) ? like : undefined, null, was, now, about);
    if (change === null || key === undefined) continue;
    if (!(key in said) && (change.value === undefined || row.when?.(now, about) === false)) continue;
    define(changed, key, change.raw);
  }
  return changed;
}

/** What a row changes: the value to write, undefined where the field is only cleared, and how the file writes it. */
function changeOf<E extends object, A>(
  row: Row<E, A>,
  like: unknown,
  node: Node | null,
  was: E,
  now: E,
  about: A,
): { value: unknown; raw: unknown } | null {
  const value = row.value ? row.value(now, about, was) : fieldOf(now, row.is);
  const old = row.is === '=' ? readAs(row, like, node) : fieldOf(was, row.is);
  if (value === undefined) {
    const raw = old === undefined ? undefined : row.clears?.(now, was);
    return raw === undefined ? null : { value, raw };
  }
  if (value === REMOVED) return { value: undefined, raw: REMOVED };
  const raw = row.as.write(value as never, like);
  return isSame(readAs(row, raw, null), old) ? null : { value, raw };
}

const hasValue = (raw: unknown): boolean => raw !== undefined && raw !== null;

/**
 * A new entry of the file, with its keys in the order of the rows, or those of one of its shapes. `like` is an entry in
 * whose spelling it is written, and `kept` are fields that no row has.
 */
export function newEntry<E extends object, A>(
  rows: readonly Row<E, A>[],
  entry: E,
  about: A,
  { keys, like = {}, kept = {} }: NewEntry = {},
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of keys ?? rows.flatMap((row) => (row.isForeign ? [] : (spellings(row)[0] as string)))) {
    const row = rows.find((one) => spellings(one).includes(key));
    if (!row) continue;
    const value = row.value ? row.value(entry, about, null) : fieldOf(entry, row.is);
    const isWritten = value !== undefined && value !== REMOVED && row.when?.(entry, about) !== false;
    const fresh: unknown = typeof row.fresh === 'function' ? row.fresh(entry) : row.fresh;
    if (isWritten) fields[key] = row.as.write(value as never, like[key]);
    else if (kept[key] !== undefined) fields[key] = kept[key];
    else if (fresh !== undefined) fields[key] = fresh;
  }
  for (const [key, value] of Object.entries(kept)) if (!(key in fields)) define(fields, key, value);
  return fields;
}

interface NewEntry {
  keys?: readonly string[];
  like?: Readonly<Record<string, unknown>>;
  kept?: Readonly<Record<string, unknown>>;
}

/** The fields of an entry that no row has. */
export function unknownFields(rows: readonly { at: string }[], node: Node): Record<string, unknown> {
  const known = new Set(rows.flatMap((row) => spellings(row).map((path) => path.split('.')[0])));
  const rest: Record<string, unknown> = {};
  if (node.type === 'map')
    for (const { key, value } of node.pairs) if (!known.has(key)) define(rest, key, plain(value));
  return rest;
}

/** The rows as a table for the documentation. */
export function describeRows(of: string, rows: readonly { at: string; is: string; says: string }[]): string[] {
  return rows.map(({ at: path, is, says }) => {
    const [first = '', ...others] = path.split('|');
    const name = [of, first].filter((part) => part !== '').join('.');
    const also = others.length > 0 ? `, also ${others.map((key) => `\`${key}\``).join(', ')}` : '';
    return `| \`${name}\`${also} | ${is === '=' ? 'computed' : `\`${is}\``} | ${says.replaceAll('|', '\\|')} |`;
  });
}

const readAs = (row: { as: Value }, raw: unknown, node: Node | null): unknown =>
  hasValue(raw) ? row.as.read(raw, node) : undefined;

const fieldOf = (entry: object, name: string): unknown => (entry as Record<string, unknown>)[name];

/** A key of the file may be `__proto__`. */
export function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Whether two values say the same; empty lists and absent ones do. */
export function isSame(one: unknown, other: unknown): boolean {
  const plainly = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? undefined : value);
  return JSON.stringify(plainly(one)) === JSON.stringify(plainly(other));
}
