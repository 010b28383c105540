import {
  ModelClaim,
  ModelDecision,
  ModelFile,
  ModelItem,
  ModelMessage,
  ModelNote,
  ModelRun,
  ModelSession,
  ModelStep,
  ModelUsage,
} from '../core/model/run-model.ts';

/**
 * What a format cannot hold, as a path into a run model: `notes`, `steps.wave`, or with a condition on the entries of a
 * list, `items[kind=error]` (whole entries), `items[kind=question].alias` (one field of them). `[severity=]` matches
 * entries without the field; several conditions must all hold.
 */

type ListOf = 'steps' | 'decisions' | 'items' | 'notes' | 'sessions' | 'messages' | 'claims' | 'usage' | 'files';

const schemas = {
  ...{ run: ModelRun, steps: ModelStep, decisions: ModelDecision, items: ModelItem, notes: ModelNote },
  ...{ sessions: ModelSession, messages: ModelMessage, claims: ModelClaim, usage: ModelUsage, files: ModelFile },
};

/** They follow from other fields, or only say which record is meant. */
const DERIVED: ReadonlySet<string> = new Set(['id', 'was', 'interrupted']);

/**
 * What a format cannot hold, from its table: every field without a row that is part of a new entry, and every list without
 * rows. `held` are fields that are written without a row, `also` are entries that have no place.
 */
export function losesOf(
  table: { run: readonly Held[] } & { [K in ListOf]?: readonly Held[] },
  held: readonly string[],
  also: readonly string[],
): string[] {
  const fields = Object.entries(schemas).flatMap(([list, schema]) => {
    const rows = table[list as ListOf];
    if (!rows) return [list];
    const written = new Set(rows.flatMap(({ is, isForeign }) => (isForeign ? [] : is)));
    return Object.keys(schema.entries)
      .filter((field) => !DERIVED.has(field) && !written.has(field))
      .map((field) => `${list}.${field}`);
  });
  return [...fields, ...also].filter((path) => !held.includes(path));
}

interface Held {
  is: string;
  isForeign?: true;
}

/** Counts what a run model has at a path. */
export function countLost(model: object, path: string): number {
  let count = 0;
  visit(model, partsOf(path), (holder, { name, conditions }) => {
    const value = holder[name];
    if (Array.isArray(value)) count += value.filter((entry) => isMeant(entry, conditions)).length;
    else if (value !== null && value !== false && value !== '') count += 1;
  });
  return count;
}

/** Removes it from a run model, in place. */
export function dropLost(model: object, path: string): void {
  visit(model, partsOf(path), (holder, { name, conditions }) => {
    const value = holder[name];
    if (conditions.length > 0 && Array.isArray(value))
      holder[name] = value.filter((entry) => !isMeant(entry, conditions));
    else delete holder[name];
  });
}

/**
 * What a run has and a format has no place for, for people: `messages (3) and notes (12)`. Only whole entries are named;
 * null where every entry has a place.
 */
export function lossWords(model: object, loses: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const path of loses) {
    const [part, ...rest] = partsOf(path);
    if (!part || rest.length > 0 || part.name === 'position' || part.name === 'run') continue;
    const kind = part.conditions.find(({ field }) => field === 'kind')?.value;
    const noun = kind ? `${kind}s` : part.name;
    const count = countLost(model, path);
    if (count > 0) counts.set(noun, (counts.get(noun) ?? 0) + count);
  }
  const words = [...counts].map(([noun, count]) => `${count === 1 ? noun.replace(/s$/, '') : noun} (${count})`);
  return words.length === 0
    ? null
    : words.length === 1
      ? words.join('')
      : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

interface Part {
  name: string;
  conditions: readonly Condition[];
}

interface Condition {
  field: string;
  value: string;
}

function partsOf(path: string): Part[] {
  return [...path.matchAll(/([^.[\]]+)((?:\[\w+=[^\]]*\])*)/g)].map(([, name = '', conditions = '']) => ({
    name,
    conditions: [...conditions.matchAll(/\[(\w+)=([^\]]*)\]/g)].map(([, field = '', value = '']) => ({ field, value })),
  }));
}

function visit(value: unknown, parts: readonly Part[], found: (holder: Fields, part: Part) => void): void {
  const [part, ...rest] = parts;
  if (!part || value === null || typeof value !== 'object') return;
  const inner = (value as Fields)[part.name];
  if (inner === undefined) return;
  if (rest.length === 0) return found(value as Fields, part);
  for (const entry of Array.isArray(inner) ? inner : [inner]) {
    if (isMeant(entry, part.conditions)) visit(entry, rest, found);
  }
}

type Fields = Record<string, unknown>;

function isMeant(entry: unknown, conditions: readonly Condition[]): boolean {
  return conditions.every(({ field, value }) => String((entry as Fields | null)?.[field] ?? '') === value);
}
