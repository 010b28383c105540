import type { ModelMessage } from '../../core/model/run-model.ts';
import { Disposition, MessageStatus, MessageType, Priority } from '../../core/words.ts';
import type { Field } from '../text/field.ts';
import { flat } from '../text/lines.ts';
import type { Heading, Page } from '../text/page.ts';
import { cellOf, decodeCell, type Row, type Table, tablesIn } from '../text/table.ts';
import { label, slug } from './names.ts';
import { type Report, readPage } from './page.ts';
import { decodeProse } from './prose.ts';

/** MAILBOX.md or its archive as read; lines count from 0. */
export interface Mailbox {
  page: Page;
  /** False when the text is damaged by a merge or a cut. */
  sound: boolean;
  title: string | undefined;
  openedAt: string | undefined;
  inbox: Part | null;
  queue: Part | null;
  active: Heading | null;
  closed: Part | null;
  cards: readonly Card[];
  /** Rows of the closed summary, newest first as in the file. */
  closedRows: readonly { table: Table; row: Row; id: string }[];
}

export interface Part {
  heading: Heading;
  tables: readonly Table[];
}

export interface Card {
  id: string;
  message: ModelMessage;
  /** From the heading up to the rule before the next card. */
  from: number;
  to: number;
  form: 'bold' | 'table';
  /** The lines of its fields by name, in lower case. */
  fields: ReadonlyMap<string, Pick<Field, 'line' | 'value'>>;
  /** The line after the fields, where the first ack goes. */
  fieldsEnd: number;
  ackLines: readonly number[];
  isTerminal: boolean;
}

/** `MSG-20260208-047`, and the short `M-4`. */
const idPattern = /^(MSG-[\w-]+|M-\d{1,9})(?![\w-])/;

export const isMessageId = (words: string): boolean => idPattern.exec(words)?.[0] === words;

export function readMailbox(text: string, report: Report): Mailbox {
  const { page, sound } = readPage(text, report);
  const part = (pattern: RegExp): Part | null => {
    const heading = page.headings.find((one) => one.level === 2 && pattern.test(one.title));
    return heading ? { heading, tables: tablesIn(page, heading.line + 1, heading.end) } : null;
  };
  const active = page.headings.find((one) => one.level === 2 && /^active messages/i.test(one.title)) ?? null;
  const closed = part(/^closed summary/i);
  const cards = page.headings.flatMap((heading) => {
    const id = heading.level >= 2 ? idPattern.exec(heading.title)?.[1] : undefined;
    return id === undefined || !isCard(page, heading, id) ? [] : [readCard(page, heading, id, report)];
  });
  const closedRows = (closed?.tables ?? []).flatMap((table) =>
    table.rows.flatMap((row) => {
      const id = idPattern.exec(cellOf(table, row, 'id') ?? '')?.[1];
      return id === undefined ? [] : [{ table, row, id }];
    }),
  );
  const top = page.headings[0];
  const title = top?.level === 1 ? /\(([^,)]+)/.exec(top.title)?.[1] : undefined;
  const initialized = page.lines
    .slice(0, 20)
    .map((_, at) => /^Date initialized:(.*)$/.exec(page.line(at))?.[1]?.trim());
  return {
    page,
    sound,
    title: label(title),
    openedAt: label(initialized.find((one) => one !== undefined)),
    inbox: part(/^inbox snapshot/i),
    queue: part(/^open queue/i),
    active,
    closed,
    cards,
    closedRows,
  };
}

/** A short id may be in any heading; it is a card only if fields follow. */
const isCard = (page: Page, heading: Heading, id: string): boolean =>
  id.startsWith('MSG-') || readFields(page, heading.line + 1, heading.end).fields.size > 0;

/** All messages, oldest first: the cards, and those only in the closed summary. */
export function messagesOf(mailbox: Mailbox | null, archive: Mailbox | null): ModelMessage[] {
  const found = new Map<string, ModelMessage>();
  const add = (message: ModelMessage): void => {
    const id = message.alias ?? '';
    // The first one counts: newer files are read first, and a card has more than a row.
    if (!found.has(id)) found.set(id, message);
  };
  for (const { message } of mailbox?.cards ?? []) add(message);
  for (const { message } of archive?.cards ?? []) add(message);
  for (const { table, row, id } of mailbox?.closedRows ?? []) add(readClosedRow(table, row, id));
  for (const { table, row, id } of archive?.closedRows ?? []) add(readClosedRow(table, row, id));
  return [...found.values()].reverse().sort((one, other) => compareIds(one.alias ?? '', other.alias ?? ''));
}

function compareIds(one: string, other: string): number {
  const order = (id: string): [string, number] => {
    const match = /^(?:MSG-(\d{8})|M)-(\d{1,9})/.exec(id);
    return [match?.[1] ?? '', Number(match?.[2] ?? 0)];
  };
  const [oneDay, oneNumber] = order(one);
  const [otherDay, otherNumber] = order(other);
  return oneDay === otherDay ? oneNumber - otherNumber : oneDay < otherDay ? -1 : 1;
}

