import type { ModelDecision, ModelItem, ModelNote, ModelSession } from '../../core/model/run-model.ts';
import type { Heading, Page } from '../text/page.ts';
import { readRows } from '../text/rows.ts';
import { type Part, partIn, type Row, type Table, valuesOf } from '../text/table.ts';
import { defined } from '../text/values.ts';
import { label, nameKey, slug } from './names.ts';
import type { Report } from './page.ts';
import { readPage } from './page.ts';
import { decodeProse } from './prose.ts';
import { closingLine, closingRows, decisionRows, itemRows, noteRows, noteTitle } from './table.ts';

/** WORKLOG.md or its archive as read; lines count from 0. */
export interface Worklog {
  page: Page;
  sound: boolean;
  title: string | undefined;
  /** The status block: one line per agent, what needs the maintainer, the next action. */
  working: readonly { agent: string; line: number; words: string }[];
  focus: StatusLine | null;
  checkpoint: StatusLine | null;
  index: Part | null;
  items: Part | null;
  decisions: ReadonlyMap<ModelDecision, Place>;
  itemRows: ReadonlyMap<ModelItem, Place>;
  sections: readonly { number: string; date: string | undefined; heading: Heading }[];
  notes: ReadonlyMap<ModelNote, Span>;
  sessions: readonly ModelSession[];
  /** The entries that close sessions, by their names. */
  closings: ReadonlyMap<string, Span>;
  archived: Part | null;
  /** The number of lines without status block and decision index, which decides on compaction. */
  bodyLines: number;
}

export interface Span {
  from: number;
  to: number;
}

export interface StatusLine {
  line: number;
  words: string;
}

export interface Place {
  table: Table;
  row: Row;
}

/** Above this the next update proposes a compaction. */
export const COMPACTION_LINES = 500;

export function readWorklog(text: string, agents: ReadonlySet<string>, report: Report): Worklog {
  const { page, sound } = readPage(text, report);
  const status = readStatus(page);
  const known = new Set([...agents, 'maintainer', ...status.working.map(({ agent }) => nameKey(agent))]);
  const decisionIndex = partIn(page, /^decision index$/i);
  const itemIndex = partIn(page, /^item index$/i);
  const sections = page.headings.flatMap((heading) => {
    const match = heading.level === 2 ? /^Session\s+([\w.-]+)\s*(?:[—–-]+\s*(.*))?$/i.exec(heading.title) : null;
    return match ? [{ number: match[1] ?? '', date: label(match[2]), heading }] : [];
  });
  const top = page.headings[0];
  const title = top?.level === 1 ? /[—–-]\s+(.*\S)/.exec(top.title)?.[1] : undefined;
  const exempt = decisionIndex ? decisionIndex.heading.end - decisionIndex.heading.line : 0;
  return {
    page,
    sound,
    title: label(title),
    ...status,
    index: decisionIndex,
    items: itemIndex,
    decisions: rowsOf(decisionIndex, readDecision),
    itemRows: rowsOf(itemIndex, readItem),
    sections,
    archived: partIn(page, /^archived sessions$/i),
    ...readEntries(page, sections, known),
    bodyLines: Math.max(0, page.lines.length - exempt - (page.headings.find((one) => one.level === 2)?.line ?? 0)),
  };
}

function rowsOf<T>(part: Part | null, read: (table: Table, row: Row) => T | null): Map<T, Place> {
  const places = (part?.tables ?? []).flatMap((table) => table.rows.map((row): Place => ({ table, row })));
  return new Map(
    places.flatMap((place): [T, Place][] => {
      const one = read(place.table, place.row);
      return one === null ? [] : [[one, place]];
    }),
  );
}

function readStatus(page: Page): Pick<Worklog, 'working' | 'focus' | 'checkpoint'> {
  const working: { agent: string; line: number; words: string }[] = [];
  let focus: StatusLine | null = null;
  let checkpoint: StatusLine | null = null;
  const end = page.headings.find((heading) => heading.level === 2)?.line ?? page.lines.length;
  for (let line = 0; line < Math.min(end, 200); line++) {
    if (page.isQuiet(line)) continue;
    const match = /^(?:Now Working \(([^)]{1,200})\)|(Maintainer Focus)|(Next Review Checkpoint)):\s*(.*)$/.exec(
      page.line(line),
    );
    const words = match?.[4]?.trim() ?? '';
    if (match?.[1] !== undefined) working.push({ agent: match[1], line, words });
    else if (match?.[2] !== undefined) focus ??= { line, words };
    else if (match?.[3] !== undefined) checkpoint ??= { line, words };
  }
  return { working, focus, checkpoint };
}

