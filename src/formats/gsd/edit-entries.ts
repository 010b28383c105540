import { type EntryOf, pairEntries } from '../../core/model/pair.ts';
import type { ModelDecision, ModelItem, ModelNote } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { type Entry, entryOf } from '../text/list.ts';
import { decisionRow, decisionWords, itemRowOf, itemWords, readDecision, readItem } from './entries.ts';
import type { Draft, Placed } from './reading.ts';
import type { List } from './state-markdown.ts';
import { type ListKind, listOfItem, listOfNote, lists } from './table.ts';

type Name = 'decisions' | 'items' | 'notes';

/** How the entries of a list are written. */
interface Form<T> {
  list(value: T): ListKind;
  /** What the page can hold of an entry. */
  signature(value: T): (string | undefined)[];
  /** The entry as it would read back: what the form cannot hold makes no difference. */
  reread(value: T): T;
  row(value: T, columns: readonly string[], old?: readonly string[]): string;
  words(value: T, boxed: boolean, group: string | null): string;
  isOver(value: T): boolean;
}

/** Updates the lists of a page to a run model, each in its own form. */
export function editEntries(draft: Draft): void {
  const { reading, model } = draft;
  const keys = new Set(model.steps.map(({ key }) => key));
  const known = (key: string): boolean => keys.has(key);
  const decisions: Form<ModelDecision> = {
    list: () => 'decisions',
    signature: ({ step, context, decision, reason, status = 'active' }) => [step, context, decision, reason, status],
    reread: (one) => readDecision(bulletEntry(decisionWords(one)), known) ?? one,
    row: decisionRow,
    words: ({ context, ...rest }, _, group) =>
      decisionWords(context === undefined || context === group ? rest : { ...rest, context }),
    isOver: () => false,
  };
  const items: Form<ModelItem> = {
    list: ({ kind }) => listOfItem(kind),
    signature: ({ kind, step, text, status, workaround, resolution }) => [
      kind,
      step,
      text,
      status,
      workaround,
      resolution,
    ],
    reread: (one) => readItem(bulletEntry(itemWords(one, false)), one.kind, null, known) ?? one,
    row: itemRowOf,
    words: itemWords,
    isOver: ({ status }) => status === 'resolved',
  };
  const notes: Form<ModelNote> = {
    list: ({ kind }) => listOfNote(kind),
    signature: ({ kind, text }) => [kind, text],
    reread: (one) => one,
    row: ({ text }, columns) => `| ${[text, ...columns.slice(1).map(() => '—')].join(' | ')} |`,
    words: ({ text }) => text,
    isOver: () => false,
  };
  const added = new Map<ListKind, string[]>();
  editForm(draft, 'decisions', decisions, reading.decisions, model.decisions, added);
  editForm(draft, 'items', items, reading.items, model.items, added);
  const isListed = ({ kind }: ModelNote): boolean => kind === 'constraint' || kind === 'dead-end';
  // A note that the journal does not have is not ours to remove.
  const there = reading.notes.filter(({ value }) => isListed(value)).map(({ value }) => ({ value, entry: null }));
  editForm(draft, 'notes', notes, there, model.notes.filter(isListed), added);
  for (const [kind, lines] of added) insertLines(draft, kind, openList(draft, kind), lines);
}

function editForm<K extends Name>(
  draft: Draft,
  name: K,
  form: Form<EntryOf<K>>,
  before: readonly Placed<EntryOf<K>>[],
  now: readonly EntryOf<K>[],
  added: Map<ListKind, string[]>,
): void {
  const told = (value: EntryOf<K>): string =>
    form
      .signature(value)
      .map((part) => flat(part ?? ''))
      .join('\u0000');
  const same = new Map<string, Placed<EntryOf<K>>[]>();
  for (const one of before.toReversed()) {
    const list = same.get(told(one.value));
    if (list) list.push(one);
    else same.set(told(one.value), [one]);
  }
  // Equal lines are matched one to one, so that a duplicate line stays.
  const left = now.filter((value) => !(same.get(told(value))?.pop() ?? same.get(told(form.reread(value)))?.pop()));
  // A bullet may begin like an id of ours, so only its words count.
  const [was, changed] = [unnamed([...same.values()].flat().map(({ value }) => value)), unnamed(left)];
  const placed = new Map([...same.values()].flat().map((one) => [one.value, one]));
  const pairs = pairEntries(name, [...was.keys()], [...changed.keys()], true);
  for (const [key, value] of changed) {
    const there = placed.get(was.get(pairs.get(key) as EntryOf<K>) as EntryOf<K>);
    if (there) placed.delete(there.value);
    if (there?.entry) draft.edit.replace(there.entry.from, there.entry.to, changedLines(form, value, there.entry));
    else {
      const kind = form.list(value);
      added.set(kind, [...(added.get(kind) ?? []), ...newLines(form, value, openList(draft, kind))]);
    }
  }
  for (const { entry } of placed.values()) if (entry) draft.edit.remove(entry.from, entry.to);
}

