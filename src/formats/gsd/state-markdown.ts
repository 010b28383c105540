import { type FrontFields, readFrontMatter } from '../text/front-matter.ts';
import { entryOf, type Listing, readEntries } from '../text/list.ts';
import { type Heading, type Page, scanPage } from '../text/page.ts';
import { linesOf, type NextAction, readNextAction, saysNext } from './next-action.ts';
import { type ListKind, lists } from './table.ts';
import { type Field, type FieldName, type Fields, readFields } from './words/fields.ts';
import { isSettledTitle, type SectionKind, sectionKind } from './words/headings.ts';
import { isNone } from './words/none.ts';
import { readPhase } from './words/numbers.ts';

/** STATE.md as read: fields, lists and tables with their lines. `assemble.ts` interprets them. */
export interface StatePage {
  page: Page;
  variant: Variant;
  front: FrontFields | null;
  /** A value of the front matter; null where it has none. */
  said(key: string): string | null;
  /** Fields of the section on the position, or of the page where it has none. */
  position: Fields;
  positionHeading: Heading | null;
  session: Fields;
  sessionHeading: Heading | null;
  /** The first of each name on the whole page. */
  anywhere: Fields;
  /** The line that is meant by a label: one of the position is not looked for elsewhere. */
  field(name: FieldName): Field | undefined;
  lists: readonly List[];
  next: NextAction | null;
  title: { text: string; line: number } | null;
  /** Unknown sections, whole, by their heading line. */
  others: readonly Passage[];
}

export type Variant = 'G0' | 'G1' | 'G2' | 'G3' | 'G4' | 'legacy' | 'gsd-2' | 'other';

export interface List {
  kind: ListKind;
  heading: Heading | null;
  from: number;
  to: number;
  listing: Listing;
  settled: boolean;
}

export interface Passage {
  heading: Heading;
  text: string;
  from: number;
  to: number;
}

export function readStatePage(text: string): StatePage {
  const page = scanPage(text);
  const [block] = page.frontMatter;
  const front = block ? readFrontMatter(page, block) : null;
  const start = page.body;
  const anywhere = readFields(page, start, page.lines.length);
  const sections = sectionsOf(page);
  const positionHeading = sections.find(({ kind }) => kind === 'position')?.heading ?? null;
  const sessionHeading = sections.find(({ kind }) => kind === 'session')?.heading ?? null;
  const fieldsBelow = (heading: Heading | null) =>
    heading ? readFields(page, heading.line + 1, heading.bodyEnd) : new Map<FieldName, Field>();
  const position = fieldsBelow(positionHeading);
  addProsePhase(page, positionHeading, position);
  const inSections = new Set(['session', 'decisions', 'blockers', 'todos', 'deferred', 'questions']);
  for (const name of ofPosition) {
    const field = anywhere.get(name);
    if (!field || position.has(name) || (positionHeading && name !== 'last activity')) continue;
    // A page without the section has it elsewhere; a line inside another list is not meant.
    const owner = sections.findLast(({ heading }) => heading.line < field.line && field.line < heading.bodyEnd);
    if (!inSections.has(owner?.kind ?? '')) position.set(name, field);
  }
  const session = fieldsBelow(sessionHeading);
  const next = nextOf(page, sections);
  return {
    ...{ page, front, position, positionHeading, session, sessionHeading, anywhere, next, title: titleOf(page) },
    said: (key) => {
      const value = front?.fields.get(key)?.value;
      return value === undefined || isNone(value) || value === 'null' ? null : value;
    },
    field: (name) => {
      if (name === 'next') return position.get(name) ?? session.get(name);
      if (placeNames.has(name)) return position.get(name);
      return position.get(name) ?? session.get(name) ?? anywhere.get(name);
    },
    lists: [...listsOf(page, sections), ...labelledLists(page, sections, start)],
    others: othersOf(page, sections, next),
    variant: variantOf(page, front, anywhere, sections),
  };
}

const ofPosition = ['phase', 'plan', 'task', 'status', 'progress', 'milestone', 'slice', 'last activity'] as const;
const placeNames: ReadonlySet<FieldName> = new Set(['phase', 'phase name', 'plan', 'total plans', 'task', 'status']);

interface Section {
  heading: Heading;
  kind: SectionKind | null;
  /** The kind inherited from the heading above. */
  inherited: ListKind | null;
  /** Whether a heading above it has a kind, or is kept whole. */
  settled: boolean;
}