function readDecision(table: Table, row: Row): ModelDecision | null {
  const { struck, ...decision } = readRows(decisionRows, valuesOf(table, row));
  return struck ? { ...struck, ...decision } : null;
}

function readItem(table: Table, row: Row): ModelItem | null {
  const { kind, text, places = [], outcome, status = 'open', ...item } = readRows(itemRows, valuesOf(table, row));
  if (kind === undefined || text === undefined) return null;
  const [step, ...affects] = places;
  return defined({ ...item, ...outcome, kind, text, status, step, affects: affects.length > 0 ? affects : undefined });
}

function readEntries(
  page: Page,
  sections: Worklog['sections'],
  known: ReadonlySet<string>,
): Pick<Worklog, 'notes' | 'sessions' | 'closings'> {
  const notes = new Map<ModelNote, Span>();
  const sessions: ModelSession[] = [];
  const closings = new Map<string, Span>();
  let next = 0;
  for (const heading of page.headings) {
    while (next < sections.length && (sections[next]?.heading.end ?? 0) <= heading.line) next++;
    const section = sections[next];
    if (heading.level !== 3 || !section || heading.line < section.heading.line) continue;
    let to = heading.end;
    while (to > heading.line + 1 && /^\s*(?:-{3,}\s*)?$/.test(page.line(to - 1)) && !page.isQuiet(to - 1)) to--;
    const lines = Array.from({ length: to - heading.line - 1 }, (_, index) => heading.line + 1 + index);
    const session = readClosing(page, lines);
    if (session) {
      sessions.push(session);
      closings.set(slug(session.alias), { from: heading.line, to });
      continue;
    }
    const body = decodeProse(page, lines);
    const ours = noteTitle.exec(heading.title)?.groups;
    const note = ours
      ? { kind: 'worklog' as const, text: body, ...readRows(noteRows, { ...ours, text: body }) }
      : freeNote(heading.title, body, known, section.date);
    notes.set(note, { from: heading.line, to });
  }
  return { notes, sessions, closings };
}

/** Reads the line about the end of a session. */
function readClosing(page: Page, lines: readonly number[]): ModelSession | null {
  const first = lines.find((line) => page.line(line).trim() !== '');
  if (first === undefined || page.isQuiet(first)) return null;
  const { groups } = closingLine.exec(page.line(first).slice(0, 1500)) ?? {};
  const { alias, status, said, ...session } = readRows(closingRows, groups ?? {});
  if (alias === undefined || status === undefined) return null;
  return defined({ ...session, alias, status, notes: said === undefined ? undefined : [said] });
}

function freeNote(title: string, body: string, known: ReadonlySet<string>, date: string | undefined): ModelNote {
  const named = /^([^:]{1,80}):\s+(.*)$/.exec(title);
  const isAgent = named !== null && known.has(nameKey(named[1]));
  const words = isAgent ? (named[2] ?? '') : title;
  const by = isAgent ? label(named[1]) : undefined;
  return defined({ kind: 'worklog' as const, text: body === '' ? words : `${words}\n\n${body}`, by, at: date });
}

/** The status block is read first: its last line must be among the first ten. */
const STATUS_LINES = 10;
const STATUS_CHARS = 120;

export function checkWorklog({ page, working, focus, checkpoint, index, bodyLines }: Worklog, report: Report): void {
  const all = [...working, ...(focus ? [focus] : []), ...(checkpoint ? [checkpoint] : [])];
  if (working.length === 0) report('no_status', null, 'No line says who is working on what.');
  const last = Math.max(-1, ...all.map(({ line }) => line));
  if (last >= STATUS_LINES) report('status_late', last + 1, `The status block continues after line ${STATUS_LINES}.`);
  for (const { line } of all) {
    if (page.line(line).length > STATUS_CHARS)
      report('status_long', line + 1, `A status line should have at most ${STATUS_CHARS} characters.`);
  }
  if (!index) report('missing_section', null, 'The section Decision Index is missing.');
  if (bodyLines > COMPACTION_LINES)
    report(
      'compaction_due',
      null,
      `${bodyLines} lines without the status block and the decision index: more than ${COMPACTION_LINES}.`,
    );
}
