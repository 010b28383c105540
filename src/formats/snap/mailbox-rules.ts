import type { ModelMessage } from '../../core/model/run-model.ts';
import { envelopesIn } from '../documents/envelope.ts';
import { cellOf } from '../text/table.ts';
import type { Mailbox } from './mailbox.ts';
import { nameKey } from './names.ts';
import type { Report } from './page.ts';

/** Checks the tables against the cards, which are authoritative. */
export function checkMailbox(mailbox: Mailbox, text: string, report: Report): void {
  for (const [name, part] of [
    ['Inbox Snapshot', mailbox.inbox],
    ['Open Queue', mailbox.queue],
    ['Active Messages', mailbox.active],
    ['Closed Summary', mailbox.closed],
  ] as const) {
    if (!part) report('missing_section', null, `The section ${name} is missing.`);
  }
  const closedIds = new Map(mailbox.closedRows.map(({ id, row }) => [id, row.line + 1]));
  const seen = new Set<string>();
  for (const card of mailbox.cards) {
    const line = card.from + 1;
    if (seen.has(card.id)) report.error('duplicate_id', line, `Duplicate id ${card.id}.`);
    seen.add(card.id);
    if (closedIds.has(card.id))
      report('active_and_closed', line, `${card.id} is among the active messages and in the closed summary.`);
    else if (card.isTerminal)
      report('closed_in_active', line, `${card.id} is closed and still among the active messages.`);
  }
  if ((mailbox.closed?.tables.length ?? 0) > 1)
    report(
      'split_table',
      (mailbox.closed?.tables[1]?.line ?? 0) + 1,
      'The closed summary is split into several tables; some readers see only the first.',
    );
  for (const table of mailbox.closed?.tables.slice(0, 1) ?? []) {
    if (!table.names.includes('outcome'))
      report(
        'table_columns',
        table.line + 1,
        'The closed summary has other columns than ID, Date, From -> To, Final status, Outcome.',
      );
  }
  checkInbox(mailbox, report);
  checkQueue(mailbox, report);
  for (const { line, token, verdict } of envelopesIn(text)) {
    if (verdict === 'changed') report('token_changed', line, `The attachment does not match ${token.slice(0, 120)}.`);
    else if (verdict === 'placeholder')
      report('placeholder_token', line, `${token.slice(0, 120)} is a placeholder, not a checksum.`);
  }
}

/** Unread messages by receiver, oldest first; those to a person are the maintainer's. */
export function unreadOf(
  messages: readonly ModelMessage[],
  people: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, readonly ModelMessage[]> {
  const unread = new Map<string, ModelMessage[]>();
  for (const message of messages) {
    if (message.status !== 'unread') continue;
    const to = people.has(nameKey(message.to)) ? 'maintainer' : nameKey(message.to);
    const list = unread.get(to);
    if (list) list.push(message);
    else unread.set(to, [message]);
  }
  return unread;
}

function checkInbox({ inbox, cards }: Mailbox, report: Report): void {
  const unread = unreadOf(cards.map((card) => card.message).reverse());
  const listed = new Set<string>();
  for (const table of inbox?.tables ?? []) {
    for (const row of table.rows) {
      const agent = cellOf(table, row, 'agent') ?? '';
      const own = unread.get(nameKey(agent)) ?? [];
      listed.add(nameKey(agent));
      const count = cellOf(table, row, 'unread') ?? '';
      if (Number(count) !== own.length)
        report(
          'inbox_count',
          row.line + 1,
          `The inbox counts ${count.slice(0, 20)} unread for ${agent.slice(0, 80)}; there are ${own.length} unread cards.`,
        );
      else if (own.length > 0 && !own.some((message) => message.alias === cellOf(table, row, 'oldest unread')))
        report(
          'inbox_oldest',
          row.line + 1,
          `The oldest unread of ${agent.slice(0, 80)} is not one of its unread cards.`,
        );
    }
  }
  if (!inbox) return;
  for (const [id, own] of unread) {
    if (!listed.has(id))
      report(
        'inbox_count',
        inbox.heading.line + 1,
        `${own[0]?.to.slice(0, 80)} has unread mail and no row in the inbox.`,
      );
  }
}

function checkQueue({ queue, cards }: Mailbox, report: Report): void {
  if (!queue) return;
  const rows = queue.tables.flatMap((table) => table.rows.map((row) => ({ row, id: cellOf(table, row, 'id') ?? '' })));
  const queued = new Set(rows.map(({ id }) => id));
  const open = new Set(cards.filter((card) => !card.isTerminal).map((card) => card.id));
  for (const card of cards) {
    if (open.has(card.id) && !queued.has(card.id))
      report('not_queued', card.from + 1, `${card.id} is open and not in the queue.`);
  }
  for (const { row, id } of rows) {
    if (!open.has(id))
      report('queued_without_card', row.line + 1, `${id.slice(0, 80)} is in the queue but has no open card.`);
  }
}
