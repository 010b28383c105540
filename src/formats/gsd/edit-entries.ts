import type { ModelDecision, ModelItem, ModelNote, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { type Entry, entryOf } from '../text/list.ts';
import type { PageEditor } from '../text/page.ts';
import { noteKinds } from './assemble.ts';
import type { Draft } from './draft.ts';
import { matchEntries } from './matching.ts';
import {
  decisionCells,
  decisionWords,
  itemCells,
  itemWords,
  readDecision,
  readItem,
  statusColumn,
} from './read-entry.ts';
import type { List, ListKind } from './state-markdown.ts';

/** Updates the lists of a page to a run model, each in its own form. */
export function editEntries(draft: Draft): void {
  const { edit, reading, model, state } = draft;
  const known = knownIn(model);
  const pending: Pending = new Map();
  const append = (kind: ListKind, line: (list: List | null) => string[]): void => {
    const list = state.lists.find((one) => one.kind === kind && !one.settled && !isInline(one)) ?? null;
    const { lines } = pending.get(kind) ?? { lines: [] };
    pending.set(kind, { list, lines: [...lines, ...line(list)] });
  };
  const decisions = matchEntries(
    reading.decisions,
    model.decisions,
    decisionSignature,
    (one) => readDecision(bulletEntry(decisionWords(one)), known) ?? one,
    (one) => one.decision,
  );
  for (const { before, after } of decisions.changed)
    rewrite(edit, before.entry, (entry) => decisionLines(entry, after));
  const items = matchEntries(
    reading.items,
    model.items,
    itemSignature,
    (one) => readItem(bulletEntry(itemWords(one, false)), one.kind, null, known) ?? one,
    (one) => `${one.kind} ${one.text}`,
  );
  for (const { before, after } of items.changed) rewrite(edit, before.entry, (entry) => itemLines(entry, after));
  for (const { entry } of [...decisions.removed, ...items.removed]) rewrite(edit, entry, () => []);
  for (const decision of decisions.added) append('decisions', (list) => decisionLine(decision, list));
  for (const item of items.added) append(listOf[item.kind], (list) => itemLine(item, list));
  const notes = matchEntries(
    reading.notes.filter(({ value }) => value.kind !== 'worklog'),
    model.notes.filter(({ kind }) => kind === 'constraint' || kind === 'dead-end'),
    (one) => `${one.kind} ${flat(one.text)}`,
    (one) => one,
    (one) => `${one.kind} ${one.text}`,
  );
  for (const note of notes.added) append(noteList(note), (list) => bullet(list, note.text, false));
  for (const [kind, { list, lines }] of pending) insertLines(draft, kind, list, lines);
}

type Pending = Map<ListKind, { list: List | null; lines: string[] }>;

function rewrite(edit: PageEditor, entry: Entry | null, lines: (entry: Entry) => string[]): void {
  if (entry) edit.replace(entry.from, entry.to, lines(entry));
}

type Known = (key: string) => boolean;

export function knownIn(model: RunModel): Known {
  const keys = new Set(model.steps.map(({ key }) => key));
  return (key) => keys.has(key);
}

function decisionSignature({ step, context, decision, reason, status = 'active' }: ModelDecision): string {
  return [step, context, decision, reason, status].map((part) => flat(part ?? '')).join('\u0000');
}

function itemSignature({ kind, step, text, status, workaround, resolution }: ModelItem): string {
  return [kind, step, text, status, workaround, resolution].map((part) => flat(part ?? '')).join('\u0000');
}

const bulletEntry = (text: string): Entry => ({ ...entryOf(0, 1, text), form: 'bullet', mark: '- ' });

function decisionLines({ columns, cells, mark, group }: Entry, decision: ModelDecision): string[] {
  if (columns) {
    const fresh = decisionCells(decision, columns);
    const isSet = (column: string): boolean =>
      /decision|summary|choice|rational|reason|why|决策|결정|decisão|motivo/i.test(column);
    return [row(columns.map((column, index) => (isSet(column) ? (fresh[index] as string) : (cells[index] ?? ''))))];
  }
  const { context, ...rest } = decision;
  return withMark(mark, decisionWords(context === undefined || context === group ? rest : decision));
}

function itemLines({ columns, cells, mark, checked }: Entry, item: ModelItem): string[] {
  if (columns) {
    const main = itemCells(item, columns).indexOf(itemWords(item, false));
    const status = statusColumn(columns);
    const merged = cells.map((cell, index) => {
      if (index === status) return item.status;
      return index === main ? itemWords({ ...item, text: cell.replace(/^~~(.*?)~~.*$/s, '$1') }, false) : cell;
    });
    return [row(merged)];
  }
  const boxed = checked !== null;
  return withMark(boxed ? ticked(mark, item.status === 'resolved') : mark, itemWords(item, boxed));
}

const ticked = (mark: string, over: boolean): string => mark.replace(/\[[ xX~-]\]/, over ? '[x]' : '[ ]');

function withMark(mark: string, words: string): string[] {
  const indent = /^\s*/.exec(mark)?.[0] ?? '';
  const [first = '', ...rest] = words.split('\n');
  return [mark + first, ...rest.map((line) => (line.trim() === '' ? '' : `${indent}  ${line}`))];
}

/** `**Blockers:** none` holds only one entry. */
function isInline({ heading, listing, from }: List): boolean {
  return heading === null && listing.entries.some((entry) => entry.form === 'paragraph' && entry.from === from);
}

const listOf: Record<ModelItem['kind'], ListKind> = {
  blocker: 'blockers',
  commitment: 'todos',
  question: 'questions',
  finding: 'issues',
  error: 'errors',
};

function noteList(note: ModelNote): ListKind {
  return (Object.keys(noteKinds) as ListKind[]).find((kind) => noteKinds[kind] === note.kind) ?? 'constraints';
}

function decisionLine(decision: ModelDecision, list: List | null): string[] {
  const last = lastUngrouped(list);
  if (last?.columns) return [row(decisionCells(decision, last.columns))];
  return bullet(list, decisionWords(decision), false);
}

function itemLine(item: ModelItem, list: List | null): string[] {
  const last = lastUngrouped(list);
  if (last?.columns) return [row(itemCells(item, last.columns))];
  const boxed = last?.form === 'bullet' && last.checked !== null;
  return bullet(list, itemWords(item, boxed), item.status === 'resolved');
}

function bullet(list: List | null, words: string, over: boolean): string[] {
  const last = lastUngrouped(list);
  // Among paragraphs a new list would turn them into its introduction.
  if (last?.form === 'paragraph' && list?.listing.entries.every(({ form }) => form === 'paragraph'))
    return ['', ...words.split('\n')];
  const mark = last?.form === 'bullet' ? last.mark : '- ';
  // A bullet among numbered lines is fine and needs no number.
  return withMark(/^\s*\d/.test(mark) ? '- ' : ticked(mark, over), words);
}

/** New lines go after the last line outside any group, so that they do not join one. */
function lastUngrouped(list: List | null): Entry | null {
  return list?.listing.entries.findLast(({ group }) => group === null) ?? null;
}

export const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => flat(cell).replaceAll('\\|', '|').replaceAll('|', '\\|')).join(' | ')} |`;

const titles: Record<ListKind, string> = {
  decisions: 'Decisions',
  blockers: 'Blockers/Concerns',
  todos: 'Pending Todos',
  human: 'Pending Human Actions',
  deferred: 'Deferred Items',
  questions: 'Open Questions',
  issues: 'Known Issues',
  errors: 'Errors',
  constraints: 'Constraints',
  'dead-ends': 'Dead Ends',
  phases: 'Phase Progress',
};

export function listTitle(kind: ListKind): string {
  return titles[kind];
}

function insertLines(draft: Draft, kind: ListKind, list: List | null, lines: readonly string[]): void {
  const { edit, page } = draft;
  if (!list) return newSection(draft, listTitle(kind), lines);
  const last = lastUngrouped(list);
  const [none] = list.listing.nones;
  if (last) return edit.insert(last.to, last.form === 'paragraph' && lines[0] !== '' ? ['', ...lines] : lines);
  if (none && list.listing.entries.length === 0) return edit.replace(none.from, none.to, lines);
  const after = page.line(list.from).trim() === '' ? list.from + 1 : list.from;
  const isApart = page.line(after).trim() === '' || after >= list.to;
  edit.insert(Math.min(after, list.to), [...(after === list.from ? [''] : []), ...lines, ...(isApart ? [] : [''])]);
}

/** A new section: in the accumulated context, or before the session, or at the end. */
export function newSection({ edit, page, state }: Draft, title: string, lines: readonly string[]): void {
  const context = page.headings.find(
    ({ title: words, level }) =>
      level === 2 && /^(?:accumulated context|contexto acumulado|累积上下文|누적 컨텍스트)/iu.test(words),
  );
  let at = context ? context.end : (state.sessionHeading?.line ?? page.lines.length);
  while (at > 0 && /^\s*(?:(?:[-*_]\s*){3,})?$/.test(page.line(at - 1))) at--;
  edit.insert(at, ['', `${context ? '###' : '##'} ${title}`, '', ...lines]);
}
