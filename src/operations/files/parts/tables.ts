import { join } from 'node:path';
import { type Row, readSql, type TableName, tableNames } from '../../../formats/codewalk/sql.ts';
import { codewalkTables, readRows } from '../../../formats/codewalk/table-rows.ts';
import type { Problem } from '../../../formats/format.ts';
import { readText, startsWith } from '../../../workspace/read.ts';
import { openForeignDatabase } from '../../session/parts/foreign-database.ts';
import type { ForeignFile } from './foreign-file.ts';

/**
 * The initiatives in a dump or a SQLite database with Codewalk's four tables, each as its own run. Only for a file that
 * the user named.
 */
export function findTables(base: string, path: string, nameOf: (main: string) => string): ForeignFile[] {
  const file = join(base, path);
  const { rows, problems } = startsWith(file, 'SQLite format 3\u0000')
    ? fromDatabase(path, file)
    : fromDump(path, file);
  if (rows.size === 0) return [];
  const reading = readRows(path, rows);
  return reading.initiatives.map(({ id, text }, index): ForeignFile => {
    const main = `${path}#${id}`;
    const found = { format: codewalkTables.name, main, files: [main] };
    const files = new Map([[main, text]]);
    const parsed = codewalkTables.parse(found, files);
    // Problems of the file are reported once.
    const reported = index === 0 ? [...problems, ...reading.problems] : [];
    return {
      format: codewalkTables,
      base,
      name: nameOf(main),
      found,
      files,
      parsed: { ...parsed, problems: reported },
    };
  });
}

interface Rows {
  rows: Map<TableName, Row[]>;
  problems: Problem[];
}

function fromDump(path: string, file: string): Rows {
  const text = /\.sql$/i.test(path) ? readText(file) : null;
  return text === null ? { rows: new Map(), problems: [] } : readSql(path, text);
}

function fromDatabase(path: string, file: string): Rows {
  const rows = new Map<TableName, Row[]>();
  const problems: Problem[] = [];
  const database = openForeignDatabase(file);
  try {
    for (const table of tableNames) {
      // Our own journal has views with these names; `journal export` is the way to move it.
      const [there] = database.all("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table);
      if (there) rows.set(table, database.all(`SELECT * FROM ${table}`).map(plainRow));
    }
  } catch (thrown) {
    const message = `The database cannot be read: ${(thrown as Error).message}.`;
    problems.push({ code: 'not_a_database', level: 'error', path, line: null, message });
  } finally {
    database.close();
  }
  return { rows, problems };
}

function plainRow(row: unknown): Row {
  return Object.fromEntries(
    Object.entries(row as Record<string, unknown>).map(([name, value]) => [
      name.toLowerCase(),
      value === null || typeof value === 'number' || typeof value === 'string' ? value : String(value),
    ]),
  );
}
