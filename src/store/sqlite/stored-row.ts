import { fromRow, parseColumn, ROW_COLUMNS, type RowColumns } from '../columns.ts';
import type { StoredRow } from '../projection.ts';
import { fromTextColumn } from '../text-column.ts';

export type Row = RowColumns & { number: number; text: string | null };

export const COLUMNS = `number, text, ${ROW_COLUMNS}`;

export function toStored(row: Row): StoredRow {
  return fromRow(row, textOf(row));
}

export function textOf(row: Row): (doc: unknown) => string | null {
  return (doc) => (row.text === null ? null : fromTextColumn(parseColumn(row.text, `row ${row.id}`), doc));
}
