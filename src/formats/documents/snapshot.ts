import { type Line, line, named, type Part, quote, quoteAll, word } from '../../core/line.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { renderIdentity } from './front-matter.ts';
import { digestSnapshot, NO_DIGITS, renderRevision, snapshotTopic } from './revision.ts';

/**
 * What a closing session leaves behind, as one text: YAML front matter for programs, sections for the next reader. It
 * must be sufficient without the tool. `snapshot-reading.ts` reads it back, in our form and in people's.
 */
export interface Snapshot {
  run: string;
  session: string;
  agent: string;
  sequence: number;
  timestamp: string;
  /** Null while the session is open. */
  closeReason: string | null;
  /** Recovered by another session because this one was cut off; it was last seen at `endedAt`. */
  reconstructed: boolean;
  endedAt: string | null;
  branch: string | null;
  head: string | null;
  journalVersion: number;
  task: SnapshotTask;
  mail: Record<MailClass, readonly Entry[]>;
  commitments: readonly Entry[];
  modified: readonly ModifiedFile[];
  reading: readonly FileToRead[];
  decisions: readonly Entry[];
  why: string | null;
  questions: readonly Entry[];
}

export type TaskStatus = 'complete' | 'partial' | 'blocked';

export interface SnapshotTask {
  status: TaskStatus;
  step: string | null;
  title: string | null;
  checkpoint: string | null;
  /** Other steps the session held. */
  also: readonly string[];
  next: SnapshotNext;
}

/** What follows from the plan, what someone declared, or both. */
export interface SnapshotNext {
  derived: Line | null;
  declared: string | null;
}

export const mailClasses = ['unread', 'pendingAcks', 'unansweredUnread', 'awaitingClose'] as const;
export type MailClass = (typeof mailClasses)[number];

/** Something with an id; its text is shortened to fit. */
export interface Entry {
  id: string;
  /** Its name in another tool's file. */
  alias?: string | undefined;
  /** Facts about it: from whom, how urgent. */
  facts: Line | '';
  words: string;
  reason?: string | undefined;
}

export interface ModifiedFile {
  path: string;
  /** `deleted`, `renamed` and `absent` files need not exist. */
  change: Line;
  note: string | null;
}

export interface FileToRead {
  path: string;
  lines: number | null;
  tokens: number | null;
  note: Line;
}

/** The headings of the sections, in order. */
export const sectionTitles = {
  task: 'Active task',
  mailbox: 'Mailbox state',
  commitments: 'Open commitments',
  modified: 'Files modified this session',
  reading: 'Files to read on resume',
  decisions: 'Decision context',
  questions: 'Open questions touched',
} as const;
export type SectionName = keyof typeof sectionTitles;

export const mailLabels: Readonly<Record<MailClass, Line>> = {
  unread: line`Unread`,
  pendingAcks: line`Pending acks`,
  unansweredUnread: line`Unanswered posts, unread`,
  awaitingClose: line`Unanswered posts, answered and awaiting close`,
};

/** The upper limit for a snapshot. */
export const SNAPSHOT_TOKENS = 1500;

export interface RenderedSnapshot {
  text: string;
  token: string;
  /** The number of entries omitted for the budget, by section; the text says so too. */
  omitted: Partial<Record<SectionName, number>>;
}

/** The text with its token. Texts are shortened before entries are omitted, and omissions are counted. */
export function renderSnapshot(snapshot: Snapshot, budgetTokens = SNAPSHOT_TOKENS): RenderedSnapshot {
  let shortest: RenderedSnapshot | null = null;
  for (const entries of ENTRIES) {
    for (const chars of WORD_CHARS) {
      const rendered = layOut(snapshot, { chars, entries });
      if (estimateTokens(rendered.text) <= budgetTokens) return rendered;
      shortest = rendered;
    }
  }
  return shortest as RenderedSnapshot;
}

/** The same snapshot as an entry of a chat file: the YAML in a fence, under a heading. The token is the same. */
export function renderChatEntry(text: string, title: string): string {
  const end = text.indexOf('\n---\n', 4);
  const yaml = text.slice(4, end);
  return `## ${title}\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n${text.slice(end + 5)}`;
}

/** The number of entries per section and their maximum length, tried in this order. */
const ENTRIES = [40, 20, 12, 8, 5, 3, 2, 1, 0];
const WORD_CHARS = [300, 160, 100, 60, 30];

interface Measures {
  chars: number;
  entries: number;
}

function layOut(snapshot: Snapshot, measures: Measures): RenderedSnapshot {
  const unsigned = renderRevision({
    date: snapshot.timestamp.slice(0, 10).replaceAll('-', ''),
    topic: snapshotTopic(snapshot.agent),
    sequence: snapshot.sequence,
    part: null,
    digits: NO_DIGITS,
  });
  const omitted: RenderedSnapshot['omitted'] = {};
  const { mail, closeReason } = snapshot;
  const yaml = renderIdentity({ ...snapshot, sessionOpen: closeReason === null, token: unsigned }, mail);
  const body = `\n${sectionsOf(snapshot, measures, omitted).join('\n\n')}\n`;
  const token = unsigned.slice(0, -NO_DIGITS.length) + digestSnapshot(yaml, body, unsigned);
  return { text: `---\n${yaml.replace(unsigned, token)}\n---\n${body}`, token, omitted };
}

