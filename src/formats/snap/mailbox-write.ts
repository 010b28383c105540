import type { ModelMessage, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { editPage, type PageEditor } from '../text/page.ts';
import { addRows, cellOf, encodeCell, renderHeader, setRow, type TablePlace, type Values } from '../text/table.ts';
import { type Changes, peopleIn } from './changes.ts';
import { type Card, type Mailbox, UNDATED } from './mailbox.ts';
import { unreadOf } from './mailbox-rules.ts';
import { nameKey, sameTime, sameWords } from './names.ts';
import { encodeProse } from './prose.ts';

const inboxTitles = ['Agent', 'Unread', 'Oldest unread', 'Needs response by'];
const queueTitles = ['ID', 'From -> To', 'Priority', 'Subject'];
const closedTitles = ['ID', 'Date', 'From -> To', 'Final status', 'Outcome'];

export function newMailbox({ run }: RunModel, folder: string): string {
  return [
    `# Mailbox (${flat(run.title).replace(/[(),]/g, ' ')}, Compact)`,
    '',
    ...(run.openedAt === undefined ? [] : [`Date initialized: ${flat(run.openedAt)}`]),
    'Protocol: Turnfile v0.1, message lifecycle of five statuses',
    `Full history: \`${folder}MAILBOX_ARCHIVE.md\``,
    '',
    '## Quick Reply',
    '',
    '1. Find the message in **Active Messages**.',
    '2. Update `Status` (`acknowledged`, `actioned`, or `closed`).',
    '3. Add one line in `Ack` with actor, date and reason.',
    '4. Optional: add a `Reply` below the message.',
    '',
    '## Inbox Snapshot',
    '',
    ...renderHeader(inboxTitles),
    '',
    '## Open Queue (Newest First)',
    '',
    ...renderHeader(queueTitles),
    '',
    '## Active Messages (Newest First)',
    '',
    '## Closed Summary (Newest First)',
    '',
    ...renderHeader(closedTitles),
    '',
  ].join('\n');
}

export function newMailboxArchive({ run }: RunModel): string {
  return `# Mailbox Archive (${flat(run.title).replace(/[(),]/g, ' ')})\n`;
}

/** Fields of cards that the run model cannot hold, by id. */
export type KeptCards = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface MailboxTexts {
  mailbox: string | null;
  archive: string | null;
}

/** Updates both files; null for a file that does not change. */
export function changeMailbox(
  { mailbox, archive }: { mailbox: Mailbox; archive: Mailbox },
  changes: Changes,
  kept: KeptCards,
): MailboxTexts {
  if (!mailbox.sound) return { mailbox: null, archive: null };
  const added = changes.messages.added.map((message) => ({ ...message, alias: message.alias ?? '' }));
  const edit = editPage(mailbox.page);
  const editArchive = editPage(archive.page);
  const archived: string[][] = [];
  const closing: ModelMessage[] = [];
  const now = new Map(mailbox.cards.map((card) => [card.id, card.message]));
  const cards = new Map(mailbox.cards.map((card) => [card.id, card]));
  const oldCards = new Map(archive.cards.map((card) => [card.id, card]));
  for (const { before, after } of changes.messages.kept) {
    const id = before.alias ?? '';
    const [card, old] = [cards.get(id), oldCards.get(id)];
    if (!card) {
      const lines = old ? changeCard(archive, old, before, after, kept) : null;
      if (old && lines) editArchive.replace(old.from, old.to, lines);
      continue;
    }
    const lines = changeCard(mailbox, card, before, after, kept);
    if (!lines) continue;
    if (after.status === 'closed' && before.status !== 'closed') {
      edit.remove(card.from, nextHeading(mailbox, card));
      archived.push(lines);
      closing.push({ ...after, alias: id });
      now.delete(id);
    } else {
      edit.replace(card.from, card.to, lines);
      now.set(id, { ...after, alias: id });
    }
  }
  const open = added.filter((message) => message.status !== 'closed').reverse();
  for (const message of added) {
    if (message.status !== 'closed' || oldCards.has(message.alias)) continue;
    archived.push(renderCard(message, message.alias, kept[message.alias] ?? {}));
    closing.push(message);
  }
  if (!edit.changed && !editArchive.changed && archived.length + open.length === 0)
    return { mailbox: null, archive: null };
  addCards(mailbox, edit, open, kept);
  addRows(edit, placeOf(mailbox, 'closed'), closing.reverse().map(closedValues), 'top');
  const active = [...open, ...now.values()].filter((message) => message.status !== 'closed');
  fillQueue(mailbox, edit, active);
  fillInbox(mailbox, edit, active, changes.after);
  editArchive.insert(
    archive.page.lines.length,
    archived.flatMap((lines) => ['', '---', '', ...lines]),
  );
  return {
    mailbox: edit.changed ? edit.apply() : null,
    archive: editArchive.changed ? editArchive.apply() : null,
  };
}

function renderCard(message: ModelMessage, id: string, extra: Readonly<Record<string, string>>): string[] {
  const fields: [string, string | undefined][] = [
    ['From', `${flat(message.from)} -> ${flat(message.to)}`],
    ['Date', message.at],
    ['Type', message.type],
    ['Priority', message.priority],
    ['Status', message.status],
    ['Subject', flat(message.subject)],
    ['Closure owner', extra['closure owner'] ?? flat(message.from)],
    ['Response needed by', message.respondBy],
    ['Disposition', message.disposition],
  ];
  const known = new Set(fields.map(([name]) => name.toLowerCase()));
  const others = Object.entries(extra).filter(([name]) => !known.has(name));
  const all = [...fields, ...others.map(([name, value]): [string, string] => [capital(name), value])];
  const acks = (message.acks ?? []).map(renderAck);
  return [
    `### ${id}`,
    '',
    ...all.flatMap(([name, value]) => (value === undefined ? [] : [`**${name}:** ${flat(value)}`])),
    ...(acks.length > 0 ? ['', ...acks] : []),
    ...(message.body.trim() === '' ? [] : ['', ...encodeProse(message.body)]),
    ...(message.replies ?? []).flatMap(renderReply),
  ];
}

function renderAck({ by, at, to, note }: NonNullable<ModelMessage['acks']>[number]): string {
  return `**Ack:** ${flat(by).replaceAll('|', '/')} | ${at ?? UNDATED} | ${to === undefined ? '' : `${to}: `}${encodeCell(note)}`;
}

function renderReply({ from, at, body }: NonNullable<ModelMessage['replies']>[number]): string[] {
  const who = flat(from).replace(/[(),]/g, ' ');
  return ['', `**Reply (${who}${at === undefined ? '' : `, ${at}`}):**`, ...encodeProse(body)];
}

/** The card's lines after a change, with everything else in it kept; null when nothing changed. */
function changeCard(
  { page }: Mailbox,
  card: Card,
  before: ModelMessage,
  after: ModelMessage,
  kept: KeptCards,
): string[] | null {
  const acks = extension(before.acks, after.acks, (one, other) => sameWords(one.note) === sameWords(other.note));
  const replies = extension(
    before.replies,
    after.replies,
    (one, other) => sameWords(one.body) === sameWords(other.body),
  );
  if (sameWords(before.body) !== sameWords(after.body) || acks === null || replies === null) {
    const extra = Object.fromEntries([...card.fields].map(([name, field]) => [name, field.value]));
    return renderCard({ ...before, ...after }, card.id, { ...kept[card.id], ...extra });
  }
  const fields: [string, string][] = [];
  if (nameKey(before.from) !== nameKey(after.from) || nameKey(before.to) !== nameKey(after.to))
    fields.push(['From', `${flat(after.from)} -> ${flat(after.to)}`]);
  if (after.at !== undefined && !sameTime(before.at, after.at)) fields.push(['Date', after.at]);
  for (const name of ['type', 'priority', 'status', 'subject'] as const) {
    if (flat(before[name]) !== flat(after[name])) fields.push([capital(name), flat(after[name])]);
  }
  if (after.respondBy !== undefined && after.respondBy !== before.respondBy)
    fields.push(['Response needed by', after.respondBy]);
  if (after.disposition !== undefined && after.disposition !== before.disposition)
    fields.push(['Disposition', after.disposition]);
  if (fields.length + acks.length + replies.length === 0) return null;
  const lines = Array.from({ length: card.to - card.from }, (_, index) => page.line(card.from + index));
  const last = card.ackLines.at(-1);
  const ackAt = (last === undefined ? card.fieldsEnd : last + 1) - card.from;
  const more = replies.flatMap(renderReply);
  const put = acks.map(renderAck);
  // From the end to the beginning, so that line numbers stay valid.
  lines.push(...more);
  if (put.length > 0) lines.splice(ackAt, 0, ...(last === undefined ? [''] : []), ...put);
  const fresh: string[] = [];
  for (const [name, value] of fields) {
    const field = card.fields.get(name.toLowerCase());
    const line = field === undefined ? undefined : lines[field.line - card.from];
    if (field === undefined || line === undefined)
      fresh.push(card.form === 'table' ? `| ${name} | ${encodeCell(value)} |` : `**${name}:** ${value}`);
    else if (card.form === 'table')
      lines[field.line - card.from] = line.replace(
        /^(\s*\|[^|]*\|).*$/,
        (_, head: string) => `${head} ${encodeCell(value)} |`,
      );
    else
      lines[field.line - card.from] = line.replace(
        /^(\*\*[^*]+:\*\*[ \t]*).*$/,
        (_, head: string) => (/\s$/.test(head) ? head : `${head} `) + value,
      );
  }
  lines.splice(card.fieldsEnd - card.from, 0, ...fresh);
  return lines;
}

/** The entries added at the end; null when the beginning differs. Absent means unknown. */
function extension<T>(
  before: readonly T[] = [],
  after: readonly T[] | undefined,
  isSame: (one: T, other: T) => boolean,
): T[] | null {
  if (after === undefined) return [];
  const isPrefix = before.length <= after.length && before.every((one, index) => isSame(one, after[index] as T));
  return isPrefix ? after.slice(before.length) : null;
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function nextHeading({ page }: Mailbox, card: Card): number {
  return page.headings.find((heading) => heading.line >= card.to)?.line ?? page.lines.length;
}

function addCards(
  { active, page }: Mailbox,
  edit: PageEditor,
  messages: readonly (ModelMessage & { alias: string })[],
  kept: KeptCards,
): void {
  const cards = messages.map((message) => renderCard(message, message.alias, kept[message.alias] ?? {}));
  if (cards.length === 0) return;
  const heading = active ? [] : ['', '## Active Messages (Newest First)'];
  const lines = cards.flatMap((card) => ['', '---', '', ...card]);
  edit.insert(active ? active.line + 1 : page.lines.length, [...heading, ...lines]);
}

const parts = {
  inbox: ['## Inbox Snapshot', inboxTitles],
  queue: ['## Open Queue (Newest First)', queueTitles],
  closed: ['## Closed Summary (Newest First)', closedTitles],
} as const;

function placeOf(mailbox: Mailbox, name: keyof typeof parts): TablePlace {
  const part = mailbox[name];
  const [heading, titles] = parts[name];
  const below = part ? part.heading.line + 1 : null;
  return { table: part?.tables[0], below, heading, titles, at: mailbox.page.lines.length };
}

function closedValues(message: ModelMessage): Values {
  const ack = message.acks?.at(-1);
  return {
    id: message.alias,
    date: message.at,
    'from -> to': `${flat(message.from)} -> ${flat(message.to)}`,
    'final status': message.disposition === undefined ? 'closed' : `closed (${message.disposition})`,
    outcome: flat(ack?.note || message.subject),
    subject: flat(message.subject),
    'closed by': ack?.by,
  };
}

function fillQueue(mailbox: Mailbox, edit: PageEditor, active: readonly ModelMessage[]): void {
  const wanted = new Map(active.map((message) => [message.alias ?? '', message]));
  for (const table of mailbox.queue?.tables ?? []) {
    for (const row of table.rows) {
      const id = cellOf(table, row, 'id') ?? '';
      const message = wanted.get(id);
      const isSame =
        message?.priority === cellOf(table, row, 'priority') &&
        flat(message?.subject ?? '') === flat(cellOf(table, row, 'subject') ?? '');
      if (!message) edit.remove(row.line);
      else if (!isSame) setRow(edit, table, row, queueValues(message));
      wanted.delete(id);
    }
  }
  addRows(edit, placeOf(mailbox, 'queue'), [...wanted.values()].map(queueValues), 'top');
}

function queueValues({ alias, from, to, priority, subject }: ModelMessage): Values {
  return { id: alias, 'from -> to': `${flat(from)} -> ${flat(to)}`, priority, subject: flat(subject) };
}

/** One row for each agent and the maintainer, from the cards. */
function fillInbox(
  mailbox: Mailbox,
  edit: PageEditor,
  active: readonly ModelMessage[],
  { sessions, messages, kept }: RunModel,
): void {
  // A person's mail is the maintainer's.
  const people = new Set(peopleIn(kept));
  const unread = unreadOf([...active].reverse(), people);
  const names = new Map<string, string>();
  for (const name of [...sessions.map((one) => one.agent), ...messages.flatMap((one) => [one.from, one.to])]) {
    const isAgent = name !== undefined && !['', 'all', 'unknown'].includes(nameKey(name)) && !people.has(nameKey(name));
    if (isAgent && !names.has(nameKey(name))) names.set(nameKey(name), flat(name));
  }
  if (!names.has('maintainer')) names.set('maintainer', 'Maintainer');
  const values = (id: string, name: string): Values => {
    const own = unread.get(id) ?? [];
    return {
      agent: name,
      unread: String(own.length),
      'oldest unread': own[0]?.alias ?? 'none',
      'needs response by': own.find((one) => one.respondBy !== undefined)?.respondBy ?? 'none',
    };
  };
  for (const table of mailbox.inbox?.tables ?? []) {
    for (const row of table.rows) {
      const name = cellOf(table, row, 'agent') ?? '';
      const right = values(nameKey(name), name);
      const isRight =
        cellOf(table, row, 'unread') === right['unread'] &&
        (right['unread'] === '0' || cellOf(table, row, 'oldest unread') === right['oldest unread']);
      if (!isRight) setRow(edit, table, row, right);
      names.delete(nameKey(name));
    }
  }
  const missing = [...names].map(([id, name]) => values(id, name));
  addRows(edit, placeOf(mailbox, 'inbox'), missing, 'end');
}
