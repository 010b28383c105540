import type { Problem } from '../format.ts';
import type { CodewalkTables } from './tables.ts';

/** The four tables as SQL: reads a dump of them, and writes a script that loads them into SQLite or PostgreSQL. */

export type TableName = keyof CodewalkTables;

export const tableColumns = {
  initiative_state: [
    ['initiative_id', 'TEXT PRIMARY KEY'],
    ['current_phase', 'INTEGER'],
    ['current_plan', 'INTEGER'],
    ['current_task', 'TEXT'],
    ['current_wave', 'INTEGER'],
    ['status', 'TEXT'],
    ['progress_json', 'TEXT'],
    ['updated_at', 'INTEGER'],
  ],
  initiative_decisions: [
    ['id', 'TEXT PRIMARY KEY'],
    ['initiative_id', 'TEXT'],
    ['date', 'INTEGER'],
    ['context', 'TEXT'],
    ['decision', 'TEXT'],
    ['reason', 'TEXT'],
    ['alternatives_json', 'TEXT'],
    ['reversible', 'BOOLEAN'],
  ],
  initiative_blockers: [
    ['id', 'TEXT PRIMARY KEY'],
    ['initiative_id', 'TEXT'],
    ['status', "TEXT CHECK (status IN ('active', 'bypassed', 'resolved'))"],
    ['description', 'TEXT'],
    ['identified_at', 'INTEGER'],
    ['affects_json', 'TEXT'],
    ['workaround', 'TEXT'],
    ['resolution', 'TEXT'],
    ['resolved_at', 'INTEGER'],
  ],
  session_history: [
    ['id', 'TEXT PRIMARY KEY'],
    ['initiative_id', 'TEXT'],
    ['agent_id', 'TEXT'],
    ['started_at', 'INTEGER'],
    ['ended_at', 'INTEGER'],
    ['context_usage', 'REAL'],
    ['completed_json', 'TEXT'],
    ['issues_json', 'TEXT'],
    ['handoff_reason', 'TEXT'],
  ],
} as const satisfies Record<TableName, readonly (readonly [string, string])[]>;

export const tableNames = Object.keys(tableColumns) as TableName[];

/** Loading it twice changes nothing; loading a newer one updates the rows. */
export function renderSql(tables: CodewalkTables): string {
  const statements = tableNames.map((table) => {
    const columns = tableColumns[table];
    const names = columns.map(([name]) => name);
    const create = `CREATE TABLE IF NOT EXISTS ${table} (\n${columns.map(([name, type]) => `  ${name} ${type}`).join(',\n')}\n);`;
    const rows = (tables[table] as unknown as Record<string, unknown>[]).map(
      (row) => `  (${columns.map(([name, type]) => literal(row[name], type)).join(', ')})`,
    );
    if (rows.length === 0) return create;
    const [key, ...others] = names;
    const update = others.map((name) => `${name} = excluded.${name}`).join(', ');
    return `${create}\n\nINSERT INTO ${table} (${names.join(', ')}) VALUES\n${rows.join(',\n')}\nON CONFLICT (${key}) DO UPDATE SET ${update};`;
  });
  return `BEGIN;\n\n${statements.join('\n\n')}\n\nCOMMIT;\n`;
}

function literal(value: unknown, type: string): string {
  if (value === null || value === undefined) return 'NULL';
  if (type === 'BOOLEAN') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return String(value);
  // Neither database accepts a zero byte in text.
  return `'${String(value).replaceAll('\u0000', '').replaceAll("'", "''")}'`;
}

export type Row = Record<string, string | number | null>;

/**
 * The rows that a dump inserts into the four tables: `INSERT` as SQLite and most tools write it, `COPY … FROM stdin` as
 * PostgreSQL does. Everything else is skipped. An unreadable statement is a problem and does not stop reading.
 */
export function readSql(path: string, text: string): { rows: Map<TableName, Row[]>; problems: Problem[] } {
  const rows = new Map<TableName, Row[]>();
  const problems: Problem[] = [];
  const complain = (code: string, at: number, message: string): void => {
    if (problems.length < PROBLEMS_LIMIT)
      problems.push({ code, level: 'error', path, line: lineAt(text, at), message });
  };
  const columns = new Map<TableName, string[]>();
  const reader = tokens(text);
  const add = (table: TableName, names: readonly string[], values: readonly Value[], at: number): void => {
    if (values.length > names.length) {
      return complain(
        'too_many_values',
        at,
        `A row of ${table} has ${values.length} values for ${names.length} columns.`,
      );
    }
    const list = rows.get(table) ?? [];
    list.push(Object.fromEntries(values.map((value, index) => [names[index] as string, value])));
    rows.set(table, list);
  };
  for (let token = reader.next(); token; token = reader.next()) {
    const start = token.at;
    const verb = token.kind === 'word' ? token.words.toUpperCase() : '';
    if (verb !== 'INSERT' && verb !== 'CREATE' && verb !== 'COPY') {
      reader.skipStatement(token);
      continue;
    }
    try {
      const table = readTarget(reader, verb);
      if (table === null) continue;
      if (verb === 'CREATE') columns.set(table, readDefinition(reader));
      else {
        const known = columns.get(table) ?? tableColumns[table].map(([name]) => name);
        const names = readNames(reader) ?? known;
        if (verb === 'COPY') for (const values of reader.copied()) add(table, names, values, start);
        else for (const values of readValues(reader)) add(table, names, values, start);
      }
    } catch (thrown) {
      complain('not_sql', start, `This statement cannot be read: ${(thrown as Error).message}.`);
      reader.skipStatement();
    }
  }
  return { rows, problems };
}

/** A limit for text that is not a dump at all. */
const PROBLEMS_LIMIT = 100;

