import { bare } from '../text/lines.ts';
import { type Page, scanPage } from '../text/page.ts';
import { type StepStatus, stepStatus } from './transitions.ts';

/**
 * The Markdown below the front matter: a title, a section for each phase, and whatever else people and models wrote.
 */
export interface BodyLog {
  /** The title without `Orchestration Log`, and its range. */
  title: { words: string; start: number; end: number } | null;
  phases: PhaseSection[];
  /** Our own sections, by lower-case name: `decisions`, `items`, `notes`. */
  sections: Map<string, Section>;
  /** Text outside all of these. */
  loose: Piece[];
  /** Phases that ended up below the front matter, as ranges of YAML. */
  spilled: { start: number; end: number }[];
}

export interface PhaseSection {
  /** The id as written in the heading. */
  id: string;
  name: string;
  status: StepStatus | null;
  /** The range of the status mark, with the space before it; empty at the end of the heading when there is none. */
  mark: { start: number; end: number };
  /** The reports of agents, in order. */
  outputs: Piece[];
  validation: Piece | null;
  /** The text for "none yet". */
  unvalidated: Piece | null;
  hasFiles: boolean;
  files: { path: string; change: 'created' | 'modified' | 'deleted' }[];
  start: number;
  /** The offset after its last non-blank line. */
  end: number;
}

export interface Section {
  pieces: Piece[];
  entries: { words: string; lines: Line[]; start: number; end: number }[];
  end: number;
}

export interface Piece {
  text: string;
  agent?: string;
  start: number;
  end: number;
}

export interface Line {
  words: string;
  start: number;
  end: number;
}

const OURS = ['decisions', 'items', 'notes'];
const SUFFIX = ' Orchestration Log';

/** Reads the text from `offset` on. */
export function readBody(text: string, offset: number): BodyLog {
  const page = scanPage(text.slice(offset));
  const lines = placeLines(page, offset);
  const log: BodyLog = { title: null, phases: [], sections: new Map(), loose: [], spilled: [] };
  const first = page.headings[0]?.line ?? lines.length;
  const range = (from: number, to: number) => takeOut(lines, from, to, page, log.spilled);
  log.loose.push(...paragraphs(range(0, first)));
  for (let at = 0; at < page.headings.length; at++) {
    const heading = page.headings[at];
    if (!heading) break;
    const line = lines[heading.line];
    const inner = range(heading.line + 1, heading.bodyEnd);
    const phase = line ? readPhaseHeading(line) : null;
    const isOurs = heading.level === 2 && OURS.includes(heading.title.toLowerCase());
    if (heading.level === 1 && log.title === null && line) log.title = readTitle(line);
    if (phase || isOurs) {
      const subs: { words: string; lines: Line[]; line: Line }[] = [];
      while (page.headings[at + 1] && (page.headings[at + 1]?.level ?? 0) > heading.level) {
        const sub = page.headings[++at];
        const subLine = sub && lines[sub.line];
        if (sub && subLine) subs.push({ words: sub.title, lines: range(sub.line + 1, sub.bodyEnd), line: subLine });
      }
      const end = lastWords([...inner, ...subs.flatMap((sub) => [sub.line, ...sub.lines])]) ?? line?.end ?? 0;
      if (phase) log.phases.push(fillPhase(phase, inner, subs, end));
      else if (!log.sections.has(heading.title.toLowerCase()))
        log.sections.set(heading.title.toLowerCase(), fillSection(inner, subs, end));
    } else {
      log.loose.push(...paragraphs(inner));
    }
  }
  return log;
}

function placeLines(page: Page, offset: number): Line[] {
  let start = offset;
  return page.lines.map((raw) => {
    const words = bare(raw);
    const line = { words, start, end: start + raw.trimEnd().length };
    if (words !== '' && words.trimEnd() !== words) line.end = start + words.length;
    start += raw.length;
    return line;
  });
}

