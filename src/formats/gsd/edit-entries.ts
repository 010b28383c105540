import type { ModelDecision, ModelItem, ModelNote, RunModel } from '../../core/model/run-model.ts';
import { bare, type LineEdit } from '../markdown.ts';
import { noteKinds } from './assemble.ts';
import { flat } from './clip.ts';
import type { Entry } from './entries.ts';
import { matchEntries } from './matching.ts';
import { decisionCells, decisionWords, itemCells, itemWords, readDecision, readItem } from './read-entry.ts';
import type { Placed, Reading } from './reading.ts';
import type { List, ListKind, StatePage } from './state-markdown.ts';

/** The edits that update the lists of a page to a run model, each in the form of its list. */
export function editEntries(reading: Reading, model: RunModel, state: StatePage): LineEdit[] {
  const edits: LineEdit[] = [];
  const known = knownIn(model);
  const pages: Page = { state, edits, pending: new Map() };

  const decisions = matchEntries(
    reading.decisions,
    model.decisions,
    decisionSignature,
    (one) => readDecision(bulletEntry(decisionWords(one)), known) ?? one,
    (one) => one.decision,
  );
  for (const { before, after } of decisions.changed) pages.edits.push(rewriteDecision(before, after));
  for (const placed of decisions.removed) pages.edits.push(removal(placed));
  for (const decision of decisions.added) append(pages, 'decisions', (list) => decisionLine(decision, list));

  const items = matchEntries(
    reading.items,
    model.items,
    itemSignature,
    (one) => readItem(bulletEntry(itemWords(one, false)), one.kind, null, known) ?? one,
    (one) => `${one.kind} ${one.text}`,
  );
  for (const { before, after } of items.changed) pages.edits.push(rewriteItem(before, after));
  for (const placed of items.removed) pages.edits.push(removal(placed));
  for (const item of items.added) append(pages, listOf(item), (list) => itemLine(item, list));

  const notes = model.notes.filter(({ kind }) => kind === 'constraint' || kind === 'dead-end');
  const before = reading.notes.filter(({ value }) => value.kind !== 'worklog');
  const { added } = matchEntries(
    before,
    notes,
    (one) => `${one.kind} ${flat(one.text)}`,
    (one) => one,
    (one) => `${one.kind} ${one.text}`,
  );
  for (const note of added) append(pages, noteList(note), (list) => bullet(list, note.text, false));

  for (const { list, lines } of pages.pending.values()) edits.push(...insertion(state, list, lines));
  return edits;
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

function bulletEntry(text: string): Entry {
  return { from: 0, to: 1, form: 'bullet', mark: '- ', text, checked: null, group: null, table: null, cells: [] };
}

function removal({ entry }: Placed<unknown>): LineEdit {
  const { from, to } = entry as Entry;
  return { from, to, lines: [] };
}

function rewriteDecision({ entry }: Placed<ModelDecision>, decision: ModelDecision): LineEdit {
  const { from, to, form, table, cells, mark, group } = entry as Entry;
  if (form === 'row' && table) {
    const fresh = decisionCells(decision, table);
    const merged = table.columns.map((column, index) =>
      /decision|summary|choice|rational|reason|why|决策|결정|decisão|motivo/i.test(column)
        ? (fresh[index] as string)
        : (cells[index] ?? ''),
    );
    return { from, to, lines: [row(merged)] };
  }
  const { context, ...rest } = decision;
  const words = decisionWords(context === undefined || context === group ? rest : decision);
  return { from, to, lines: withMark(mark, words) };
}

function rewriteItem({ entry }: Placed<ModelItem>, item: ModelItem): LineEdit {
  const { from, to, form, table, cells, mark, checked } = entry as Entry;
  if (form === 'row' && table) {
    const fresh = itemCells(item, table);
    const main = fresh.indexOf(itemWords(item, false));
    const status = table.columns.findIndex((column) => /status|estado|状态|상태/i.test(column));
    const merged = cells.map((cell, index) => {
      if (index === status) return item.status;
      return index === main ? itemWords({ ...item, text: cell.replace(/^~~(.*?)~~.*$/s, '$1') }, false) : cell;
    });
    return { from, to, lines: [row(merged)] };
  }
  const boxed = checked !== null;
  const over = item.status === 'resolved';
  const ticked = boxed ? mark.replace(/\[[ xX~-]\]/, over ? '[x]' : '[ ]') : mark;
  return { from, to, lines: withMark(ticked, itemWords(item, boxed)) };
}

function withMark(mark: string, words: string): string[] {
  const indent = /^\s*/.exec(mark)?.[0] ?? '';
  const [first = '', ...rest] = words.split('\n');
  return [mark + first, ...rest.map((line) => (line.trim() === '' ? '' : `${indent}  ${line}`))];
}

interface Page {
  state: StatePage;
  edits: LineEdit[];
  pending: Map<ListKind, { list: List | null; lines: string[] }>;
}

function append(page: Page, kind: ListKind, line: (list: List | null) => string[]): void {
  const list = page.state.lists.find((one) => one.kind === kind && !one.settled && !isInline(one)) ?? null;
  const pending = page.pending.get(kind) ?? { list: list ?? emptyList(kind), lines: [] };
  pending.lines.push(...line(list));
  page.pending.set(kind, pending);
}

/** `**Blockers:** none` holds only one entry. */
function isInline(list: List): boolean {
  return (
    list.heading === null && list.listing.entries.some(({ form, from }) => form === 'paragraph' && from === list.from)
  );
}

function emptyList(kind: ListKind): List {
  return { kind, heading: null, from: -1, to: -1, listing: { entries: [], nones: [], ragged: [] }, settled: false };
}

function listOf(item: ModelItem): ListKind {
  switch (item.kind) {
    case 'blocker':
      return 'blockers';
    case 'commitment':
      return 'todos';
    case 'question':
      return 'questions';
    case 'finding':
      return 'issues';
    case 'error':
      return 'errors';
    default:
      return item.kind satisfies never;
  }
}

function noteList(note: ModelNote): ListKind {
  return (Object.keys(noteKinds) as ListKind[]).find((kind) => noteKinds[kind] === note.kind) ?? 'constraints';
}

function decisionLine(decision: ModelDecision, list: List | null): string[] {
  const last = lastUngrouped(list);
  if (last?.form === 'row' && last.table) return [row(decisionCells(decision, last.table))];
  return bullet(list, decisionWords(decision), false);
}

function itemLine(item: ModelItem, list: List | null): string[] {
  const last = lastUngrouped(list);
  if (last?.form === 'row' && last.table) return [row(itemCells(item, last.table))];
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
  const plain = /^\s*\d/.test(mark) ? '- ' : mark.replace(/\[[ xX~-]\]/, over ? '[x]' : '[ ]');
  return withMark(plain, words);
}

/** New lines go after the last line outside any group, so that they do not join one. */
function lastUngrouped(list: List | null): Entry | null {
  return list?.listing.entries.findLast(({ group }) => group === null) ?? null;
}

export function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => flat(cell).replaceAll('\\|', '|').replaceAll('|', '\\|')).join(' | ')} |`;
}

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

function insertion(state: StatePage, list: List | null, lines: readonly string[]): LineEdit[] {
  if (!list) return [];
  if (list.from < 0) return [newSection(state, listTitle(list.kind), lines)];
  const last = lastUngrouped(list);
  const [none] = list.listing.nones;
  if (last)
    return [
      { from: last.to, to: last.to, lines: last.form === 'paragraph' && lines[0] !== '' ? ['', ...lines] : lines },
    ];
  if (none && list.listing.entries.length === 0) return [{ from: none.from, to: none.to, lines }];
  const after = bare(state.page.lines[list.from]).trim() === '' ? list.from + 1 : list.from;
  const next = bare(state.page.lines[after]).trim();
  return [
    {
      from: Math.min(after, list.to),
      to: Math.min(after, list.to),
      lines: [...(after === list.from ? [''] : []), ...lines, ...(next === '' || after >= list.to ? [] : [''])],
    },
  ];
}

/** A new section: in the accumulated context, or before the session, or at the end. */
export function newSection(state: StatePage, title: string, lines: readonly string[]): LineEdit {
  const { page } = state;
  const context = page.headings.find(
    ({ title: words, level }) =>
      level === 2 && /^(?:accumulated context|contexto acumulado|累积上下文|누적 컨텍스트)/iu.test(words),
  );
  let at = context ? context.end : (state.sessionHeading?.line ?? page.lines.length);
  while (at > 0 && /^\s*(?:(?:[-*_]\s*){3,})?$/.test(bare(page.lines[at - 1]))) at--;
  return { from: at, to: at, lines: ['', `${context ? '###' : '##'} ${title}`, '', ...lines] };
}
