import { EVENT_COLUMNS, type EventRow, fromEventRow, toColumn } from '../columns.ts';
import { badCursor } from '../fault.ts';
import type { FeedPage, Within } from '../journal.ts';
import type { Connection, Parameter } from './connection.ts';

/**
 * Transactions do not commit in the order in which they take numbers from a sequence: a reader that has seen event 8
 * would miss event 7, committed a moment later. So each event has the number of its transaction, and the feed ends before
 * the oldest transaction that is still running. Everything before that is finished, and later events sort after it.
 *
 * `xid_offset` is added to transaction numbers because they belong to a cluster, not to a database: after a restore into
 * a younger cluster they start lower, and the offset is raised on opening (`connection.ts`).
 *
 * The cost: a transaction that stays open, anywhere in the cluster, delays the feed (never the appends).
 */
export async function readFeed(
  { query, name }: Connection,
  cursor: string | null,
  limit: number,
  within: Within = {},
): Promise<FeedPage> {
  const settled = `tx < (SELECT xid_offset FROM ${name}.meta) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;
  if (cursor === 'now') {
    const [end] = await query<FeedPosition>(
      `SELECT tx::text, seq::text FROM ${name}.events WHERE ${settled} ORDER BY events.tx DESC, events.seq DESC LIMIT 1`,
    );
    return { events: [], cursor: end === undefined ? START : `${end.tx}:${end.seq}` };
  }
  const [, tx, seq] = /^(\d{1,18}):(\d{1,18})$/.exec(cursor ?? START) ?? [];
  if (tx === undefined || seq === undefined) throw badCursor(String(cursor));
  const after = `(events.tx, events.seq) > ($1::text::bigint, $2::text::bigint)`;
  const order = 'ORDER BY events.tx, events.seq';
  const page = `FROM ${name}.events WHERE ${after} AND ${settled} ${order} LIMIT $3::integer`;
  if (within.workspaces === undefined && within.runs === undefined) {
    const rows = await query<EventRow & FeedPosition>(`SELECT ${EVENT_COLUMNS}, tx::text, seq::text ${page}`, [
      tx,
      seq,
      limit,
    ]);
    const last = rows.at(-1);
    return { events: rows.map(fromEventRow), cursor: last ? `${last.tx}:${last.seq}` : (cursor ?? START) };
  }
  // The end of the page counts events of all runs: a reader of few runs does not read the others again at each look.
  const positions = await query<FeedPosition>(`SELECT tx::text, seq::text ${page}`, [tx, seq, limit]);
  const end = positions.at(-1);
  if (end === undefined) return { events: [], cursor: cursor ?? START };
  const values: Parameter[] = [tx, seq, end.tx, end.seq];
  const seen = whereWithin(within, (value) => `$${values.push(value)}`).join(' AND ');
  const rows = await query<EventRow>(
    `SELECT ${EVENT_COLUMNS} FROM ${name}.events
     WHERE ${after} AND (events.tx, events.seq) <= ($3::text::bigint, $4::text::bigint)
       AND run IN (SELECT run FROM ${name}.runs WHERE ${seen}) ${order}`,
    values,
  );
  return { events: rows.map(fromEventRow), cursor: `${end.tx}:${end.seq}` };
}

interface FeedPosition {
  tx: string;
  seq: string;
}

const START = '0:0';

/** Conditions on the tables `runs` and `dropped`. */
export function whereWithin({ workspaces, runs }: Within, use: (value: Parameter) => string): string[] {
  return (
    [
      ['workspace', workspaces],
      ['run', runs],
    ] as const
  ).flatMap(([column, list]) =>
    list === undefined
      ? []
      : [`${column} IN (SELECT json_array_elements_text(${use(JSON.stringify(list.map(toColumn)))}::text::json))`],
  );
}
