import type { StoredValue } from '../../core/journal/value.ts';
import { toColumn } from '../columns.ts';
import type { ChangedValues } from '../journal.ts';
import type { Connection, Parameter } from './connection.ts';

/** Writes and deletes bytes if the head of this index has a row. Equal bytes are stored once. */
export function valueParts(
  name: string,
  { put, drop }: ChangedValues,
  use: (value: Parameter, type: string) => string,
  index: number,
): string[] {
  const rows = put.map(({ data, ...columns }) => ({ ...columns, data: Buffer.from(data).toString('base64') }));
  const parts: string[] = [];
  if (rows.length > 0)
    parts.push(`valued${index} AS (
  INSERT INTO ${name}."values" (run, sha256, encoding, size, data)
  SELECT head.run, n.sha256, n.encoding, n.size, decode(n.data, 'base64')
  FROM head${index} AS head,
    json_to_recordset(${use(JSON.stringify(rows), 'text')}::json) AS n (sha256 text, encoding text, size integer, data text)
  ON CONFLICT (run, sha256) DO NOTHING)`);
  if (drop.length > 0)
    parts.push(`devalued${index} AS (
  DELETE FROM ${name}."values" AS v USING head${index} AS head
  WHERE v.run = head.run AND v.sha256 IN (SELECT json_array_elements_text(${use(JSON.stringify(drop), 'text')}::json)))`);
  return parts;
}

export async function readValue({ query, name }: Connection, run: string, sha256: string): Promise<StoredValue | null> {
  const [row] = await query<StoredValue>(
    `SELECT sha256, encoding, size, data FROM ${name}."values" WHERE run = $1 AND sha256 = $2`,
    [toColumn(run), toColumn(sha256)],
  );
  return row === undefined ? null : { ...row };
}
