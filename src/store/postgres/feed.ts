import { EVENT_COLUMNS, type EventRow, fromEventRow } from '../columns.ts';
import { badCursor } from '../fault.ts';
import type { FeedPage } from '../journal.ts';
import type { Connection } from './connection.ts';

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
export async function readFeed({ query, name }: Connection, cursor: string | null, limit: number): Promise<FeedPage> {
  const settled = `tx < (SELECT xid_offset FROM ${name}.meta) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;
  if (cursor === 'now') {
    const [end] = await query<FeedPosition>(
      `SELECT tx::text, seq::text FROM ${name}.events WHERE ${settled} ORDER BY events.tx DESC, events.seq DESC LIMIT 1`,
    );
    return { events: [], cursor: end === undefined ? START : `${end.tx}:${end.seq}` };
  }
  const [, tx, seq] = /^(\d{1,18}):(\d{1,18})$/.exec(cursor ?? START) ?? [];
  if (tx === undefined || seq === undefined) throw badCursor(String(cursor));
  const rows = await query<EventRow & FeedPosition>(
    `SELECT ${EVENT_COLUMNS}, tx::text, seq::text FROM ${name}.events
     WHERE (events.tx, events.seq) > ($1::text::bigint, $2::text::bigint) AND ${settled} ORDER BY events.tx, events.seq LIMIT $3::integer`,
    [tx, seq, limit],
  );
  const last = rows.at(-1);
  return { events: rows.map(fromEventRow), cursor: last === undefined ? (cursor ?? START) : `${last.tx}:${last.seq}` };
}

interface FeedPosition {
  tx: string;
  seq: string;
}

const START = '0:0';
