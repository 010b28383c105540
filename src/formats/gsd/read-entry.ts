import type { ModelDecision, ModelItem } from '../../core/model/run-model.ts';
import { labelOf } from '../label.ts';
import type { Entry } from '../text/list.ts';
import { isNone } from './words/none.ts';
import { isStepKey, phaseKey, phaseOfPlan, readDate, readPlanId } from './words/numbers.ts';

/**
 * Decisions and items as lines of this format, both ways. A leading tag names the phase, a dash separates decision and
 * reason, strike-through and a word in capitals mark it as settled.
 */

type Columns = readonly string[];
type Known = (key: string) => boolean;

export function readDecision(entry: Entry, known: Known): ModelDecision | null {
  if (entry.columns) return readDecisionRow(entry, entry.columns, known);
  const { text, over } = unstruck(entry.text);
  const { tag, rest } = untagged(text);
  const [decision, reason] = parted(rest);
  if (decision === '') return null;
  const at = leadingDate(tag ?? entry.group ?? decision);
  const alias = /^\**(D-?\d+|DEC-\d+|ADR-?\d+)\b/.exec(decision)?.[1];
  return {
    ...(alias ? { alias } : {}),
    ...placed(tag, entry.group, decision, known),
    decision,
    ...(reason ? { reason } : {}),
    ...(at ? { at } : {}),
    status: decisionStatus(over),
  };
}

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

export function decisionCells(decision: ModelDecision, columns: Columns): string[] {
  const over = decision.status === 'superseded' || decision.status === 'retracted';
  const whyColumn = columns.some((column) => decisionColumn(column) === 'reason');
  const kinds = columns.map(decisionColumn);
  const placed =
    kinds.includes('context') ||
    (kinds.includes('phase') && (decision.context === undefined || decision.step === undefined));
  const tag = placed ? '' : decisionTag(decision);
  const words = [
    tag === '' ? '' : `[${tag}]: `,
    decision.decision,
    whyColumn || !decision.reason ? '' : ` — ${decision.reason}`,
  ].join('');
  return columns.map((column) => {
    switch (decisionColumn(column)) {
      case 'decision':
        return over ? `~~${words}~~ ${decision.status?.toUpperCase()}` : words;
      case 'reason':
        return decision.reason ?? '—';
      case 'phase':
        return decision.step ?? decision.context ?? '—';
      case 'context':
        return decision.context ?? '—';
      case 'date':
        return decision.at?.slice(0, 10) ?? '—';
      case 'alias':
        return decision.alias ?? '—';
      default:
        return '—';
    }
  });
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
  const text = parts.text;
  if (text === '') return null;
  const tag = untagged(text);
  const phase = tag.tag === null ? null : phaseTag(tag.tag, known);
  const isOver =
    over !== null || entry.checked === true || parts.resolved || saysResolved(text) || row?.resolved === true;
  const idle = kind === 'blocker' ? ('active' as const) : ('open' as const);
  const status =
    over?.word === 'withdrawn' && kind !== 'blocker'
      ? ('withdrawn' as const)
      : isOver || settled === 'resolved'
        ? ('resolved' as const)
        : (parts.status ?? (settled === 'deferred' && kind !== 'blocker' ? ('deferred' as const) : idle));
  const alias = /^\**((?:B|Q|F|OQ|BLOCK|block|T|TODO)-\d+)\b/.exec(text)?.[1] ?? row?.alias;
  const resolution = over?.rest || parts.resolution || row?.resolution;
  const raisedAt = leadingDate(text) ?? row?.date;
  return {
    ...(alias ? { alias } : {}),
    kind,
    text: phase?.exact ? tag.rest : text,
    status,
    ...(phase ? { step: phase.key } : {}),
    ...(parts.workaround ? { workaround: parts.workaround } : {}),
    ...(raisedAt ? { raisedAt } : {}),
    ...(resolution && status === 'resolved' ? { resolution } : {}),
  };
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
      return words;
    default:
      return item.status satisfies never;
  }
}