function readCard(page: Page, heading: Heading, id: string, report: Report): Card {
  let to = heading.bodyEnd;
  // Lower-level headings belong to the body of the card.
  if (to < heading.end) to = heading.end;
  while (to > heading.line + 1 && /^\s*(?:-{3,}\s*)?$/.test(page.line(to - 1)) && !page.isQuiet(to - 1)) to--;
  const { form, fields, fieldsEnd } = readFields(page, heading.line + 1, to);
  const parts = readBody(page, fieldsEnd, to);
  const [from, receiver = fieldOf(fields, 'to')] = parties(fieldOf(fields, 'from', 'from -> to', 'from → to') ?? '');
  const { status, disposition, isTerminal } = statusIn(fieldOf(fields, 'status') ?? '');
  const priority = Priority.options.find((one) => one === fieldOf(fields, 'priority')?.slice(0, 2).toUpperCase());
  const subject = fieldOf(fields, 'subject') ?? heading.title.slice(id.length).replace(/^[\s:：—–-]+/u, '');
  const own = Disposition.options.find((one) => one === slug(fieldOf(fields, 'disposition'))) ?? disposition;
  const respondBy = label(fieldOf(fields, 'response needed by', 'needs response by', 'respond by'));
  const day = label(fieldOf(fields, 'date'));
  const card: Card = {
    id,
    from: heading.line,
    to,
    form,
    fields,
    fieldsEnd,
    ackLines: parts.ackLines,
    isTerminal,
    message: {
      alias: label(id) ?? id.slice(0, 200),
      from: label(from) ?? 'unknown',
      to: label(receiver) ?? 'unknown',
      type: typeIn(fields) ?? 'notify',
      priority: priority ?? 'P2',
      status: status ?? 'unread',
      subject,
      body: parts.body,
      ...(day === undefined ? {} : { at: day }),
      ...(respondBy === undefined ? {} : { respondBy }),
      ...(own === undefined ? {} : { disposition: own }),
      ...(parts.acks.length > 0 ? { acks: parts.acks } : {}),
      ...(parts.replies.length > 0 ? { replies: parts.replies } : {}),
    },
  };
  checkCard(card, receiver, report);
  return card;
}

/** The first non-empty one of the named fields. */
function fieldOf(fields: Card['fields'], ...names: string[]): string | undefined {
  return names.map((name) => fields.get(name)?.value).find((found) => found !== undefined && found !== '');
}

function typeIn(fields: Card['fields']): ModelMessage['type'] | undefined {
  return MessageType.options.find((one) => one === slug(fieldOf(fields, 'type')));
}

function checkCard({ id, from, form, fields, message }: Card, receiver: string | undefined, report: Report): void {
  const at = from + 1;
  const warn = (code: string, field: string | null, message: string): void =>
    report(code, 'warning', field === null ? at : (fields.get(field)?.line ?? from) + 1, message);
  if (form === 'table') warn('table_card', null, `${id} is in the old form, a table of fields.`);
  const missing = ['from', 'date', 'type', 'priority', 'status', 'subject'].filter(
    (name) => fieldOf(fields, name) === undefined && !(name === 'subject' && message.subject !== ''),
  );
  if (missing.length > 0) warn('missing_field', null, `${id} lacks ${missing.join(', ')}.`);
  const written = fieldOf(fields, 'status') ?? '';
  const { status } = statusIn(written);
  if (status !== null && slug(written) !== status)
    warn('unknown_status', 'status', `${id} has the status ${written.slice(0, 60)}; it is read as ${status}.`);
  else if (status === null && written !== '')
    warn(
      'unknown_status',
      'status',
      `${id} has the status ${written.slice(0, 60)}, which is not one of ${MessageStatus.options.join(', ')}.`,
    );
  const type = fieldOf(fields, 'type');
  if (type !== undefined && typeIn(fields) === undefined)
    warn(
      'unknown_type',
      'type',
      `${id} has the type ${type.slice(0, 60)}, which is not one of ${MessageType.options.join(', ')}.`,
    );
  const owner = slug(fieldOf(fields, 'closure owner'));
  if (owner !== '' && owner === slug(receiver) && owner !== 'maintainer')
    warn('closure_owner', 'closure owner', `${id} is to be closed by its receiver, who may not close it.`);
}

/** `Ada -> Bo`. */
function parties(words: string): [string | undefined, string | undefined] {
  const [from, to] = words.split(/->|→/, 2);
  return [from, to];
}

/** A status as written in real files: one of the five, or the disposition a message was closed with. */
export function statusIn(written: string): {
  status: ModelMessage['status'] | null;
  disposition: ModelMessage['disposition'];
  isTerminal: boolean;
} {
  const words = written.toLowerCase().match(/[a-z]+/g) ?? [];
  const [first = ''] = words;
  const disposition = Disposition.options.find((one) => (words as readonly string[]).includes(one));
  const known = MessageStatus.options.find((one) => one === first);
  const ended = disposition !== undefined && disposition !== 'deferred';
  const status = known ?? (ended || first === 'done' ? 'closed' : null);
  return { status, disposition, isTerminal: status === 'closed' };
}

