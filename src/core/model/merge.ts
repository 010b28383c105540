import { oneLine } from '../text.ts';
import { type EntryOf, idOf, type ListName, listNames, pairEntries, wordsOf } from './pair.ts';
import type { ModelItem, ModelStep, RunModel, RunModelPart } from './run-model.ts';

/**
 * The three-way merge of a mirrored file: `before` is what the file said when it was last synchronised, `after` what it
 * says now, `journal` the run as it is. What only the file changed is recorded, what only the journal changed is written,
 * and what both changed differently is asked.
 */

/** The journal's ids of a file's entries, by list and place in it; null for an entry the journal does not have. */
export type Bindings = { [K in ListName]?: (string | null)[] };

/** What the journal said of each bound entry when the file was last synchronised, by list and id. */
export type Told = { [K in ListName]?: Record<string, Record<string, unknown>> };

/** What it means for the run when someone removes an entry from a file. */
export type Gone = 'resolved' | 'retracted' | 'hidden' | 'ask';
export type GoneRule = (list: ListName, entry: EntryOf<ListName>) => Gone;

/** A question to a person: the file and the journal disagree, and neither is changed until it is answered. */
export interface Ask {
  list: ListName;
  id: string;
  /** Null if the entry was removed from the file. */
  field: string | null;
  file: string;
  journal: string;
  words: string;
}

export interface Removed {
  list: ListName;
  id: string;
  gone: Gone;
  words: string;
}

export interface Merge {
  /** What is new in the file or differs, under the ids of the journal. */
  changed: RunModelPart;
  removed: Removed[];
  asks: Ask[];
  /** What is recorded, one sentence each. */
  news: string[];
}

/** Fields that both sides change; the others follow from them or belong to one side. */
const contested: { [K in ListName]: readonly string[] } = {
  steps: ['status', 'checkpoint', 'title'],
  decisions: ['decision', 'status', 'reason'],
  items: ['status', 'text', 'resolution'],
  notes: ['text'],
  sessions: [],
  messages: ['status', 'body'],
};

/** Finds the journal's record of each entry of a file. */
export function bindModel(journal: RunModel, file: RunModel): Bindings {
  const bindings: Bindings = {};
  for (const list of listNames) {
    const pairs = pairEntries(list, journal[list] as EntryOf<ListName>[], file[list] as EntryOf<ListName>[], false);
    bindings[list] = file[list].map((entry) => {
      const found = pairs.get(entry);
      return found === undefined ? null : (idOf(list, found) ?? null);
    });
  }
  return bindings;
}

export function toldOf(journal: RunModel, bindings: Bindings): Told {
  const told: Told = {};
  for (const list of listNames) {
    const bound = new Set(bindings[list]?.filter((id) => id !== null));
    const rows = (journal[list] as EntryOf<ListName>[]).filter((entry) => bound.has(idOf(list, entry) ?? ''));
    told[list] = Object.fromEntries(
      rows.map((entry) => [
        idOf(list, entry),
        Object.fromEntries(contested[list].map((field) => [field, fieldOf(entry, field)])),
      ]),
    );
  }
  return told;
}

export interface Sides {
  before: RunModel;
  bindings: Bindings;
  after: RunModel;
  journal: RunModel;
  told: Told;
  gone: GoneRule;
}

export function mergeEdit(sides: Sides): Merge {
  const { before, after } = sides;
  const merge: Merge = { changed: {}, removed: [], asks: [], news: [] };
  for (const list of listNames) mergeList(list, sides, merge);
  const { updatedAt: _before, ...oldRun } = before.run;
  const { updatedAt: _after, ...newRun } = after.run;
  if (!isSame(oldRun, newRun)) {
    merge.changed.run = after.run;
    merge.news.push(...changesIn('run', oldRun, newRun));
  }
  for (const name of ['claims', 'usage', 'files', 'position', 'kept'] as const) {
    if (after[name] !== undefined && !isSame(before[name], after[name]))
      Object.assign(merge.changed, { [name]: after[name] });
  }
  if (before.next !== after.next) {
    merge.changed.next = after.next ?? '';
    merge.news.push(`next action: ${short(after.next ?? 'none')}`);
  }
  return merge;
}

/**
 * The same where no earlier text is known: entries are bound by what they say. What the file has alone is recorded, and
 * fields that differ are asked.
 */
