import { fenceEnd, fenceOpened } from '../text/page.ts';
import { LINE_CHARS, type Report } from './front-matter.ts';
import {
  decodePath,
  type MailClass,
  mailClasses,
  mailLabels,
  type SectionName,
  sectionTitles,
  type TaskStatus,
} from './snapshot.ts';

/** The sections of a snapshot's body by topic, under any heading. */
export interface BodySection {
  name: SectionName;
  line: number;
  text: string;
  items: readonly { text: string; line: number }[];
  files: readonly ListedFile[];
}

export interface ListedFile {
  path: string;
  /** Marked as deleted, renamed, moved, archived or absent: it need not exist. */
  mayBeGone: boolean;
  lines: number | null;
  tokens: number | null;
  note: string;
  line: number;
}

/** The count and the ids given, which may be fewer. */
export interface Counted {
  count: number | null;
  /** Both names of a message are joined: `MSG-20261116-002|M-2`. */
  ids: readonly string[];
  /** How many were left out for length. */
  left?: number;
  /** Listed in our form, in which every message has a line. */
  isOwnForm?: boolean;
  /** The sender or receiver that each entry names. */
  entries?: readonly { id: string; who: string | null }[];
}

/** The section titles in real files. The order matters: the first match is taken. */
const titles: readonly [SectionName, RegExp][] = [
  ['questions', /question|\boqs?\b/],
  ['reading', /files? to read|read on resume|first actions|reading order/],
  ['modified', /files? (modified|changed|touched)|(modified|changed) files/],
  ['mailbox', /mailbox/],
  ['commitments', /commitment|carry[- ]forward/],
  ['decisions', /decision/],
  ['task', /active task|^completed this/],
];

export function bodySections(
  lines: readonly string[],
  offset: number,
  report: Report,
  withoutHeadings: boolean,
): Map<SectionName, BodySection> {
  const found = new Map<SectionName, BodySection>();
  let open: { name: SectionName; title: string; line: number; lines: string[] } | null = null;
  const close = (): void => {
    if (open && found.has(open.name) && sectionTitles[open.name] === open.title)
      report('duplicate_section', open.line, `There are two sections "${open.title}".`);
    if (open && !found.has(open.name)) found.set(open.name, sectionOf(open));
    open = null;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').slice(0, LINE_CHARS);
    const fence = fenceOpened(line);
    const start = fence ? null : sectionStart(line, withoutHeadings);
    if (fence) {
      const end = fenceEnd(lines, index, fence.mark);
      open?.lines.push(...lines.slice(index, end + 1));
      index = Math.min(end, lines.length - 1);
    } else if (start?.name) {
      close();
      const at = offset + index + 1;
      if (start.title !== sectionTitles[start.name])
        report('renamed_heading', at, `"${start.title}" should be the heading "${sectionTitles[start.name]}".`);
      open = { name: start.name, title: start.title, line: at, lines: [start.rest] };
    } else if (start) close();
    else open?.lines.push(line);
  }
  close();
  return found;
}