export function itemCells(item: ModelItem, columns: Columns): string[] {
  const column = mainColumn(columns);
  const status = statusColumn(columns);
  return columns.map((words, index) => {
    if (index === column) return itemWords(item, false);
    if (index === status) return item.status;
    if (/date|since|at$|data/i.test(words)) return item.raisedAt?.slice(0, 10) ?? '—';
    return '—';
  });
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

function decisionStatus(over: { word: string } | null): 'active' | 'superseded' | 'retracted' {
  return over === null ? 'active' : over.word === 'superseded' ? 'superseded' : 'retracted';
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

type DecisionColumn = 'decision' | 'reason' | 'phase' | 'context' | 'date' | 'alias' | 'status' | null;

function decisionColumn(words: string): DecisionColumn {
  const plain = words.replace(/[*_`]/g, '').trim().toLowerCase();
  if (/^(?:#|id|no\.?|d#)$/.test(plain)) return 'alias';
  if (/decision|summary|choice|chosen|decisão|decisión|what|决策|决定|결정/.test(plain)) return 'decision';
  if (/rational|reason|why|motivo|razão|justif|razón|理由|原因|이유|근거/.test(plain)) return 'reason';
  if (/^(?:phase|fase|plan|阶段|단계)/.test(plain)) return 'phase';
  if (/date|when|data|fecha|日期|날짜/.test(plain)) return 'date';
  if (/context|area|topic|contexto|背景|맥락/.test(plain)) return 'context';
  if (/status|outcome|state|estado|状态|상태/.test(plain)) return 'status';
  return null;
}

function readDecisionRow(entry: Entry, columns: Columns, known: Known): ModelDecision | null {
  const kinds = columns.map(decisionColumn);
  const cell = (kind: DecisionColumn): string => {
    const value = entry.cells[kinds.indexOf(kind)] ?? '';
    return kinds.includes(kind) && !isNone(value) ? value : '';
  };
  const loose = entry.cells.findIndex((value, index) => kinds[index] === null && value !== '');
  const main = cell('decision') || (loose < 0 ? entry.text : (entry.cells[loose] as string));
  const { text: whole, over } = unstruck(main);
  const { tag, rest: text } = untagged(whole);
  // Text in unknown columns stays with the decision.
  const others = entry.cells.flatMap((value, index) =>
    (kinds[index] === null || kinds[index] === 'status') && value !== main && !isNone(value)
      ? [`${columns[index] ?? 'Also'}: ${value}`]
      : [],
  );
  const [decision, reason] = cell('reason') ? [text, cell('reason')] : parted(text);
  if (decision === '') return null;
  const phase = cell('phase');
  const tagged = tag === null ? {} : placed(tag, null, '', known);
  const step = phase ? phaseTag(/^\d/.test(phase) ? `Phase ${phase}` : phase, known) : null;
  const context = [cell('context'), phase && !step?.exact ? phase : '', ...others]
    .filter((part) => part !== '')
    .join('; ');
  const date = cell('date');
  const alias = cell('alias');
  return {
    ...(labelOf(alias) ? { alias: labelOf(alias) as string } : {}),
    ...tagged,
    ...(step ? { step: step.key } : {}),
    ...(context ? { context: tagged.context ? `${tagged.context}; ${context}` : context } : {}),
    decision,
    ...(reason ? { reason } : {}),
    ...(date ? { at: date.slice(0, 200) } : {}),
    status: decisionStatus(over),
  };
}

interface ItemParts {
  text: string;
  status: 'bypassed' | 'deferred' | null;
  workaround: string | null;
  resolved: boolean;
  resolution: string | null;
}

function itemParts(words: string): ItemParts {
  const mark = /^\[(BYPASSED|DEFERRED)\]\s*/i.exec(words);
  const rest = mark ? words.slice(mark[0].length) : words;
  const resolved = / RESOLVED: (.*)$/s.exec(rest);
  const open = resolved ? rest.slice(0, resolved.index) : rest;
  const workaround = / — Workaround: (.*)$/s.exec(open);
  return {
    text: unguarded((workaround ? open.slice(0, workaround.index) : open).trim()),
    status: mark ? (mark[1]?.toUpperCase() === 'BYPASSED' ? 'bypassed' : 'deferred') : null,
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

export const statusColumn = (columns: Columns): number =>
  columns.findIndex((words) => /status|estado|状态|상태/i.test(words));

function mainColumn(columns: Columns): number {
  const at = columns.findIndex((words) =>
    /blocker|issue|concern|description|item|problem|question|todo|task|risk|action|bloqueio|descri|事项|问题|阻塞|항목|내용/i.test(
      words,
    ),
  );
  return Math.max(at, 0);
}

function itemRow(
  entry: Entry,
  columns: Columns,
): { text: string; resolved: boolean; resolution?: string; alias?: string; date?: string } {
  const main = mainColumn(columns);
  const status = statusColumn(columns);
  const alias = /^(?:#|id)$/i.test(columns[0]?.trim() ?? '') && main > 0 ? entry.cells[0] : undefined;
  const others = entry.cells.flatMap((value, index) =>
    index !== main && index !== status && !(alias !== undefined && index === 0) && !isNone(value)
      ? [`${columns[index] ?? 'Also'}: ${value}`]
      : [],
  );
  const said = status < 0 ? '' : (entry.cells[status] ?? '');
  const resolved = /^\W*(?:resolved|done|closed|fixed|complete|✅)/iu.test(said);
  if (said !== '' && !resolved && !/^(?:open|active|pending|deferred|bypassed)$/i.test(said))
    others.push(`Status: ${said}`);
  const date = entry.cells.map(readDate).find((found) => found !== null);
  const text = entry.cells[main] ?? '';
  return {
    text: others.length === 0 ? text : `${text} (${others.join('; ')})`,
    resolved,
    ...(labelOf(alias) ? { alias: labelOf(alias) as string } : {}),
    ...(date ? { date } : {}),
  };
}