type Value = string | number | null;

/** The table that a statement names. Returns null, with the statement skipped, when it is not one of the four. */
function readTarget(reader: Reader, verb: string): TableName | null {
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.kind === 'mark' && token.words === ';') return null;
    const name = token.kind === 'word' || token.kind === 'name' ? token.words.toLowerCase() : '';
    if (tableNames.includes(name as TableName)) return name as TableName;
    // Only keywords and a schema name come before the table name.
    const isAhead = token.kind === 'word' || token.kind === 'name' || token.words === '.';
    if (!isAhead || (verb === 'CREATE' && /^(?:index|view|trigger)$/i.test(token.words))) {
      reader.skipStatement(token);
      return null;
    }
  }
  return null;
}

function readDefinition(reader: Reader): string[] {
  const names: string[] = [];
  let depth = 0;
  let fresh = false;
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.kind === 'mark' && token.words === ';') return names;
    if (token.words === '(' && token.kind === 'mark') {
      depth += 1;
      fresh = depth === 1;
    } else if (token.words === ')' && token.kind === 'mark') depth -= 1;
    else if (token.words === ',' && token.kind === 'mark') fresh = depth === 1;
    else if (fresh) {
      if (token.kind === 'name' || !/^(?:primary|foreign|unique|check|constraint)$/i.test(token.words))
        names.push(token.words.toLowerCase());
      fresh = false;
    }
  }
  return names;
}

function readNames(reader: Reader): string[] | null {
  const token = reader.peek();
  if (token?.kind !== 'mark' || token.words !== '(') return null;
  reader.next();
  const names: string[] = [];
  for (let one = reader.next(); one && one.words !== ')'; one = reader.next())
    if (one.kind === 'word' || one.kind === 'name') names.push(one.words.toLowerCase());
  return names;
}

/** Reads `VALUES (…), (…)` up to the end of the statement. */
function* readValues(reader: Reader): Iterable<Value[]> {
  let values: Value[] | null = null;
  let sign = 1;
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.kind === 'mark') {
      if (token.words === ';') return;
      if (token.words === '(' && values === null) values = [];
      else if (token.words === ')' && values !== null) {
        yield values;
        values = null;
      } else if (token.words === '-') sign = -1;
      else if (values !== null && token.words === '(') throw new Error('a value is not plain');
      continue;
    }
    if (values === null) {
      // `ON CONFLICT …`: no more rows.
      if (/^(?:on|returning)$/i.test(token.words)) return reader.skipStatement(token);
      continue;
    }
    if (token.kind === 'text') values.push(token.words);
    else if (token.kind === 'number') values.push(sign * Number(token.words));
    else if (/^null$/i.test(token.words)) values.push(null);
    else if (/^(?:true|false)$/i.test(token.words)) values.push(/^t/i.test(token.words) ? 1 : 0);
    else throw new Error(`${token.words.slice(0, 40)} is not a value`);
    sign = 1;
  }
  if (values !== null) throw new Error('it ends in the middle of a row');
}

interface Token {
  kind: 'word' | 'name' | 'text' | 'number' | 'mark';
  words: string;
  at: number;
}

interface Reader {
  next(): Token | null;
  peek(): Token | null;
  /** Moves past the end of the statement that a token belongs to. */
  skipStatement(from?: Token): void;
  /** The lines of a COPY, as values. */
  copied(): Iterable<Value[]>;
}

function tokens(text: string): Reader {
  // One sticky pattern, applied where the last match ended: time is linear in size.
  const pattern =
    /\s+|--[^\n]*|\/\*.*?\*\/|[eE]'([^'\\]*(?:(?:''|\\.)[^'\\]*)*)'|'([^']*(?:''[^']*)*)'|"([^"]*(?:""[^"]*)*)"|`([^`]*)`|\[([^\]]*)\]|((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(.)/suy;
  let ahead: Token | null = null;
  let position = 0;
  const read = (): Token | null => {
    while (position < text.length) {
      const at = position;
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (!found) return null;
      position = pattern.lastIndex;
      const [, escaped, quoted, name, tick, bracket, number, word, mark] = found;
      if (escaped !== undefined) return { kind: 'text', words: unescaped(escaped.replaceAll("''", "'")), at };
      // A backslash is an ordinary character, except in an escape string.
      if (quoted !== undefined) return { kind: 'text', words: quoted.replaceAll("''", "'"), at };
      const named = name?.replaceAll('""', '"') ?? tick ?? bracket;
      if (named !== undefined) return { kind: 'name', words: named, at };
      if (number !== undefined) return { kind: 'number', words: number, at };
      if (word !== undefined) return { kind: 'word', words: word, at };
      if (mark !== undefined) return { kind: 'mark', words: mark, at };
    }
    return null;
  };
  const next = (): Token | null => {
    const token = ahead ?? read();
    ahead = null;
    return token;
  };
  return {
    next,
    peek() {
      ahead ??= read();
      return ahead;
    },
    skipStatement(from) {
      for (let token = from ?? next(); token; token = next()) if (token.kind === 'mark' && token.words === ';') return;
    },
    *copied() {
      this.skipStatement();
      position = text.indexOf('\n', position) + 1 || text.length;
      while (position < text.length) {
        const end = text.indexOf('\n', position);
        const line = text.slice(position, end < 0 ? text.length : end).replace(/\r$/, '');
        position = end < 0 ? text.length : end + 1;
        if (line === '\\.') return;
        yield line.split('\t').map((cell) => (cell === '\\N' ? null : unescaped(cell)));
      }
    },
  };
}

function unescaped(words: string): string {
  const signs: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
  return words.replace(/\\(.)/gs, (_, sign: string) => signs[sign] ?? sign);
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