/** Copies without ids, with what they are copies of. */
const unnamed = <T extends object>(entries: readonly T[]): Map<T, T> =>
  new Map(entries.map((entry) => [{ ...entry, id: undefined, alias: undefined }, entry]));

/** The list that new entries join; `**Blockers:** none` holds only one. */
const openList = ({ state }: Draft, kind: ListKind): List | null =>
  state.lists.find((one) => one.kind === kind && !one.settled && !isInline(one)) ?? null;

const isInline = ({ heading, listing, from }: List): boolean =>
  heading === null && listing.entries.some((entry) => entry.form === 'paragraph' && entry.from === from);

const bulletEntry = (text: string): Entry => ({ ...entryOf(0, 1, text), form: 'bullet', mark: '- ' });

function changedLines<T>(form: Form<T>, value: T, { columns, cells, mark, checked, group }: Entry): string[] {
  if (columns) return [form.row(value, columns, cells)];
  const boxed = checked !== null;
  return withMark(boxed ? ticked(mark, form.isOver(value)) : mark, form.words(value, boxed, group));
}

function newLines<T>(form: Form<T>, value: T, list: List | null): string[] {
  const last = lastUngrouped(list);
  if (last?.columns) return [form.row(value, last.columns)];
  const words = form.words(value, last?.form === 'bullet' && last.checked !== null, null);
  // Among paragraphs a new list would turn them into its introduction.
  if (last?.form === 'paragraph' && list?.listing.entries.every(({ form: one }) => one === 'paragraph'))
    return ['', ...words.split('\n')];
  const mark = last?.form === 'bullet' ? last.mark : '- ';
  // A bullet among numbered lines is fine and needs no number.
  return withMark(/^\s*\d/.test(mark) ? '- ' : ticked(mark, form.isOver(value)), words);
}

const ticked = (mark: string, over: boolean): string => mark.replace(/\[[ xX~-]\]/, over ? '[x]' : '[ ]');

function withMark(mark: string, words: string): string[] {
  const indent = /^\s*/.exec(mark)?.[0] ?? '';
  const [first = '', ...rest] = words.split('\n');
  return [mark + first, ...rest.map((line) => (line.trim() === '' ? '' : `${indent}  ${line}`))];
}

/** New lines go after the last line outside any group, so that they do not join one. */
const lastUngrouped = (list: List | null): Entry | null =>
  list?.listing.entries.findLast(({ group }) => group === null) ?? null;

function insertLines(draft: Draft, kind: ListKind, list: List | null, lines: readonly string[]): void {
  const { edit, page } = draft;
  if (!list) return newSection(draft, lists[kind].title, lines);
  const last = lastUngrouped(list);
  const [none] = list.listing.nones;
  if (last) return edit.insert(last.to, last.form === 'paragraph' && lines[0] !== '' ? ['', ...lines] : lines);
  if (none && list.listing.entries.length === 0) return edit.replace(none.from, none.to, lines);
  const after = page.line(list.from).trim() === '' ? list.from + 1 : list.from;
  const isApart = page.line(after).trim() === '' || after >= list.to;
  edit.insert(Math.min(after, list.to), [...(after === list.from ? [''] : []), ...lines, ...(isApart ? [] : [''])]);
}

/** A new section: in the accumulated context, or before the session, or at the end. */
export function newSection(
  { edit, page, state }: Draft,
  title: string,
  lines: readonly string[],
  inContext = true,
): void {
  const context = page.headings.find(
    ({ title: words, level }) =>
      inContext && level === 2 && /^(?:accumulated context|contexto acumulado|累积上下文|누적 컨텍스트)/iu.test(words),
  );
  let at = context ? context.end : (state.sessionHeading?.line ?? page.lines.length);
  while (at > 0 && /^\s*(?:(?:[-*_]\s*){3,})?$/.test(page.line(at - 1))) at--;
  edit.insert(at, ['', `${context ? '###' : '##'} ${title}`, '', ...lines]);
}
