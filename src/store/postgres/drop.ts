import { fromTombstoneRow, TOMBSTONE_COLUMNS, type TombstoneRow, toTombstoneRow } from '../columns.ts';
import type { Tombstone, Within } from '../journal.ts';
import type { Connection, Parameter } from './connection.ts';
import { whereWithin } from './feed.ts';

/**
 * The row of the run is its lock, as in an append. Each statement sees what was committed while it waited for that, so
 * nothing that was written at the same version is left. The server's own vacuum makes the space free.
 */
export async function drop({ patiently, sql, name }: Connection, tombstone: Tombstone): Promise<boolean> {
  const { run, hash, workspace, version, at, made_by, reason } = toTombstoneRow(tombstone);
  const dropOnce = () =>
    sql.begin(async (transaction) => {
      await transaction.unsafe('SET LOCAL statement_timeout = 0');
      const [head] = (await transaction.unsafe(`SELECT version, hash FROM ${name}.runs WHERE run = $1 FOR UPDATE`, [
        run,
      ])) as unknown as { version: number; hash: string }[];
      if (head && (head.version !== version || head.hash !== hash)) return false;
      for (const table of ['events', 'records', 'cache', 'beats', '"values"', 'runs']) {
        await transaction.unsafe(`DELETE FROM ${name}.${table} WHERE run = $1`, [run]);
      }
      await transaction.unsafe(
        `INSERT INTO ${name}.dropped (${TOMBSTONE_COLUMNS}, tx)
         SELECT $1, $2, $3, $4::integer, $5, $6, $7, xid_offset + pg_current_xact_id()::text::bigint FROM ${name}.meta
         ON CONFLICT (run, hash) DO NOTHING`,
        [run, hash, workspace, version, at, made_by, reason],
      );
      return true;
    });
  // A try whose answer was lost is found to be done by the next one.
  return patiently(dropOnce);
}

export async function readTombstones({ query, name }: Connection, within: Within): Promise<Tombstone[]> {
  const values: Parameter[] = [];
  const where = whereWithin(within, (value) => `$${values.push(value)}`);
  const rows = await query<TombstoneRow>(
    `SELECT ${TOMBSTONE_COLUMNS} FROM ${name}.dropped
     ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY at DESC`,
    values,
  );
  return rows.map(fromTombstoneRow);
}