function readFields(
  page: Page,
  from: number,
  to: number,
): Pick<Card, 'form' | 'fieldsEnd'> & { fields: Map<string, Pick<Field, 'line' | 'value'>> } {
  const fields = new Map<string, Pick<Field, 'line' | 'value'>>();
  let at = from;
  while (at < to && page.line(at).trim() === '') at++;
  const [table] = /^\s*\|/.test(page.lines[at] ?? '') ? tablesIn(page, at, to) : [];
  if (table && table.line === at) {
    for (const row of table.rows) {
      const name = row.cells[0]?.replace(/[*:]/g, '').toLowerCase().trim();
      if (name && !fields.has(name)) fields.set(name, { line: row.line, value: row.cells[1] ?? '' });
    }
    return { form: 'table', fields, fieldsEnd: table.end };
  }
  for (; at < to; at++) {
    const match = /^\*\*([^*:]{1,40}):\*\*[ \t]*(.*)$/.exec(page.line(at).slice(0, 4000));
    const name = match?.[1]?.toLowerCase();
    if (name === undefined || /^(?:ack|reply|context|ask)\b/.test(name) || page.isQuiet(at)) break;
    if (!fields.has(name)) fields.set(name, { line: at, value: (match?.[2] ?? '').trim() });
  }
  return { form: 'bold', fields, fieldsEnd: at };
}

interface Body {
  body: string;
  acks: NonNullable<ModelMessage['acks']>;
  replies: NonNullable<ModelMessage['replies']>;
  ackLines: number[];
}

function readBody(page: Page, from: number, to: number): Body {
  const acks: Body['acks'] = [];
  const ackLines: number[] = [];
  const replies: { from: string; at?: string; lines: number[]; first: string }[] = [];
  const body: number[] = [];
  for (let at = from; at < to; at++) {
    if (page.isComment(at)) continue;
    const line = page.line(at);
    const match = page.isQuiet(at) ? null : /^\*\*(Ack|Reply)(?:\s*\(([^)]*)\))?:\*\*[ \t]*(.*)$/.exec(line);
    if (match?.[1] === 'Ack') {
      ackLines.push(at);
      acks.push(readAck(match[2], match[3] ?? ''));
    } else if (match) {
      const [who, when] = (match[2] ?? '').split(',', 2);
      const time = label(when);
      replies.push({
        from: label(who) ?? 'unknown',
        ...(time === undefined ? {} : { at: time }),
        lines: [],
        first: match[3] ?? '',
      });
    } else (replies.at(-1)?.lines ?? body).push(at);
  }
  return {
    body: decodeProse(page, body),
    acks,
    ackLines,
    replies: replies.map(({ lines, first, ...reply }) => ({
      ...reply,
      body: [first, decodeProse(page, lines)]
        .filter((text) => text !== '')
        .join('\n')
        .trim(),
    })),
  };
}

function readAck(named: string | undefined, words: string): Body['acks'][number] {
  const mark = cutTwice(words, ' | ') ?? cutTwice(words, ' |') ?? cutTwice(words, ' — ');
  const [by, when, rest = words] = mark ?? [];
  const note = decodeCell(rest);
  const moved = MessageStatus.options.find((one) => note.startsWith(`${one}: `));
  const at = when?.trim() === UNDATED ? undefined : label(when);
  return {
    by: label(mark ? by : named) ?? 'unknown',
    ...(at === undefined ? {} : { at }),
    ...(moved === undefined ? {} : { to: moved }),
    note: moved === undefined ? note : note.slice(moved.length + 2),
  };
}

/** The two parts before the second separator, and the rest. */
function cutTwice(words: string, mark: string): [string, string, string] | null {
  const first = words.indexOf(mark);
  const second = first < 0 ? -1 : words.indexOf(mark, first + mark.length);
  if (second < 0) return null;
  return [words.slice(0, first), words.slice(first + mark.length, second), words.slice(second + mark.length)];
}

/** Written where the day of an ack is not known. */
export const UNDATED = 'undated';

function readClosedRow(table: Table, row: Row, id: string): ModelMessage {
  const [from, to] = parties(cellOf(table, row, 'from -> to', 'from → to') ?? '');
  const { disposition } = statusIn(cellOf(table, row, 'final status', 'status') ?? '');
  const at = label(cellOf(table, row, 'date'));
  return {
    alias: label(id) ?? id.slice(0, 200),
    from: label(from) ?? 'unknown',
    to: label(to) ?? 'unknown',
    type: 'notify',
    priority: 'P2',
    status: 'closed',
    subject: flat(cellOf(table, row, 'subject', 'outcome') ?? ''),
    body: '',
    ...(at === undefined ? {} : { at }),
    ...(disposition === undefined ? {} : { disposition }),
  };
}
