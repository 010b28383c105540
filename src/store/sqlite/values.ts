import type { StoredValue } from '../../core/journal/value.ts';
import type { ChangedValues } from '../journal.ts';
import type { Connection } from './connection.ts';

type Statements = Pick<Connection, 'statement'>;

/** Inside a write transaction. Equal bytes are stored once. */
export function writeValues({ statement }: Statements, run: string, { put, drop }: ChangedValues): void {
  for (const { sha256, encoding, size, data } of put) {
    statement('INSERT OR IGNORE INTO "values" (run, sha256, encoding, size, data) VALUES (?, ?, ?, ?, ?)').run(
      run,
      sha256,
      encoding,
      size,
      data,
    );
  }
  for (const sha256 of drop) statement('DELETE FROM "values" WHERE run = ? AND sha256 = ?').run(run, sha256);
}

export function readValue({ statement }: Statements, run: string, sha256: string): StoredValue | null {
  const row = statement('SELECT sha256, encoding, size, data FROM "values" WHERE run = ? AND sha256 = ?').get(
    run,
    sha256,
  ) as StoredValue | undefined;
  return row === undefined ? null : { ...row };
}