export function mergeUnknown(after: RunModel, journal: RunModel): Merge {
  const merge: Merge = { changed: {}, removed: [], asks: [], news: [] };
  for (const list of listNames) {
    const pairs = pairEntries(list, journal[list] as EntryOf<ListName>[], after[list] as EntryOf<ListName>[], false);
    const added = (after[list] as EntryOf<ListName>[]).filter((entry) => !pairs.has(entry));
    if (added.length > 0) Object.assign(merge.changed, { [list]: added });
    merge.news.push(...added.map((entry) => `${nameOf(list, entry)} added`));
    for (const [entry, row] of pairs) {
      for (const field of contested[list]) {
        const [said, ours] = [fieldOf(entry, field), fieldOf(row, field)];
        if (said === undefined || ours === undefined || isSame(said, ours)) continue;
        const id = idOf(list, row) ?? '';
        merge.asks.push({ list, id, field, file: inWords(said), journal: inWords(ours), words: wordsOf(list, row) });
      }
    }
  }
  return merge;
}

function mergeList<K extends ListName>(list: K, sides: Sides, merge: Merge): void {
  const { bindings, journal, told, gone } = sides;
  const before = sides.before[list] as EntryOf<K>[];
  const after = sides.after[list] as EntryOf<K>[];
  const bound = new Map(before.map((entry, index) => [entry, bindings[list]?.[index] ?? null]));
  const rows = new Map((journal[list] as EntryOf<K>[]).map((entry) => [idOf(list, entry) ?? '', entry]));
  const pairs = pairEntries(list, before, after, true);
  const inFile = new Set([...bound.values()].filter((id) => id !== null));
  // An entry that was removed once and is back is the record it was.
  const apart = (journal[list] as EntryOf<K>[]).filter((entry) => !inFile.has(idOf(list, entry) ?? ''));
  const again = pairEntries(
    list,
    apart,
    after.filter((entry) => !pairs.has(entry)),
    false,
  );
  const changed: EntryOf<K>[] = [];
  for (const entry of after) {
    const was = pairs.get(entry);
    const known = was ? bound.get(was) : again.has(entry) ? idOf(list, again.get(entry) as EntryOf<K>) : null;
    if (was && isSame(was, entry)) continue;
    const row = known ? rows.get(known) : undefined;
    const named = known && list !== 'steps' ? { ...entry, id: known } : entry;
    // An entry that both sides added says what the journal says, until someone answers.
    const old = was ?? (row ? ({} as EntryOf<K>) : undefined);
    const settled = old && row ? contest(list, old, named, row, was ? told[list]?.[known ?? ''] : {}, merge) : named;
    if (was && isSame(was, withoutId(settled, was))) continue;
    if (!was && row && contested[list].every((field) => isSame(fieldOf(settled, field), fieldOf(row, field)))) continue;
    changed.push(settled);
    if (was) merge.news.push(...changesIn(nameOf(list, entry), was, withoutId(settled, was)));
    else merge.news.push(`${nameOf(list, entry)} added`);
  }
  if (changed.length > 0) Object.assign(merge.changed, { [list]: changed });
  const left = new Set(pairs.values());
  for (const entry of before) {
    const id = bound.get(entry);
    if (left.has(entry) || !id) continue;
    const how = gone(list, entry);
    merge.removed.push({ list, id, gone: how, words: wordsOf(list, entry) });
    if (how !== 'ask') merge.news.push(`${nameOf(list, entry)} ${how === 'hidden' ? 'removed' : how}`);
    if (how === 'ask')
      merge.asks.push({
        list,
        id,
        field: null,
        file: 'removed',
        journal: wordsOf(list, entry),
        words: wordsOf(list, entry),
      });
  }
}

/** The entry as it may be recorded: a field that both sides changed, and a move the rules refuse, stay as they are. */
function contest<K extends ListName>(
  list: K,
  was: EntryOf<K>,
  now: EntryOf<K>,
  row: EntryOf<K>,
  told: Record<string, unknown> | undefined,
  merge: Merge,
): EntryOf<K> {
  let settled = now;
  for (const field of contested[list]) {
    const [old, said, ours] = [fieldOf(was, field), fieldOf(now, field), fieldOf(row, field)];
    if (isSame(old, said) || isSame(said, ours)) continue;
    const isMoved = told !== undefined && !isSame(told[field], ours);
    const isRefused = list === 'steps' && field === 'status' && isBackward(old, said);
    if (!isMoved && !isRefused) continue;
    const id = idOf(list, row) ?? '';
    merge.asks.push({ list, id, field, file: inWords(said), journal: inWords(ours), words: wordsOf(list, row) });
    settled = { ...settled, [field]: ours } as EntryOf<K>;
    if (field === 'status') settled = withTimesOf(settled, row);
  }
  return settled;
}

