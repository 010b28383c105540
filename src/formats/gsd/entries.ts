import type { ModelDecision, ModelItem } from '../../core/model/run-model.ts';
import { labelOf } from '../label.ts';
import { flat } from '../text/lines.ts';
import type { Entry } from '../text/list.ts';
import { defined } from '../text/values.ts';
import { type Column, decisionColumns, itemColumns } from './table.ts';
import { clip } from './words/clip.ts';
import { isNone } from './words/none.ts';
import { isStepKey, phaseKey, phaseOfPlan, readDate, readPlanId } from './words/numbers.ts';

/**
 * Decisions and items as lines of this format, both ways. A leading tag names the phase, a dash separates decision and
 * reason, strike-through and a word in capitals mark it as settled.
 */

type Columns = readonly string[];
type Known = (key: string) => boolean;
type Kinds<E> = readonly ((keyof E & string) | null)[];

/** The field of each column; items have a main one even if no name says so. */
function kindsIn<E>(columns: Columns, table: readonly Column<E>[]): Kinds<E> {
  return columns.map((words) => {
    const plain = words.replace(/[*_`]/g, '').trim().toLowerCase();
    return (table.find(({ named }) => named.test(plain))?.is as (keyof E & string) | undefined) ?? null;
  });
}

function itemKinds(columns: Columns): Kinds<ModelItem> {
  const kinds = kindsIn(columns, itemColumns);
  const main = Math.max(kinds.indexOf('text'), 0);
  return kinds.map((kind, index) => (index === main ? 'text' : kind === 'alias' && index > 0 ? null : kind));
}

/** A row with these values; other cells stay as they are. */
function rowOf<E>(kinds: Kinds<E>, said: { [K in keyof E]?: string | undefined }, old: readonly string[] = []): string {
  return row(kinds.map((kind, index) => (kind === null ? undefined : said[kind]) ?? old[index] ?? '—'));
}

export const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => flat(cell).replaceAll('\\|', '|').replaceAll('|', '\\|')).join(' | ')} |`;

/** A cell by its field, and the texts of other columns, which stay with the entry. */
function cellsOf<E>({ cells, columns }: Entry, kinds: Kinds<E>) {
  return {
    cell: (kind: keyof E): string => {
      const value = cells[kinds.indexOf(kind as never)] ?? '';
      return isNone(value) ? '' : value;
    },
    others: (isOther: (kind: Kinds<E>[number], value: string) => boolean): string[] =>
      cells.flatMap((value, index) =>
        isOther(kinds[index] ?? null, value) && !isNone(value) ? [`${columns?.[index] ?? 'Also'}: ${value}`] : [],
      ),
  };
}

export function readDecision(entry: Entry, known: Known): ModelDecision | null {
  const { columns } = entry;
  const kinds = columns ? kindsIn(columns, decisionColumns) : [];
  const { cell, others } = cellsOf(entry, kinds);
  const loose = entry.cells.find((value, index) => kinds[index] === null && value !== '');
  const main = cell('decision') || (loose ?? entry.text);
  const { text, over } = unstruck(main);
  const { tag, rest } = untagged(text);
  const [decision, reason] = cell('reason') ? [rest, cell('reason')] : parted(rest);
  if (decision === '') return null;
  const phase = cell('step');
  const step = phase ? phaseTag(/^\d/.test(phase) ? `Phase ${phase}` : phase, known) : null;
  const group = columns ? null : entry.group;
  const tagged = columns && tag === null ? {} : placed(tag, group, columns ? '' : decision, known);
  const context = [
    ...[tagged.context, cell('context'), phase && !step?.exact ? phase : ''],
    ...(columns ? others((kind, value) => (kind === null || kind === 'status') && value !== main) : []),
  ];
  return defined({
    alias: columns ? labelOf(cell('alias')) : /^\**(D-?\d+|DEC-\d+|ADR-?\d+)\b/.exec(decision)?.[1],
    step: step?.key ?? tagged.step,
    context: clipped(context.filter(Boolean).join('; ')),
    decision: clip(decision),
    reason: clipped(reason),
    at: columns ? cell('at').slice(0, 200) || undefined : leadingDate(tag ?? group ?? decision),
    status: over === null ? 'active' : over.word === 'superseded' ? 'superseded' : 'retracted',
  });
}

const clipped = (text: string | null | undefined): string | undefined => (text ? clip(text) : undefined);

/** The text of its bullet. */
export function decisionWords(decision: ModelDecision): string {
  const tag = decisionTag(decision);
  const words = decision.reason
    ? `${decision.decision.replace(/\s*\n\s*/g, ' ')} — ${decision.reason}`
    : decision.decision;
  const line = tag === '' ? guarded(words) : `[${tag}]: ${words}`;
  switch (decision.status) {
    case 'superseded':
      return `~~${line}~~ SUPERSEDED`;
    case 'retracted':
      return `~~${line}~~ RETRACTED`;
    case 'active':
    case undefined:
      return line;
    default:
      return decision.status satisfies never;
  }
}

function decisionTag({ step, context, decision }: ModelDecision): string {
  const about = context?.replaceAll(']', ')').replace(/\s+/g, ' ').trim() ?? '';
  // A tag that names the phase in its own spelling is enough.
  const named = /^(?:phase|fase|阶段|단계)\s/iu.test(about) || (about === '' && /^phase\s+\d/i.test(decision));
  return [step === undefined || named ? '' : `Phase ${step}`, about].filter((part) => part !== '').join(': ');
}

/** A new row for it, or an old one with its words. */
export function decisionRow(decision: ModelDecision, columns: Columns, old?: readonly string[]): string {
  const kinds = kindsIn(columns, decisionColumns);
  const { step, context, reason, status, at, alias } = decision;
  const isPlaced =
    kinds.includes('context') || (kinds.includes('step') && (context === undefined || step === undefined));
  const tag = isPlaced ? '' : decisionTag(decision);
  const why = kinds.includes('reason') || !reason ? '' : ` — ${reason}`;
  const words = `${tag === '' ? '' : `[${tag}]: `}${decision.decision}${why}`;
  const isOver = status === 'superseded' || status === 'retracted';
  const said = { decision: isOver ? `~~${words}~~ ${status.toUpperCase()}` : words, reason: reason ?? '—' };
  return old
    ? rowOf<ModelDecision>(kinds, said, old)
    : rowOf<ModelDecision>(kinds, { ...said, step: step ?? context, context, at: at?.slice(0, 10), alias });
}

export function readItem(
  entry: Entry,
  kind: ModelItem['kind'],
  settled: 'resolved' | 'deferred' | null,
  known: Known,
): ModelItem | null {
  const row = entry.columns ? itemRow(entry, entry.columns) : null;
  const { text: unmarked, over } = unstruck(row?.text ?? entry.text);
  const parts = itemParts(unmarked);
  const { text } = parts;
  if (text === '') return null;
  const tag = untagged(text);
  const phase = tag.tag === null ? null : phaseTag(tag.tag, known);
  const saysOver = over !== null || parts.resolved || saysResolved(text) || row?.resolved === true;
  const isOver = entry.checked === true || (saysOver && !parts.isOpen);
  const idle = kind === 'blocker' ? 'active' : settled === 'deferred' ? 'deferred' : 'open';
  const isWithdrawn = over?.word === 'withdrawn' && kind !== 'blocker';
  const status = isWithdrawn ? 'withdrawn' : isOver || settled === 'resolved' ? 'resolved' : (parts.status ?? idle);
  return defined({
    alias: /^\**((?:B|Q|F|OQ|BLOCK|block|T|TODO)-\d+)\b/.exec(text)?.[1] ?? row?.alias,
    kind,
    text: clip(phase?.exact ? tag.rest : text),
    status,
    step: phase?.key,
    workaround: parts.workaround ?? undefined,
    raisedAt: leadingDate(text) ?? row?.date,
    resolution: status === 'resolved' ? over?.rest || parts.resolution || undefined : undefined,
  });
}

/** The text of its bullet; `boxed` where a ticked box marks it as settled. */
export function itemWords(item: ModelItem, boxed: boolean): string {
  const tag = item.step === undefined || /^\[phase\s/i.test(item.text) ? '' : `[Phase ${item.step}]: `;
  const idle = item.workaround ? ` — Workaround: ${item.workaround}` : '';
  const text = /^\[phase\s/i.test(item.text) ? item.text : guarded(item.text);
  const words = (tag === '' ? text : tag + item.text) + idle;
  const resolution = item.resolution ? `: ${item.resolution}` : '';
  switch (item.status) {
    case 'resolved':
      if (boxed) return resolution === '' ? words : `${words} RESOLVED${resolution}`;
      return saysResolved(item.text) && resolution === '' ? words : `~~${words}~~ RESOLVED${resolution}`;
    case 'withdrawn':
      return `~~${words}~~ WITHDRAWN`;
    case 'bypassed':
      return `[BYPASSED] ${words}`;
    case 'deferred':
      return `[DEFERRED] ${words}`;
    case 'active':
    case 'open':
      // What only sounds settled.
      return saysResolved(item.text) ? `[OPEN] ${words}` : words;
    default:
      return item.status satisfies never;
  }
}

/** A new row for it, or an old one with its status. */
export function itemRowOf(item: ModelItem, columns: Columns, old?: readonly string[]): string {
  const kinds = itemKinds(columns);
  // The text of an item has other columns in it, which stay where they are.
  const there = old?.[kinds.indexOf('text')]?.replace(/^~~(.*?)~~.*$/s, '$1');
  const said = { text: itemWords({ ...item, text: there ?? item.text }, false), status: item.status };
  return rowOf<ModelItem>(kinds, old ? said : { ...said, raisedAt: item.raisedAt?.slice(0, 10) }, old);
}

function itemRow(entry: Entry, columns: Columns) {
  const kinds = itemKinds(columns);
  const { cell, others } = cellsOf(entry, kinds);
  const said = entry.cells[kinds.indexOf('status')] ?? '';
  const resolved = /^\W*(?:resolved|done|closed|fixed|complete|✅)/iu.test(said);
  const isPlain = said === '' || resolved || /^(?:open|active|pending|deferred|bypassed)$/i.test(said);
  const more = [
    ...others((kind) => kind !== 'text' && kind !== 'status' && kind !== 'alias'),
    ...(isPlain ? [] : [`Status: ${said}`]),
  ];
  const text = entry.cells[kinds.indexOf('text')] ?? '';
  return {
    text: more.length === 0 ? text : `${text} (${more.join('; ')})`,
    resolved,
    alias: labelOf(cell('alias')),
    date: entry.cells.map(readDate).find((found) => found !== null) ?? undefined,
  };
}

/** A line with another meaning in Markdown gets a backslash. */
function guarded(words: string): string {
  return /^\s*(?:\[|~~|\\|[-*+•‣–](?:\s|$)|\d+[.)、](?:\s|$)|<!--|#{1,6}(?:\s|$)|\||`{3}|~{3}|>)/u.test(words) ||
    isNone(words)
    ? `\\${words}`
    : words;
}

function unguarded(words: string): string {
  return words.replace(/^\\(?=\S)/, '');
}

function unstruck(text: string): { text: string; over: { word: string; rest: string } | null } {
  const parts = /^~~(.*?)~~\s*(?:[-–—:]+\s*)?(.*)$/s.exec(text);
  if (!parts) return { text, over: null };
  const rest = parts[2] as string;
  const word = /^\W*(\p{L}+)/u.exec(rest)?.[1]?.toLowerCase() ?? '';
  const known = /^(?:resolved|withdrawn|superseded|retracted|done|fixed|closed|cleared)$/.test(word);
  return {
    text: parts[1] as string,
    over: { word, rest: (known ? rest.replace(/^\W*\p{L}+\W*/u, '') : rest).trim() },
  };
}

/** `[Phase 3]: …`, `[Roadmap] …`; a link is not a tag. */
function untagged(text: string): { tag: string | null; rest: string } {
  const parts = /^\[([^\][\n]{1,160})\](?!\()\s*[:：]?\s*/u.exec(text);
  if (!parts || /^[xX ~-]$/.test(parts[1] as string)) return { tag: null, rest: unguarded(text) };
  return { tag: (parts[1] as string).trim(), rest: text.slice(parts[0].length) };
}

function parted(text: string): [string, string | null] {
  const at = text.indexOf(' — ');
  const line = text.indexOf('\n');
  if (at > 0 && !(line >= 0 && at > line)) return [text.slice(0, at).trim(), text.slice(at + 3).trim()];
  const because = /^(.{8,}?),?\s+because\s+(\S.{8,})$/su.exec(text);
  return because ? [(because[1] as string).trim(), (because[2] as string).trim()] : [text.trim(), null];
}

/** The step and context from a tag or a group. */
function placed(
  tag: string | null,
  group: string | null,
  decision: string,
  known: Known,
): Pick<ModelDecision, 'step' | 'context'> {
  const phase = phaseTag(tag ?? group ?? '', known) ?? (tag === null ? phaseTag(decision, known) : null);
  const about = phase?.exact && tag !== null ? phase.about : (tag ?? group);
  return { ...(phase ? { step: phase.key } : {}), ...(about ? { context: about } : {}) };
}

function phaseTag(tag: string, known: Known): { key: string; exact: boolean; about: string | null } | null {
  const parts = /^(?:phase|fase|阶段|단계)\s*([\p{L}\p{N}][\p{L}\p{N}._-]{0,63})(?::\s+(.+))?/iu.exec(tag);
  if (!parts) return null;
  const spelled = parts[1] as string;
  const number = /^\d+[A-Za-z]?(?:\.\d+)*/.exec(spelled)?.[0];
  const candidates = [spelled, readPlanId(spelled)?.key, phaseOfPlan(spelled), number && phaseKey(number)];
  const key = candidates.find((one): one is string => typeof one === 'string' && isStepKey(one) && known(one));
  if (key === undefined) return null;
  const about = parts[2] ?? null;
  return { key, exact: key === spelled && parts[0].length === tag.length, about };
}

function leadingDate(text: string): string | undefined {
  return readDate(text.slice(0, 60)) ?? undefined;
}

interface ItemParts {
  text: string;
  status: 'bypassed' | 'deferred' | null;
  isOpen: boolean;
  workaround: string | null;
  resolved: boolean;
  resolution: string | null;
}

function itemParts(words: string): ItemParts {
  const mark = /^\[(BYPASSED|DEFERRED|OPEN)\]\s*/i.exec(words);
  const said = mark?.[1]?.toLowerCase();
  const rest = mark ? words.slice(mark[0].length) : words;
  const resolved = said === 'open' ? null : / RESOLVED: (.*)$/s.exec(rest);
  const open = resolved ? rest.slice(0, resolved.index) : rest;
  const workaround = / — Workaround: (.*)$/s.exec(open);
  return {
    text: unguarded((workaround ? open.slice(0, workaround.index) : open).trim()),
    status: said === 'bypassed' || said === 'deferred' ? said : null,
    isOpen: said === 'open',
    workaround: workaround?.[1]?.trim() || null,
    resolved: resolved !== null,
    resolution: resolved?.[1]?.trim() || null,
  };
}

/** `✅ …`, `RESOLVED: …`, `**Resolved** …`, `… — RESOLVED (08-02)`; `must be resolved before` does not count. */
function saysResolved(text: string): boolean {
  const words = text.slice(0, 2000).replace(/[*_`~]/g, '');
  return (
    /^\W*(?:✅|☑|✔)/u.test(words) ||
    /^\W*(?:resolved|fixed|closed|cleared|done|resolvid[oa]|已解决|해결)(?=\W|$)/iu.test(words) ||
    /(?<![A-Z-])(?:RESOLVED|CLOSED|CLEARED|FIXED)(?![A-Z])/.test(words)
  );
}