/** A heading, a bold label on its own line or, without either, a bullet with a label. */
function sectionStart(
  line: string,
  withoutHeadings: boolean,
): { name?: SectionName; title: string; rest: string } | null {
  const heading = /^#{3,6}\s+(.*)$/.exec(line)?.[1];
  if (heading !== undefined) return { ...named(heading), title: heading.trim(), rest: '' };
  const bold = /^\*\*([^*]{3,80}?):?\*\*:?\s*(.*)$/.exec(line);
  const bullet = withoutHeadings ? /^- ([A-Z][^:`]{3,40}):\s*(.*)$/.exec(line) : null;
  const [, title = '', rest = ''] = bold ?? bullet ?? [];
  const name = title === '' ? {} : named(title);
  return 'name' in name ? { ...name, title, rest } : null;
}

function named(title: string): { name?: SectionName } {
  const bare = title.toLowerCase().slice(0, 120);
  const exact = (Object.keys(sectionTitles) as SectionName[]).find((name) => sectionTitles[name] === title.trim());
  const name = exact ?? titles.find(([, pattern]) => pattern.test(bare))?.[0];
  return name === undefined ? {} : { name };
}

function sectionOf({ name, line, lines }: { name: SectionName; line: number; lines: string[] }): BodySection {
  const items: { text: string; line: number }[] = [];
  for (const [index, text] of lines.entries()) {
    const item = /^\s{0,8}(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(text)?.[1];
    if (item !== undefined && item.trim() !== '') items.push({ text: item.trim(), line: line + index });
  }
  const isList = name === 'modified' || name === 'reading';
  return {
    name,
    line,
    text: lines.join('\n').trim(),
    items,
    files: isList ? items.flatMap(({ text, line: at }) => filesIn(text, at)) : [],
  };
}

const GONE = /\b(deleted|removed|renamed|moved|archived|absent)\b/i;

/** Quoted text describes the change, not the file. */
const isGone = (text: string): boolean => GONE.test(text.split('"', 1)[0] ?? '');

/** The files of one entry: one in backticks, one before a dash, or several after a label. */
function filesIn(text: string, line: number): ListedFile[] {
  if (/^\d+ more, left out/.test(text)) return [];
  const quoted = /^\*{0,2}`([^`]+)`/.exec(text);
  const dash = text.search(/\s(?:—|–|-|->)\s/);
  const head = quoted?.[1] ?? (dash > 0 ? text.slice(0, dash) : text);
  const note = (quoted ? text.slice(quoted[0].length) : dash > 0 ? text.slice(dash) : '').replace(/^[\s—–-]+/, '');
  const measure = {
    lines: numberIn(/~?\s*(\d[\d,.]*)\s*lines/i, text),
    tokens: numberIn(/~?\s*(\d[\d,.]*\s*K?)\s*tokens/i, text),
  };
  const one = (path: string): ListedFile => ({
    path,
    mayBeGone: isGone(note) || isGone(text.slice(0, 40)),
    ...measure,
    note,
    line,
  });
  if (quoted) return [one(decodePath(head))];
  const label = /^(?:[A-Z][\w -]{0,30}):\s+/.exec(head)?.[0] ?? '';
  const list = splitList(head.slice(label.length)).flatMap(expandBraces);
  return list.map(barePath).filter(looksLikePath).map(one);
}

function numberIn(pattern: RegExp, text: string): number | null {
  const written = pattern.exec(text.slice(0, 400))?.[1]?.replaceAll(',', '').trim();
  if (written === undefined) return null;
  const value = Number.parseFloat(written) * (/k$/i.test(written) ? 1000 : 1);
  return Number.isFinite(value) ? Math.round(value) : null;
}

/** Commas outside braces and brackets. */
function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text[index];
    if (unit === '{' || unit === '(') depth++;
    else if (unit === '}' || unit === ')') depth = Math.max(0, depth - 1);
    else if (unit === ',' && depth === 0) {
      parts.push(text.slice(from, index));
      from = index + 1;
    }
  }
  return [...parts, text.slice(from)].slice(0, LIST_LIMIT);
}

const LIST_LIMIT = 100;

/** Expands one pair of braces: `evals/{a,b}.mjs`. */
function expandBraces(text: string): string[] {
  const match = /^([^{}]*)\{([^{}]+)\}([^{}]*)$/.exec(text);
  if (!match) return [text];
  const [, before = '', inside = '', after = ''] = match;
  return inside
    .split(',')
    .slice(0, LIST_LIMIT)
    .map((part) => `${before}${part.trim()}${after}`);
}

/** `docs/a.md (status block only)`, `docs/a.md lines 1-11`. */
function barePath(text: string): string {
  return text
    .replace(/[`*]/g, '')
    .replace(/\s*\(.*$/, '')
    .replace(/\s+(lines?|status|§|inbox|active)\b.*$/i, '')
    .trim();
}

const looksLikePath = (text: string): boolean =>
  text.length > 0 && text.length < 500 && !/\s/.test(text) && /[./]/.test(text.replace(/[.:]$/, ''));

/** Status, step and next action of the task. */
export function readTask(
  section: BodySection | undefined,
  report: Report,
): { status: TaskStatus | null; step: string | null; next: string | null; text: string } | null {
  if (!section) return null;
  const { text } = section;
  const field = (name: RegExp): string | null => name.exec(text)?.[1]?.trim() ?? null;
  const written = field(/^[ \t*-]{0,12}Status:?\*{0,2}:?[ \t]*([^\n]{1,80})/im);
  const status = statusIn(written ?? text.slice(0, 400));
  if (status === null || written?.toLowerCase() !== status)
    report('status', section.line, 'The status of the task is not one of complete, partial, blocked alone.');
  const task = field(/^[ \t*-]{0,12}Task:?\*{0,2}:?[ \t]*([^\n]{1,200})/im);
  const step = task === null ? null : (/^"?([\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*)/u.exec(task)?.[1] ?? null);
  const said = field(/^[ \t*-]{0,12}Next action:?\*{0,2}:?[ \t]*([^\n]{1,1000})/im);
  // A quotation alone is what someone declared.
  const words = /^"([^"]*)"$/.exec(said ?? '')?.[1] ?? said;
  const next = words !== null && /[\p{L}\p{N}]/u.test(words) ? words : null;
  return { status, step: step === 'none' ? null : step, next, text };
}

function statusIn(text: string): TaskStatus | null {
  const words: [RegExp, TaskStatus][] = [
    [/\bblocked\b/i, 'blocked'],
    [/\b(partial|in[ _-]progress|mid-stream)\b/i, 'partial'],
    [/\b(completed?|done|none)\b/i, 'complete'],
  ];
  const places = words.map(([pattern, status]) => ({ at: text.search(pattern), status }));
  return places.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0]?.status ?? null;
}

/** The four classes of mail, in our form or as people write them: `**Claude unread:** 0`, `Pending acks: none`. */
export function readMail(
  section: BodySection | undefined,
  agent: string | null,
): Record<MailClass, Counted | null> | null {
  if (!section) return null;
  const lines = section.text.split('\n');
  const found: Record<MailClass, Counted | null> = {
    unread: null,
    pendingAcks: null,
    unansweredUnread: null,
    awaitingClose: null,
  };
  for (let index = 0; index < lines.length; index++) {
    const own = ownLine(lines[index] ?? '');
    if (!own) continue;
    const entries: { id: string; who: string | null }[] = [];
    let left = 0;
    while (/^\s+-\s/.test(lines[index + 1] ?? '')) {
      const entry = lines[++index] ?? '';
      left += Number(/^\s+-\s+(\d{1,9}) more, left out/.exec(entry)?.[1] ?? 0);
      const [id] = bothIds(entry.slice(0, 200), MESSAGE_ID);
      const who = /\s(?:from|to) "([^"]{1,200})"/.exec(entry.slice(0, 400))?.[1] ?? null;
      if (id !== undefined) entries.push({ id, who });
    }
    found[own.name] = { count: own.count, ids: entries.map(({ id }) => id), left, isOwnForm: true, entries };
  }
  if (mailClasses.some((name) => found[name] !== null)) return found;
  const flat = section.text.replace(/[*`]/g, '').slice(0, 20_000);
  return {
    unread:
      countOf(agent === null ? null : new RegExp(`\\b${escaped(agent)} unread:?\\s*(\\d+|none)`, 'i'), flat) ??
      countOf(/(?:^|\n)[ \t-]{0,12}unread:?[ \t]*(\d+|none)/i, flat),
    pendingAcks: countOf(/pending acks?[^:\n]{0,40}:\s*(\d+|none)/i, flat),
    unansweredUnread: countOf(/(?:unanswered posts?|awaiting response)[^:\n]{0,40}:\s*(\d+|none)/i, flat),
    awaitingClose: null,
  };
}

function ownLine(line: string): { name: MailClass; count: number } | null {
  for (const name of mailClasses) {
    const start = `- ${mailLabels[name]} (`;
    if (!line.startsWith(start)) continue;
    const count = /^(\d{1,9})\)/.exec(line.slice(start.length))?.[1];
    return count === undefined ? null : { name, count: Number(count) };
  }
  return null;
}

function countOf(pattern: RegExp | null, text: string): Counted | null {
  const written = pattern?.exec(text)?.[1];
  if (written === undefined) return null;
  return { count: /^\d+$/.test(written) ? Number(written) : 0, ids: [] };
}

const escaped = (text: string): string => text.slice(0, 64).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const MESSAGE_ID = '(?:MSG-\\d{8}-\\d{3,6}(?:-[a-z]\\d{1,3})?|MSG-\\d{3,6}|M-\\d{1,9}(?:-[a-z]\\d{1,3})?)';
export const QUESTION_ID = '(?:OQ-[A-Za-z]{0,12}\\d{1,6}|Q-\\d{1,6})(?:-[a-z]\\d{1,3})?';

/** The first id of an entry, with its other name in brackets: `"MSG-20261116-002" (M-2)`, `Q-1 ("OQ-001")`. */
export function bothIds(text: string, id: string): string[] {
  const match = new RegExp(`"?(${id})"?(?:\\s+\\("?(${id})"?\\))?`).exec(text);
  return match?.[1] === undefined ? [] : [match[2] === undefined ? match[1] : `${match[1]}|${match[2]}`];
}
