import { plain } from '../../core/brief/section.ts';
import { estimateTokens } from '../../core/tokens.ts';
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
  next: string;
}

export const mailClasses = ['unread', 'pendingAcks', 'unansweredUnread', 'awaitingClose'] as const;
export type MailClass = (typeof mailClasses)[number];

/** Something with an id; its text is shortened to fit. */
export interface Entry {
  id: string;
  /** Facts about it: from whom, how urgent. */
  facts: string;
  words: string;
  reason?: string | undefined;
}

export interface ModifiedFile {
  path: string;
  /** `deleted`, `renamed` and `absent` files need not exist. */
  change: string;
  note: string | null;
}

export interface FileToRead {
  path: string;
  lines: number | null;
  tokens: number | null;
  note: string;
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

export const mailLabels: Readonly<Record<MailClass, string>> = {
  unread: 'Unread',
  pendingAcks: 'Pending acks',
  unansweredUnread: 'Unanswered posts, unread',
  awaitingClose: 'Unanswered posts, answered and awaiting close',
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
export function renderChatEntry(text: string, sessionNumber: number): string {
  const end = text.indexOf('\n---\n', 4);
  const yaml = text.slice(4, end);
  return `## Session ${sessionNumber} closing state\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n${text.slice(end + 5)}`;
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
  const yaml = frontMatter(snapshot, unsigned);
  const body = `\n${sectionsOf(snapshot, measures, omitted).join('\n\n')}\n`;
  const token = unsigned.slice(0, -NO_DIGITS.length) + digestSnapshot(yaml, body, unsigned);
  return { text: `---\n${yaml.replace(unsigned, token)}\n---\n${body}`, token, omitted };
}

function frontMatter(snapshot: Snapshot, token: string): string {
  const { mail } = snapshot;
  return [
    `session_id: ${scalar(snapshot.session)}`,
    `agent: ${scalar(snapshot.agent)}`,
    `timestamp: ${snapshot.timestamp}`,
    `close_reason: ${snapshot.closeReason ?? 'null'}`,
    ...(snapshot.closeReason === null ? ['session_open: true'] : []),
    ...(snapshot.reconstructed ? ['reconstructed: true'] : []),
    ...(snapshot.endedAt === null ? [] : [`ended_at: ${snapshot.endedAt}`]),
    `run: ${scalar(snapshot.run)}`,
    `branch: ${snapshot.branch === null ? 'null' : scalar(snapshot.branch)}`,
    `head: ${snapshot.head === null ? 'null' : scalar(snapshot.head)}`,
    `journal_version: ${snapshot.journalVersion}`,
    'mailbox:',
    `  unread: ${mail.unread.length}`,
    `  pending_acks: ${mail.pendingAcks.length}`,
    `  unanswered: ${mail.unansweredUnread.length + mail.awaitingClose.length}`,
    `revision: ${token}`,
  ].join('\n');
}

/** Quotes whatever a YAML reader might not read as text. */
function scalar(value: string): string {
  const isPlain = /^[A-Za-z][\w./@+-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isPlain ? value : JSON.stringify(plain(value, 200));
}

function sectionsOf(snapshot: Snapshot, measures: Measures, omitted: RenderedSnapshot['omitted']): string[] {
  const { chars, entries } = measures;
  const section = <T>(
    name: SectionName,
    list: readonly T[],
    line: (one: T, index: number) => string,
    before: readonly string[] = [],
  ): string => {
    const left = Math.max(0, list.length - entries);
    if (left > 0) omitted[name] = left;
    const more = left > 0 ? [`- ${left} more, left out for length: ${moreOf[name]}`] : [];
    const all = [...before, ...list.slice(0, entries).map(line), ...more];
    return `### ${sectionTitles[name]}\n\n${(all.length > 0 ? all : ['None.']).join('\n')}`;
  };
  const line = (entry: Entry): string => `- ${entryLine(entry, chars)}`;
  return [
    section('task', [], String, taskLines(snapshot.task, chars)),
    mailSection(snapshot, measures, omitted),
    section('commitments', snapshot.commitments, line),
    section('modified', snapshot.modified, ({ path, change, note }) => {
      const words = note === null ? '' : `: ${quote(note, chars)}`;
      return `- \`${encodePath(path)}\` — ${change}${words}`;
    }),
    section('reading', snapshot.reading, ({ path, lines, tokens, note }, index) => {
      const measure = `${about(lines)} lines / ${about(tokens)} tokens`;
      return `${index + 1}. \`${encodePath(path)}\` — ${measure} — ${note}`;
    }),
    section(
      'decisions',
      snapshot.decisions,
      line,
      snapshot.why === null ? [] : [`- Why things stand as they do: ${quote(snapshot.why, chars)}`],
    ),
    section('questions', snapshot.questions, line),
  ];
}

const about = (count: number | null): string => (count === null ? 'unknown' : `~${count}`);

/** Where a reader with the tool finds the rest. */
const moreOf: Readonly<Record<SectionName, string>> = {
  task: 'holdfast status',
  mailbox: 'holdfast mail inbox',
  commitments: 'holdfast items',
  modified: 'holdfast log',
  reading: 'holdfast resume',
  decisions: 'holdfast decisions',
  questions: 'holdfast items',
};

function taskLines({ status, step, title, checkpoint, also, next }: SnapshotTask, chars: number): string[] {
  const what = step === null ? 'none' : `${step}${title === null ? '' : `, ${quote(title, chars)}`}`;
  const at = checkpoint === null ? '' : `, checkpoint ${plain(checkpoint, 60)}`;
  const rest = also.slice(0, ALSO).join(', ') + (also.length > ALSO ? ` and ${also.length - ALSO} more` : '');
  return [
    `- Status: ${status}`,
    `- Task: ${what}${at}`,
    ...(also.length > 0 ? [`- Also in hand: ${rest}`] : []),
    // The next action must not be cut with the rest.
    `- Next action: ${plain(next, Math.max(chars * 2, 120))}`,
  ];
}

const ALSO = 5;

function mailSection({ mail }: Snapshot, { chars, entries }: Measures, omitted: RenderedSnapshot['omitted']): string {
  const lines = mailClasses.flatMap((name) => {
    const shown = mail[name].slice(0, entries);
    const left = mail[name].length - shown.length;
    if (left > 0) omitted.mailbox = (omitted.mailbox ?? 0) + left;
    return [
      `- ${mailLabels[name]} (${mail[name].length})${mail[name].length === 0 ? ': none' : ':'}`,
      ...shown.map((entry) => `  - ${entryLine(entry, chars)}`),
      ...(left > 0 ? [`  - ${left} more, left out for length: ${moreOf.mailbox}`] : []),
    ];
  });
  return `### ${sectionTitles.mailbox}\n\n${lines.join('\n')}`;
}

function entryLine({ id, facts, words, reason }: Entry, chars: number): string {
  const why = reason === undefined ? '' : ` Why: ${quote(reason, chars)}`;
  return `${id}${facts === '' ? '' : ` ${facts}`}: ${quote(words, chars)}${why}`;
}

const quote = (text: string, chars: number): string => `"${plain(text, chars)}"`;

/** A path in backticks: characters that would end them, or the line, are percent-encoded. */
export function encodePath(path: string): string {
  return path.replace(/[\p{Cc}`]|%(?=[0-9A-F]{2})/gu, (unit) => {
    const code = unit.codePointAt(0) ?? 0;
    return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

export function decodePath(path: string): string {
  return path.replace(/%([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