/** The lines of a range without phases in YAML, which are noted as spilled. */
function takeOut(lines: readonly Line[], from: number, to: number, page: Page, spilled: BodyLog['spilled']): Line[] {
  const left: Line[] = [];
  for (let at = from; at < to; at++) {
    const line = lines[at];
    if (!line) break;
    if (
      page.isQuiet(at) ||
      !/^ *- id:\s/.test(line.words) ||
      !/^ *(?:name|status|agents?):\s/.test(lines[at + 1]?.words ?? '')
    ) {
      left.push(line);
      continue;
    }
    const indent = line.words.indexOf('-');
    let last = at;
    for (let next = at + 1; next < to; next++) {
      const words = lines[next]?.words ?? '';
      if (words.trim() === '') continue;
      const deep = words.search(/\S/);
      if (deep < indent || (deep === indent && !words.startsWith('- ', indent))) break;
      last = next;
    }
    spilled.push({ start: line.start, end: lines[last]?.end ?? line.end });
    at = last;
  }
  return left;
}

function readTitle(line: Line): BodyLog['title'] {
  const lead = /^\s*#\s+/.exec(line.words)?.[0].length ?? 0;
  const words = line.words.slice(lead).trimEnd();
  const topic = words.endsWith(SUFFIX)
    ? words.slice(0, -SUFFIX.length).trimEnd()
    : words.replace(/^Quick Task:\s*/, '');
  const start = line.start + lead + words.indexOf(topic);
  return topic === '' ? null : { words: topic, start, end: start + topic.length };
}

function readPhaseHeading(line: Line): Pick<PhaseSection, 'id' | 'name' | 'status' | 'mark' | 'start'> | null {
  // A dot or dash before a digit belongs to the id: `2.1` is a separate phase.
  const found = /^ {0,3}#{2,4}\s+(?:Phase|Stage)\s+([^\s:]{1,64}?)(?:\s*(?::|[.–—-](?!\d))\s*|\s+|$)(.*)$/iu.exec(
    line.words,
  );
  if (!found) return null;
  const rest = (found[2] ?? '').trimEnd();
  let name = rest;
  let status: StepStatus | null = null;
  for (let turn = 0; turn < 3; turn++) {
    // Marks are short, so only the end is searched: a heading full of spaces must not take long.
    const tail = name.slice(-40);
    const mark = /(?:^|\s+)(?:[([]([^()[\]]{1,20})[)\]]|(\S{1,3}))$/u.exec(tail);
    const meant = mark ? stepStatus(mark[1] ?? mark[2] ?? '') : null;
    if (!mark || meant === null || (mark[2] !== undefined && /^[\p{L}\p{N}]/u.test(mark[2]))) break;
    status ??= meant;
    name = name.slice(0, name.length - tail.length + mark.index).trimEnd();
  }
  const end = line.start + line.words.trimEnd().length;
  const start = end - (rest.length - name.length);
  return { id: found[1] ?? '', name: name.replace(/\*\*|__/g, ''), status, mark: { start, end }, start: line.start };
}

function fillPhase(
  head: Pick<PhaseSection, 'id' | 'name' | 'status' | 'mark' | 'start'>,
  inner: Line[],
  subs: { words: string; lines: Line[]; line: Line }[],
  end: number,
): PhaseSection {
  const section: PhaseSection = {
    ...head,
    outputs: [],
    validation: null,
    unvalidated: null,
    hasFiles: false,
    files: [],
    end,
  };
  const own = pieceOf(inner);
  for (const sub of subs) {
    const piece = pieceOf(sub.lines);
    const output = /^(.*?)\s*Output$/i.exec(sub.words);
    if (/^Files\b/i.test(sub.words)) {
      section.files.push(...readFiles(sub.lines));
      section.hasFiles = true;
    } else if (/^Validation\b/i.test(sub.words) && piece && isPlaceholder(piece.text)) section.unvalidated ??= piece;
    else if (/^Status$/i.test(sub.words)) section.status ??= piece ? stepStatus(piece.text) : null;
    else if (/^Downstream Context$/i.test(sub.words)) continue;
    else if (piece === null || isPlaceholder(piece.text)) continue;
    else if (/^Validation\b/i.test(sub.words)) section.validation ??= piece;
    else if (output?.[1] && !/^Agent$/i.test(output[1])) section.outputs.push({ ...piece, agent: output[1] });
    else section.outputs.push(piece);
  }
  if (own && !isPlaceholder(own.text)) section.outputs.push(own);
  return section;
}

