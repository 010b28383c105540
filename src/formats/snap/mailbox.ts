import type { ModelMessage } from '../../core/model/run-model.ts';
import { MessageStatus, MessageType } from '../../core/words.ts';
import type { Field } from '../text/field.ts';
import { flat } from '../text/lines.ts';
import type { Heading, Page } from '../text/page.ts';
import { readRows } from '../text/rows.ts';
import {
  cellOf,
  decodeCell,
  type Part,
  partIn,
  type Row,
  type Table,
  tablesIn,
  type Values,
  valuesOf,
} from '../text/table.ts';
import { defined } from '../text/values.ts';
import { label, slug } from './names.ts';
import { type Report, readPage } from './page.ts';
import { decodeProse } from './prose.ts';
import { cardRows, closedRows, partiesIn, statusIn, UNDATED } from './table.ts';

/** MAILBOX.md or its archive as read; lines count from 0. */
export interface Mailbox {
  page: Page;
  /** False when the text is damaged by a merge or a cut. */
  sound: boolean;
  title: string | undefined;
  openedAt: string | undefined;
  inbox: Part | null;
  queue: Part | null;
  active: Part | null;
  closed: Part | null;
  cards: readonly Card[];
  /** Rows of the closed summary, newest first as in the file. */
  closedRows: readonly { table: Table; row: Row; id: string }[];
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
  const closed = partIn(page, /^closed summary/i);
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
    inbox: partIn(page, /^inbox snapshot/i),
    queue: partIn(page, /^open queue/i),
    active: partIn(page, /^active messages/i),
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
  const said = readRows(cardRows, wordsIn(fields));
  const [from, receiver = fieldOf(fields, 'to')] = partiesIn(fieldOf(fields, 'from', 'from -> to', 'from → to'));
  const { disposition } = statusIn(fieldOf(fields, 'status') ?? '');
  const card: Card = {
    id,
    from: heading.line,
    to,
    form,
    fields,
    fieldsEnd,
    ackLines: parts.ackLines,
    isTerminal: said.status === 'closed',
    message: defined({
      ...{ type: 'notify' as const, priority: 'P2' as const, status: 'unread' as const, disposition },
      subject: heading.title.slice(id.length).replace(/^[\s:：—–-]+/u, ''),
      ...said,
      alias: label(id) ?? id.slice(0, 200),
      from: label(from) ?? 'unknown',
      to: label(receiver) ?? 'unknown',
      body: parts.body,
      acks: parts.acks.length > 0 ? parts.acks : undefined,
      replies: parts.replies.length > 0 ? parts.replies : undefined,
    }),
  };
  checkCard(card, said, receiver, report);
  return card;
}

/** The words of the fields, by name. */
export const wordsIn = (fields: Card['fields']): Values =>
  Object.fromEntries([...fields].map(([name, { value }]) => [name, value || undefined]));

/** The first non-empty one of the named fields. */
function fieldOf(fields: Card['fields'], ...names: string[]): string | undefined {
  return names.map((name) => fields.get(name)?.value).find((found) => found !== undefined && found !== '');
}

function checkCard(
  { id, from, form, fields, message }: Card,
  said: Partial<ModelMessage>,
  receiver: string | undefined,
  report: Report,
): void {
  const warn = (code: string, field: string | null, message: string): void =>
    report(code, (fields.get(field ?? '')?.line ?? from) + 1, message);
  if (form === 'table') warn('table_card', null, `${id} is in the old form, a table of fields.`);
  const missing = ['from', 'date', 'type', 'priority', 'status', 'subject'].filter(
    (name) => fieldOf(fields, name) === undefined && !(name === 'subject' && message.subject !== ''),
  );
  if (missing.length > 0) warn('missing_field', null, `${id} lacks ${missing.join(', ')}.`);
  const written = fieldOf(fields, 'status') ?? '';
  if (said.status !== undefined && slug(written) !== said.status)
    warn('unknown_status', 'status', `${id} has the status ${written.slice(0, 60)}; it is read as ${said.status}.`);
  for (const [name, options] of [
    ['status', MessageStatus.options],
    ['type', MessageType.options],
  ] as const) {
    const word = fieldOf(fields, name);
    if (word === undefined || said[name] !== undefined) continue;
    const allowed = options.join(', ');
    warn(`unknown_${name}`, name, `${id} has the ${name} ${word.slice(0, 60)}, which is not one of ${allowed}.`);
  }
  const owner = slug(fieldOf(fields, 'closure owner'));
  if (owner !== '' && owner === slug(receiver) && owner !== 'maintainer')
    warn('closure_owner', 'closure owner', `${id} is to be closed by its receiver, who may not close it.`);
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

function readClosedRow(table: Table, row: Row, id: string): ModelMessage {
  const values = valuesOf(table, row);
  const [from, to] = partiesIn(values['from -> to'] ?? values['from → to']);
  const { subject = '', ...said } = readRows(closedRows, values);
  return {
    ...{ type: 'notify', priority: 'P2', status: 'closed', body: '', ...said },
    ...{ alias: label(id) ?? id.slice(0, 200), from: label(from) ?? 'unknown', to: label(to) ?? 'unknown' },
    subject: flat(subject),
  };
}