function sectionsOf(page: Page): Section[] {
  const open: Section[] = [];
  return page.headings.map((heading) => {
    while ((open.at(-1)?.heading.level ?? 0) >= heading.level) open.pop();
    const above = open.at(-1);
    // The first title names the page: `# Project State` is not a section on the position.
    const named = heading.level === 1 ? null : sectionKind(heading.title);
    const from = above ? (isListKind(above.kind) ? above.kind : above.inherited) : null;
    const section: Section = {
      heading,
      kind: named,
      inherited: named === null ? from : null,
      settled: isSettledTitle(heading.title) || (above?.settled === true && named === null),
    };
    open.push(section);
    return section;
  });
}

function isListKind(kind: SectionKind | null): kind is ListKind {
  return kind !== null && kind in lists;
}

function listsOf(page: Page, sections: readonly Section[]): List[] {
  return sections.flatMap(({ heading, kind, inherited, settled }): List[] => {
    const own = isListKind(kind) ? kind : inherited;
    if (!own && kind !== null && kind !== 'position') return [];
    const [from, to] = [heading.line + 1, heading.bodyEnd];
    const { entries, nones } = readEntries(page, from, to, isNone);
    if (own) {
      if (inherited) for (const entry of entries) entry.group ??= heading.title;
      return [{ kind: own, heading, from, to, listing: { entries, nones }, settled }];
    }
    // Tables of phases occur under any heading.
    const phases = entries.filter(({ columns }) => columns && isPhaseTable(columns));
    if (phases.length === 0) return [];
    return [{ kind: 'phases', heading, from, to, listing: { entries: phases, nones }, settled }];
  });
}