const isPlaceholder = (text: string): boolean =>
  /^\[(?:Agent output|none yet|Pending|Summary of|Pass\/Fail)[^\]\n]*\]$|^\.\.\.$|^Not recorded\.$/i.test(text);

function readFiles(lines: readonly Line[]): PhaseSection['files'] {
  const files: PhaseSection['files'] = [];
  let change: 'created' | 'modified' | 'deleted' | null = null;
  for (const { words } of lines) {
    const named = /^\s*(?:[-*]\s+)?\**(Created|Modified|Deleted)\**:?\**:?\s*(.*)$/i.exec(words);
    if (named) change = (named[1] ?? '').toLowerCase() as 'created' | 'modified' | 'deleted';
    const listed = named ? (named[2] ?? '') : (/^\s+[-*]\s+(.*)$/.exec(words)?.[1] ?? '');
    if (change === null) continue;
    for (const entry of listed.replace(/^\[(.*)\]$/, '$1').split(',')) {
      const path = entry.trim().replace(/^[`"']+|[`"']+$/g, '');
      if (path !== '' && path.length < 1024 && !/^(?:none(?: yet)?|n\/a|-|–)\.?$/i.test(path) && !/\s\S+\s/.test(path))
        files.push({ path, change });
    }
  }
  return files;
}

function fillSection(inner: Line[], subs: { words: string; lines: Line[]; line: Line }[], end: number): Section {
  return {
    pieces: listItems(inner),
    entries: subs.map((sub) => ({
      words: sub.line.words.replace(/^\s*#+\s+/, '').trim(),
      lines: sub.lines,
      start: sub.line.start,
      end: lastWords(sub.lines) ?? sub.line.end,
    })),
    end,
  };
}

/** Paragraphs and list items. */
function paragraphs(lines: readonly Line[]): Piece[] {
  const pieces: Piece[] = [];
  let open: Line[] = [];
  const close = () => {
    const piece = pieceOf(open);
    if (piece && !/^(?:-{3,}|`{3,}\w*)$/.test(piece.text))
      pieces.push({ ...piece, text: piece.text.replace(/^(?:[-*+]|\d+[.)])\s+/, '') });
    open = [];
  };
  for (const line of lines) {
    const isBlank = line.words.trim() === '';
    if (open.length > 0 && (isBlank || /^(?:[-*+]|\d+[.)])\s/.test(line.words))) close();
    if (!isBlank) open.push(line);
  }
  close();
  return pieces;
}

/** List items, which may have several lines, also blank ones, as long as they are indented. */
function listItems(lines: readonly Line[]): Piece[] {
  const pieces: Piece[] = [];
  let open: Line[] = [];
  const close = () => {
    const piece = pieceOf(open);
    const text = piece?.text.replace(/^[-*+]\s+/, '').replace(/\n {2,4}/g, '\n');
    if (piece && text) pieces.push({ ...piece, text });
    open = [];
  };
  for (const line of lines) {
    if (line.words.trim() !== '' && !/^\s{2}/.test(line.words)) close();
    open.push(line);
  }
  close();
  return pieces;
}

function pieceOf(lines: readonly Line[]): Piece | null {
  const first = lines.findIndex((line) => line.words.trim() !== '');
  // A rule at the end separates this from what follows.
  const last = lines.findLastIndex((line) => !/^\s*(?:-{3,}\s*)?$/.test(line.words));
  const [from, to] = [lines[first], lines[last]];
  if (!from || !to) return null;
  const text = lines
    .slice(first, last + 1)
    .map((line) => line.words)
    .join('\n')
    .trim()
    .replace(/^( {0,3})\\(#|```|~~~)/gm, '$1$2');
  return { text, start: from.start, end: to.end };
}

/** Escapes text so that none of its lines reads as a heading; `pieceOf` reverses it. */
export function emitProse(words: string): string {
  const fences = words.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0;
  const marks = fences % 2 === 0 ? /^( {0,3})(#)/gm : /^( {0,3})(#|```|~~~)/gm;
  return words.trim().replace(marks, '$1\\$2');
}

function lastWords(lines: readonly Line[]): number | null {
  return lines.findLast((line) => line.words.trim() !== '')?.end ?? null;
}
