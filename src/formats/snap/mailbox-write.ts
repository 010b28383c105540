import type { ModelMessage, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { editPage, type PageEditor } from '../text/page.ts';
import { changedFields, newEntry, type Row, readRows } from '../text/rows.ts';
import {
  addRows,
  cellOf,
  encodeCell,
  renderHeader,
  setCells,
  type Table,
  type Row as TableRow,
  type Values,
  valuesOf,
} from '../text/table.ts';
import { type Changes, peopleIn } from './changes.ts';
import { type Card, type Mailbox, wordsIn } from './mailbox.ts';
import { unreadOf } from './mailbox-rules.ts';
import { nameKey, sameWords } from './names.ts';
import { encodeProse } from './prose.ts';
import { cardRows, cellsFor, closedRows, type Inbox, inboxRows, queueRows, UNDATED } from './table.ts';

const parts = {
  inbox: { heading: '## Inbox Snapshot', titles: ['Agent', 'Unread', 'Oldest unread', 'Needs response by'] },
  queue: { heading: '## Open Queue (Newest First)', titles: ['ID', 'From -> To', 'Priority', 'Subject'] },
  closed: {
    heading: '## Closed Summary (Newest First)',
    titles: ['ID', 'Date', 'From -> To', 'Final status', 'Outcome'],
  },
} as const;

/** The rows of a part, derived from messages. */
const addTo = (
  mailbox: Mailbox,
  edit: PageEditor,
  name: keyof typeof parts,
  rows: readonly Values[],
  where: 'top' | 'end',
): void => addRows(edit, mailbox.page, mailbox[name], { ...parts[name], at: mailbox.page.lines.length }, rows, where);

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
    ...newPart('inbox'),
    ...newPart('queue'),
    '## Active Messages (Newest First)',
    '',
    ...newPart('closed'),
  ].join('\n');
}

const newPart = (name: keyof typeof parts): string[] => [
  parts[name].heading,
  '',
  ...renderHeader(parts[name].titles),
  '',
];

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
  addTo(
    mailbox,
    edit,
    'closed',
    closing.reverse().map((message) => cellsFor(closedRows, message)),
    'top',
  );
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

function renderCard(message: ModelMessage, id: string, extra: Values): string[] {
  const fields = newEntry(cardRows, message, { owner: extra['closure owner'] }, { kept: extra }) as Values;
  const acks = (message.acks ?? []).map(renderAck);
  return [
    `### ${id}`,
    '',
    ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [boldField(name, value)])),
    ...(acks.length > 0 ? ['', ...acks] : []),
    ...(message.body.trim() === '' ? [] : ['', ...encodeProse(message.body)]),
    ...(message.replies ?? []).flatMap(renderReply),
  ];
}

const boldField = (name: string, value: string): string => `**${capital(name)}:** ${flat(value)}`;

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
    return renderCard({ ...before, ...after }, card.id, { ...kept[card.id], ...wordsIn(card.fields) });
  }
  const fields = changedFields(cardRows, wordsIn(card.fields), before, after, { owner: undefined }) as Values;
  if (Object.keys(fields).length + acks.length + replies.length === 0) return null;
  const lines = Array.from({ length: card.to - card.from }, (_, index) => page.line(card.from + index));
  const last = card.ackLines.at(-1);
  const ackAt = (last === undefined ? card.fieldsEnd : last + 1) - card.from;
  // From the end to the beginning, so that line numbers stay valid.
  lines.push(...replies.flatMap(renderReply));
  if (acks.length > 0) lines.splice(ackAt, 0, ...(last === undefined ? [''] : []), ...acks.map(renderAck));
  const fresh: string[] = [];
  for (const [name, value = ''] of Object.entries(fields)) {
    const at = (card.fields.get(name)?.line ?? -1) - card.from;
    const isTable = card.form === 'table';
    const cell = encodeCell(value);
    if (at < 0) fresh.push(isTable ? `| ${capital(name)} | ${cell} |` : boldField(name, value));
    else if (isTable)
      lines[at] = lines[at]?.replace(/^(\s*\|[^|]*\|).*$/, (_, head: string) => `${head} ${cell} |`) ?? '';
    else
      lines[at] =
        lines[at]?.replace(
          /^(\*\*[^*]+:\*\*)([ \t]*).*$/,
          (_, head: string, gap: string) => head + (gap || ' ') + value,
        ) ?? '';
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
  edit.insert(active ? active.heading.line + 1 : page.lines.length, [...heading, ...lines]);
}

function fillQueue(mailbox: Mailbox, edit: PageEditor, active: readonly ModelMessage[]): void {
  const wanted = new Map(active.map((message) => [message.alias ?? '', message]));
  for (const table of mailbox.queue?.tables ?? []) {
    for (const row of table.rows) {
      const id = cellOf(table, row, 'id') ?? '';
      const message = wanted.get(id);
      if (!message) edit.remove(row.line);
      else fillRow(mailbox, edit, queueRows, { table, row }, message);
      wanted.delete(id);
    }
  }
  addTo(
    mailbox,
    edit,
    'queue',
    [...wanted.values()].map((message) => cellsFor(queueRows, message)),
    'top',
  );
}

/** Changes the cells of a derived row that are not right. */
function fillRow<E extends object>(
  { page }: Mailbox,
  edit: PageEditor,
  rows: readonly Row<E, unknown>[],
  { table, row }: { table: Table; row: TableRow },
  right: E,
): void {
  const values = valuesOf(table, row);
  setCells(edit, page, table, row, changedFields(rows, values, readRows(rows, values) as E, right, null) as Values);
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
  const inboxOf = (id: string, agent: string): Inbox => {
    const own = unread.get(id) ?? [];
    const due = own.find((one) => one.respondBy !== undefined)?.respondBy ?? 'none';
    return { agent, unread: String(own.length), oldest: own[0]?.alias ?? 'none', due };
  };
  for (const table of mailbox.inbox?.tables ?? []) {
    for (const row of table.rows) {
      const name = cellOf(table, row, 'agent') ?? '';
      const right = inboxOf(nameKey(name), name);
      const isCounted = cellOf(table, row, 'unread') === right.unread;
      if (!isCounted || right.unread !== '0') fillRow(mailbox, edit, inboxRows, { table, row }, right);
      names.delete(nameKey(name));
    }
  }
  const missing = [...names].map(([id, name]) => cellsFor(inboxRows, inboxOf(id, name)));
  addTo(mailbox, edit, 'inbox', missing, 'end');
}