function isPhaseTable(columns: readonly string[]): boolean {
  const [first = ''] = columns;
  return (
    /^\W*(?:phase|fase|阶段|단계|#)\W*$/iu.test(first) &&
    columns.some((words) => /^\W*(?:status|estado|状态|상태)/iu.test(words))
  );
}

/** `**Decisions:**` on its own line also heads a list, and `**Blockers:** none` is a list on one line. */
function labelledLists(page: Page, sections: readonly Section[], start: number): List[] {
  const lists: List[] = [];
  const owners = sections.filter(({ kind, inherited }) => !(isListKind(kind) || inherited));
  const ranges =
    owners.length > 0 || sections.length > 0
      ? owners.map(({ heading }) => [heading.line + 1, heading.bodyEnd] as const)
      : [[start, page.lines.length] as const];
  for (const [from, to] of ranges) {
    for (let line = from; line < to; line++) {
      const text = page.line(line);
      if (!/^\s*(?:[-*+]\s+)?\*\*/.test(text) || page.isQuiet(line)) continue;
      const parts = /^\s*(?:[-*+]\s+)?\*\*([^*]{2,60}?)(?:[:：]\*\*|\*\*[:：])\s*(.*)$/u.exec(text);
      const kind = parts && sectionKind(parts[1] as string);
      if (!parts || !isListKind(kind) || kind === 'phases') continue;
      const words = parts[2] as string;
      const end = words === '' ? labelEnd(page, line + 1, to) : line + 1;
      const listing =
        words === ''
          ? readEntries(page, line + 1, end, isNone)
          : inlineListing(page, line, withReasons(page, line, to, words), parts[0].length - words.length);
      lists.push({ kind, heading: null, from: words === '' ? line + 1 : line, to: end, listing, settled: false });
      line = Math.max(line, end - 1);
    }
  }
  return lists;
}

/** `Lexical chosen over TipTap for:` and a list: the list has the reasons. */
function withReasons(page: Page, line: number, to: number, words: string): string {
  if (!/\b(?:for|because|since)\s*[:：]\s*$/iu.test(words)) return words;
  const below = linesOf(page, line + 1, to)
    .join('\n')
    .trimStart();
  const reasons = /^(?:\s*[-*+]\s+.+(?:\n|$))+/.exec(below)?.[0].match(/(?<=^\s*[-*+]\s+)\S.*$/gm) ?? [];
  const decided = words.replace(/\s*\b(?:for|because|since)\s*[:：]\s*$/iu, '');
  return reasons.length === 0 ? words : `${decided} — ${reasons.join('; ')}`;
}

function labelEnd(page: Page, from: number, to: number): number {
  for (let line = from; line < to; line++) {
    const text = page.line(line);
    if (/^\*\*[^*]+(?:[:：]\*\*|\*\*[:：])/u.test(text) || /^(?:[-*_]\s*){3,}$/.test(text)) return line;
  }
  return to;
}

function inlineListing(page: Page, line: number, words: string, column: number): Listing {
  if (isNone(words)) return { entries: [], nones: [{ from: line, to: line + 1 }] };
  return { entries: [{ ...entryOf(line, line + 1, words), mark: page.line(line).slice(0, column) }], nones: [] };
}

function addProsePhase(page: Page, heading: Heading | null, position: Map<FieldName, Field>): void {
  if (!heading || position.has('phase')) return;
  for (let line = heading.line + 1; line < heading.bodyEnd; line++) {
    const text = page.line(line);
    if (text.trim() === '') continue;
    const isPhase =
      /^\W*(?:phase|fase|阶段|第|단계)\s*\d/iu.test(text) && readPhase(text.replace(/^\W+/u, '')) !== null;
    if (isPhase)
      position.set('phase', { name: 'phase', value: text.replace(/^\W+/u, '').trim(), line, from: 0, to: text.length });
    return;
  }
}

/** The first section with content; one that only says "none" is where new text goes. */
function nextOf(page: Page, sections: readonly Section[]): NextAction | null {
  let empty: NextAction | null = null;
  for (const { heading, kind } of sections) {
    if (kind !== 'next') continue;
    const passage = passageOf(page, heading);
    if (passage.text === '') continue;
    const next = readNextAction(page, heading, passage.from, passage.to);
    if (saysNext(next)) return next;
    empty ??= next;
  }
  return empty;
}

function passageOf(page: Page, heading: Heading): Passage {
  let from = heading.line + 1;
  let to = heading.bodyEnd;
  while (from < to && page.line(from).trim() === '') from++;
  while (to > from && isBlank(page.line(to - 1))) to--;
  return { heading, text: linesOf(page, from, to).join('\n'), from, to };
}

/** `*Last updated: …*` at the end of a page belongs to no section. */
const isBlank = (line: string): boolean =>
  /^\s*(?:(?:[-*_]\s*){3,})?$/.test(line) || (/^\s*[*_][^*_].*[*_]\s*$/.test(line) && !/^\s*\*\*/.test(line));

function titleOf(page: Page): StatePage['title'] {
  const heading = page.headings.find(({ level }) => level === 1);
  if (!heading) return null;
  const words = heading.title
    .replace(/^(?:\W*)(?:gsd |project |planning )?state(?:\.md)?\b/iu, '')
    .replace(/\W*\b(?:project |planning )?state(?:\.md)?$/iu, '')
    .replace(/^[\s:：—–-]+|[\s:：—–-]+$/gu, '');
  return words === '' ? null : { text: words, line: heading.line };
}

function othersOf(page: Page, sections: readonly Section[], next: NextAction | null): Passage[] {
  const found: Passage[] = [];
  for (const { heading, kind, inherited } of sections) {
    if (heading.level === 1 || inherited) continue;
    if (heading === next?.heading) {
      if (next.rest !== '') found.push({ ...passageOf(page, heading), text: next.rest });
      continue;
    }
    const whole = kind === null || kind === 'metrics' || kind === 'files' || kind === 'next';
    const passage = whole || kind === 'position' ? passageOf(page, heading) : null;
    // A section on the position that turned into a history is kept too.
    if (passage && passage.text !== '' && (whole || passage.text.length > 4000)) found.push(passage);
  }
  return found;
}

function variantOf(
  page: Page,
  front: FrontFields | null,
  anywhere: ReadonlyMap<FieldName, Field>,
  sections: readonly Section[],
): Variant {
  const titled = (pattern: RegExp) => page.headings.some(({ title }) => pattern.test(title));
  if (titled(/^Milestone Registry$/i) || anywhere.has('slice')) return 'gsd-2';
  if (front && front.fields.size > 0) {
    const newest =
      /^(?:state_head|current_phase|current_phase_name|active_phase|next_action|next_phases|last_activity_desc|paused_at)$/;
    if ([...front.fields.keys()].some((key) => newest.test(key)) || titled(/^(?:Rebuild Log|Session)$/i)) return 'G4';
    return titled(/^(?:Deferred Items|Roadmap Evolution|Quick Tasks Completed|Operator Next Steps)$/i) ? 'G3' : 'G2';
  }
  const bold = page.lines.some((line) =>
    /^\*\*(?:Current Phase|Total Plans in Phase|Current Plan|Paused At):\*\*/i.test(line),
  );
  if (bold) return 'legacy';
  if (titled(/^Project Summary$/i) || titled(/^Project Alignment$/i)) return 'G0';
  return sections.some(({ kind }) => kind === 'position') ? 'G1' : 'other';
}