function sectionsOf(snapshot: Snapshot, measures: Measures, omitted: RenderedSnapshot['omitted']): string[] {
  const { chars, entries } = measures;
  const section = <T>(
    name: SectionName,
    list: readonly T[],
    write: (one: T, index: number) => Line,
    before: readonly Line[] = [],
  ): string => {
    const left = Math.max(0, list.length - entries);
    if (left > 0) omitted[name] = left;
    const more = left > 0 ? [line`- ${left} more, left out for length: ${moreOf[name]}`] : [];
    const all = [...before, ...list.slice(0, entries).map(write), ...more];
    return `### ${sectionTitles[name]}\n\n${(all.length > 0 ? all : ['None.']).join('\n')}`;
  };
  const listed = (entry: Entry): Line => line`- ${entryLine(entry, chars)}`;
  return [
    section('task', [], listed, taskLines(snapshot.task, chars)),
    mailSection(snapshot, measures, omitted),
    section('commitments', snapshot.commitments, listed),
    section('modified', snapshot.modified, ({ path, change, note }) => {
      const words = note === null ? '' : line`: ${quote(note, 'text', chars)}`;
      return line`- ${inBackticks(path)} — ${change}${words}`;
    }),
    section('reading', snapshot.reading, ({ path, lines, tokens, note }, index) => {
      const measure = line`${about(lines)} lines / ${about(tokens)} tokens`;
      return line`${index + 1}. ${inBackticks(path)} — ${measure} — ${note}`;
    }),
    section(
      'decisions',
      snapshot.decisions,
      listed,
      snapshot.why === null ? [] : [line`- Why things stand as they do: ${quote(snapshot.why, 'text', chars)}`],
    ),
    section('questions', snapshot.questions, listed),
  ];
}

const about = (count: number | null): Line => (count === null ? line`unknown` : line`~${count}`);

const inBackticks = (path: string): Line => `\`${encodePath(path)}\`` as Line;

/** Where a reader with the tool finds the rest. */
const moreOf: Readonly<Record<SectionName, Line>> = {
  task: line`holdfast status`,
  mailbox: line`holdfast mail inbox`,
  commitments: line`holdfast items`,
  modified: line`holdfast log`,
  reading: line`holdfast resume`,
  decisions: line`holdfast decisions`,
  questions: line`holdfast items`,
};

function taskLines({ status, step, title, checkpoint, also, next }: SnapshotTask, chars: number): Line[] {
  const named = title === null ? '' : line`, ${quote(title, 'text', chars)}`;
  const at = checkpoint === null ? '' : line`, checkpoint ${quote(checkpoint, 'name')}`;
  const more = also.length > ALSO ? line` and ${also.length - ALSO} more` : '';
  return [
    line`- Status: ${word(status)}`,
    line`- Task: ${step === null ? line`none` : line`${quote(step, 'name')}${named}`}${at}`,
    ...(also.length > 0 ? [line`- Also in hand: ${quoteAll(also.slice(0, ALSO), 'name')}${more}`] : []),
    line`- Next action: ${nextWords(next, chars)}`,
  ];
}

function nextWords({ derived, declared }: SnapshotNext, chars: number): Part {
  // The next action must not be cut with the rest.
  const said = declared === null ? null : quote(declared, 'text', Math.max(chars * 2, 120));
  if (derived === null) return said ?? line`none`;
  return said === null ? derived : line`${derived} It was declared: ${said}`;
}

const ALSO = 5;

function mailSection({ mail }: Snapshot, { chars, entries }: Measures, omitted: RenderedSnapshot['omitted']): string {
  const lines = mailClasses.flatMap((name) => {
    const shown = mail[name].slice(0, entries);
    const left = mail[name].length - shown.length;
    if (left > 0) omitted.mailbox = (omitted.mailbox ?? 0) + left;
    return [
      line`- ${mailLabels[name]} (${mail[name].length})${mail[name].length === 0 ? line`: none` : line`:`}`,
      ...shown.map((entry) => line`  - ${entryLine(entry, chars)}`),
      ...(left > 0 ? [line`  - ${left} more, left out for length: ${moreOf.mailbox}`] : []),
    ];
  });
  return `### ${sectionTitles.mailbox}\n\n${lines.join('\n')}`;
}

function entryLine({ id: own, alias, facts, words, reason }: Entry, chars: number): Line {
  const why = reason === undefined ? '' : line` Why: ${quote(reason, 'text', chars)}`;
  return line`${named(own, alias)}${facts === '' ? '' : line` ${facts}`}: ${quote(words, 'text', chars)}${why}`;
}

/**
 * A path in backticks. It is not shortened or replaced, because it must lead to the file: whatever could end the
 * backticks or the line, hide, or pass for markup is percent-encoded as in an address.
 */
export function encodePath(path: string): string {
  return path.replace(UNSAFE_IN_PATH, (unit) => (/\p{Cs}/u.test(unit) ? NO_CHARACTER : encodeURIComponent(unit)));
}

/** Half of a pair is not a character and cannot be encoded. */
const NO_CHARACTER = '%EF%BF%BD';
const UNSAFE_IN_PATH =
  /[\u034f\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Variation_Selector}`"<>\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}|\](?=\()|(?<=!)\[|%(?=[0-9A-F]{2})/gu;

export function decodePath(path: string): string {
  return path.replace(/(?:%[0-9A-F]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      // Version 0.1 wrote control characters above 127 as one byte.
      return run.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    }
  });
}
