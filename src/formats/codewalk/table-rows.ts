import { Fault } from '../../core/fault.ts';
import type { Files, Format, Found, Parsed, Problem } from '../format.ts';
import { codewalk } from './format.ts';
import { type Row, type TableName, tableColumns, tableNames } from './sql.ts';
import { type CodewalkTables, fromTables } from './tables.ts';

/**
 * The rows of one initiative in a foreign database, as a format whose text is the rows as JSON. It is read-only: the
 * tables belong to the owner of the database.
 */
export const codewalkTables: Format = {
  ...codewalk,
  detect: () => [],
  parse(found: Found, files: Files): Parsed {
    const tables = JSON.parse(files.get(found.main) ?? 'null') as CodewalkTables | null;
    const [model = null] = tables ? fromTables(tables) : [];
    return { model, version: 'sql', writable: false, problems: [] };
  },
  render() {
    throw new Fault('not_allowed', 'Tables are not written; `holdfast export --format codewalk --as sql` gives them.');
  },
  repair: () => null,
};

/** What was found in the tables, by initiative. */
export interface TableReading {
  initiatives: { id: string; text: string }[];
  problems: Problem[];
}

/** Normalises rows from a database or a dump. Whatever cannot be used is reported. */
export function readRows(path: string, rows: ReadonlyMap<TableName, readonly Row[]>): TableReading {
  const problems: Problem[] = [];
  const complain = (code: string, message: string): void => {
    problems.push({ code, level: 'warning', path, line: null, message });
  };
  const byInitiative = new Map<string, CodewalkTables>();
  for (const table of tableNames) {
    let nameless = 0;
    const others = new Set<string>();
    for (const row of rows.get(table) ?? []) {
      const id = row['initiative_id'];
      if (id === null || id === undefined || String(id).trim() === '') {
        nameless += 1;
        continue;
      }
      const tables = byInitiative.get(String(id)) ?? emptyTables();
      byInitiative.set(String(id), tables);
      (tables[table] as unknown[]).push(shaped(table, row));
      for (const name of Object.keys(row)) if (!tableColumns[table].some(([known]) => known === name)) others.add(name);
    }
    if (nameless > 0) complain('no_initiative', `${nameless} rows of ${table} have no initiative and were skipped.`);
    if (others.size > 0) complain('unknown_columns', `${table} has unknown columns: ${[...others].join(', ')}.`);
  }
  const initiatives = [...byInitiative].map(([id, tables]) => ({ id, text: JSON.stringify(tables) }));
  return { initiatives, problems };
}

function emptyTables(): CodewalkTables {
  return { initiative_state: [], initiative_decisions: [], initiative_blockers: [], session_history: [] };
}

function shaped(table: TableName, row: Row): Row {
  return Object.fromEntries(
    tableColumns[table].map(([name, type]) => {
      const value = row[name] ?? null;
      if (name === 'status' && table === 'initiative_blockers') return [name, blockerStatus(value)];
      return [name, type.startsWith('TEXT') ? words(value, name) : amount(value, type)];
    }),
  );
}

/** The documentation allows `new`, the column does not; any other value counts as open. */
const blockerStatus = (value: Row[string]): string =>
  /^(?:bypassed|resolved)$/i.test(String(value)) ? String(value).toLowerCase() : 'active';

function words(value: Row[string], name: string): string | null {
  if (value === null) return name === 'decision' || name === 'description' ? '(empty)' : null;
  return String(value);
}

/** Numbers, and what people write instead: booleans, and times as text. */
function amount(value: Row[string], type: string): number | null {
  if (value === null || value === '') return null;
  if (type === 'BOOLEAN') return /^(?:t|true|yes|1)$/i.test(String(value)) ? 1 : 0;
  const number = Number(typeof value === 'string' ? value.replace(/%$/, '') : value);
  if (Number.isFinite(number)) return number;
  const time = Date.parse(String(value));
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}
