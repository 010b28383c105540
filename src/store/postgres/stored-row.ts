import { fromRow, parseColumn, ROW_COLUMNS, type RowColumns } from '../columns.ts';
import type { StoredRow } from '../projection.ts';
import { fromTextColumn } from '../text-column.ts';

export type Row = RowColumns & { text: string | null };

export const COLUMNS = `${ROW_COLUMNS}, text`;

export function toStored(row: Row): StoredRow {
  return fromRow(row, (doc) =>
    row.text === null ? null : fromTextColumn(parseColumn(row.text, `row ${row.id}`), doc),
  );
}
