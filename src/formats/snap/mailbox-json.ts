import { isObject } from '../is-object.ts';
import type { Part } from '../text/table.ts';
import { type Card, type Mailbox, readMailbox } from './mailbox.ts';
import { unreported } from './page.ts';

/**
 * MAILBOX.json: the mailbox for programs. It is never read, since it has no data of its own. If it exists, it is
 * generated with every write of the mailbox. The format's own exporter drops everything but the id of a bold card, and
 * most of the closed summary; here cards of both forms are complete.
 */
export function renderMailboxJson(
  text: string,
  paths: { mailbox: string; json: string },
  previous: string,
  now: string,
) {
  const mailbox = readMailbox(text, unreported);
  const kept = keysOf(previous);
  const fresh = {
    generated_at: now,
    source_file: kept['source_file'] ?? paths.mailbox,
    output_file: kept['output_file'] ?? paths.json,
    format_version: 'mailbox-compact-v1',
    metadata: metadataOf(mailbox),
    inbox_snapshot: rowsOf(mailbox.inbox).map((row) => ({
      agent: row['agent'] ?? '',
      unread: /^\d{1,9}$/.test(row['unread'] ?? '') ? Number(row['unread']) : (row['unread'] ?? ''),
      oldest_unread: row['oldest_unread'] ?? '',
      needs_response_by: row['needs_response_by'] ?? '',
    })),
    open_queue: rowsOf(mailbox.queue).map(standardRow),
    active_messages: mailbox.cards.map(messageOf),
    closed_summary: rowsOf(mailbox.closed).map(standardRow),
  };
  return `${JSON.stringify({ ...kept, ...fresh }, null, 2)}\n`;
}

/** The previous content: its order, and keys that are not the format's. */
function keysOf(previous: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(previous.replace(/^\ufeff/, ''));
    return isObject(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function metadataOf({ page }: Mailbox): Record<string, string> {
  const names = ['Date initialized', 'Protocol', 'Last format migration', 'Full history'];
  return Object.fromEntries(
    page.lines.slice(0, 20).flatMap((_, at) => {
      const [, name = '', value = ''] = /^([A-Z][a-z ]+):(.*)$/.exec(page.line(at)) ?? [];
      return names.includes(name) ? [[keyOf(name), value.trim()]] : [];
    }),
  );
}

const keyOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');

type Row = Readonly<Record<string, string>>;

function rowsOf(part: Part | null): Row[] {
  return (part?.tables ?? []).flatMap(({ names, rows }) =>
    rows.map(({ cells }) => Object.fromEntries(names.map((name, index) => [keyOf(name), cells[index] ?? '']))),
  );
}

function standardRow(row: Row): Row {
  const keys = ['id', 'date', 'from_to', 'type', 'priority', 'due', 'status', 'subject', 'final_status', 'outcome'];
  return Object.fromEntries(keys.map((key) => [key, (key === 'priority' ? row['pri'] : undefined) ?? row[key] ?? '']));
}

function messageOf({ id, fields, message }: Card): object {
  const { body, acks = [], replies = [] } = message;
  return {
    id,
    fields: Object.fromEntries([...fields].map(([name, { value }]) => [keyOf(name), value])),
    summary: body === '' ? [] : [body],
    ack: acks.map(({ by, at, to, note }) => [by, at, to ? `${to}: ${note}` : note].filter(Boolean).join(' | ')),
    reply: replies.map((reply) => [reply.from, reply.at, reply.body].filter(Boolean).join(' | ')),
  };
}
