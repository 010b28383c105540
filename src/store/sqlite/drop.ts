import { toColumn, toTombstoneRow } from '../columns.ts';
import type { Tombstone } from '../journal.ts';
import type { Connection } from './connection.ts';
import { dropRows } from './projection.ts';
import { mergeTerms, scrub } from './scrub.ts';

export async function drop(connection: Connection, tombstone: Tombstone): Promise<boolean> {
  const isDropped = await connection.write(() => dropRun(connection, tombstone), { secure: true });
  // The run is gone either way; a later drop gives the space back.
  if (isDropped) await giveBack(connection).catch(() => undefined);
  return isDropped;
}

/** Inside a write transaction. */
function dropRun(connection: Connection, tombstone: Tombstone): boolean {
  const { statement } = connection;
  const run = toColumn(tombstone.run);
  const head = statement('SELECT version, hash FROM runs WHERE run = ?').get(run) as
    | { version: number; hash: string }
    | undefined;
  if (head && (head.version !== tombstone.version || head.hash !== tombstone.hash)) return false;
  // A number that was used is not used again: readers of the feed are past it.
  statement('UPDATE meta SET reserved = max(reserved, (SELECT coalesce(max(seq), 0) FROM events))').run();
  dropRows(connection, run);
  for (const table of ['events', 'cache', 'beats', '"values"', 'runs']) {
    statement(`DELETE FROM ${table} WHERE run = ?`).run(run);
  }
  const { workspace, version, hash, at, made_by, reason } = toTombstoneRow(tombstone);
  statement(
    'INSERT OR IGNORE INTO dropped (run, hash, workspace, version, at, made_by, reason) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(run, hash, workspace, version, at, made_by, reason);
  return true;
}

/** Rewriting takes as long as the whole file is large, so only where a share of it is free; other free pages are used again. */
const FREE_SHARE = 1 / 4;

async function giveBack(connection: Connection): Promise<void> {
  const { statement, read, write } = connection;
  const { free, pages } = await read(
    () =>
      statement(
        'SELECT freelist_count AS free, page_count AS pages FROM pragma_freelist_count, pragma_page_count',
      ).get() as { free: number; pages: number },
  );
  if (free < pages * FREE_SHARE) return;
  await write(() => mergeTerms(connection), { secure: true });
  await scrub(connection);
}