/** What is done stays done until someone reopens it here. */
const isBackward = (from: unknown, to: unknown): boolean =>
  (from === 'completed' || from === 'skipped') && (to === 'pending' || to === 'failed');

function withTimesOf<T extends object>(entry: T, row: object): T {
  if (!('startedAt' in row || 'endedAt' in row)) return entry;
  const { startedAt, endedAt } = row as ModelStep;
  return { ...entry, ...(startedAt ? { startedAt } : {}), ...(endedAt ? { endedAt } : {}) };
}

/**
 * The run model to write: without what is hidden, and with the file's own words where a question is open, so that
 * neither side is changed.
 */
export function withAsks(
  journal: RunModel,
  file: RunModel | null,
  bindings: Bindings,
  hidden: ReadonlySet<string>,
  asks: readonly Ask[],
): RunModel {
  if (hidden.size === 0 && asks.length === 0) return journal;
  const model: RunModel = { ...journal };
  for (const list of listNames) {
    const open = asks.filter((ask) => ask.list === list);
    const rows = (journal[list] as EntryOf<ListName>[]).flatMap((entry) => {
      const id = idOf(list, entry) ?? '';
      if (hidden.has(`${list}:${id}`)) return [];
      const mine = open.filter((ask) => ask.id === id);
      if (mine.length === 0) return [entry];
      if (mine.some((ask) => ask.field === null)) return [];
      const index = bindings[list]?.indexOf(id) ?? -1;
      const there = file?.[list][index] as EntryOf<ListName> | undefined;
      return [there ? mine.reduce((whole, ask) => withField(whole, there, ask.field as string), entry) : entry];
    });
    Object.assign(model, { [list]: rows });
  }
  return model;
}

function withField<T extends object>(entry: T, there: object, field: string): T {
  const { [field]: value } = there as Record<string, unknown>;
  const whole = { ...entry, [field]: value } as T;
  if (field !== 'status') return whole;
  const { startedAt, endedAt } = there as ModelStep;
  return { ...whole, startedAt, endedAt };
}

/** `step 2: status pending → completed`, for the fields that a reader knows. */
function changesIn(name: string, was: object, now: object): string[] {
  const fields = ['status', 'checkpoint', 'title', 'decision', 'text', 'resolution', 'reason', 'body', 'retries'];
  const changes = fields.flatMap((field) => {
    const [old, said] = [fieldOf(was, field), fieldOf(now, field)];
    if (isSame(old, said)) return [];
    return [`${name}: ${field} ${short(inWords(old))} → ${short(inWords(said))}`];
  });
  return changes.length > 0 ? changes : [`${name} changed`];
}

const nouns: Record<ListName, string> = {
  steps: 'step',
  decisions: 'decision',
  items: 'item',
  notes: 'note',
  sessions: 'session',
  messages: 'message',
};

function nameOf<K extends ListName>(list: K, entry: EntryOf<K>): string {
  if (list === 'steps') return `step ${(entry as ModelStep).key}`;
  const noun = list === 'items' ? (entry as ModelItem).kind : nouns[list];
  return `${noun} "${short(wordsOf(list, entry))}"`;
}

const short = (text: string): string => oneLine(text, 60);

/** An edit takes this long to read aloud at most. */
const WORDS_CHARS = 200;

const inWords = (value: unknown): string =>
  (value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)).slice(0, WORDS_CHARS);

const fieldOf = (entry: object, field: string): unknown => (entry as Record<string, unknown>)[field];

function withoutId<T extends object>(entry: T, like: object): T {
  if ('id' in like || !('id' in entry)) return entry;
  const { id: _, ...rest } = entry as T & { id?: string };
  return rest as T;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The ids that a file gave to records we know without one, to be recorded with them: people use the file's names. */
export function aliasesIn(journal: RunModel, file: RunModel, bindings: Bindings): RunModelPart {
  const learned: RunModelPart = {};
  for (const list of ['decisions', 'items', 'messages'] as const) {
    const rows = new Map((journal[list] as EntryOf<typeof list>[]).map((entry) => [entry.id, entry]));
    const named = (file[list] as EntryOf<typeof list>[]).flatMap((entry, index) => {
      const row = rows.get(bindings[list]?.[index] ?? '');
      const isNew = row && row.alias === undefined && entry.alias !== undefined && entry.alias !== row.id;
      return isNew ? [{ ...row, alias: entry.alias }] : [];
    });
    if (named.length > 0) Object.assign(learned, { [list]: named });
  }
  return learned;
}
