import { describe, expect, it } from 'vitest';
import { emptyRunModel, type RunModel } from '../../core/model/run-model.ts';
import { dropLost } from '../losses.ts';
import { readSql, renderSql } from './sql.ts';
import { codewalkTables, readRows } from './table-rows.ts';
import { tablesLose, toTables } from './tables.ts';

function back(sql: string): RunModel[] {
  const { rows, problems } = readSql('dump.sql', sql);
  expect(problems).toEqual([]);
  return readRows('dump.sql', rows).initiatives.map(({ id, text }) => {
    const found = { format: 'codewalk' as const, main: id, files: [id] };
    return codewalkTables.parse(found, new Map([[id, text]])).model as RunModel;
  });
}

const model: RunModel = {
  ...emptyRunModel('init-7'),
  run: { title: 'init-7', alias: 'init-7', status: 'active', updatedAt: '2026-03-02T00:00:00Z' },
  decisions: [
    {
      alias: 'D-1',
      context: "Where the harbour's tides live",
      decision: "It's rows;\n-- not 'text', C:\\tides\\",
      reason: 'So /* it */ is',
      alternatives: ['A: no', 'B'],
      irreversible: true,
      at: '2026-03-01T00:00:00Z',
      status: 'active',
    },
    { alias: 'D-2', decision: 'Taken back', status: 'retracted' },
  ],
  items: [
    {
      alias: 'block-001',
      kind: 'blocker',
      text: 'No key',
      status: 'resolved',
      affects: ['Phase 2'],
      workaround: 'Wait',
      resolution: 'Found',
      raisedAt: '2026-03-01T10:00:00Z',
      settledAt: '2026-03-01T11:00:00Z',
    },
    { kind: 'question', text: 'Why?', status: 'open' },
  ],
  sessions: [
    {
      alias: 'session-001',
      agent: 'worker-1',
      status: 'completed',
      startedAt: '2026-03-01T10:00:00Z',
      endedAt: '2026-03-01T11:00:00Z',
      contextUsage: 45,
      completed: ['Read'],
      issues: ['Late'],
      why: 'Enough',
    },
    { alias: 'session-002', status: 'crashed', startedAt: '2026-03-01T12:00:00Z' },
  ],
  notes: [{ kind: 'worklog', text: 'Words' }],
};

describe('codewalk: the tables as SQL', () => {
  it('return what they can hold, and name what they cannot', () => {
    const [read] = back(renderSql(toTables(model)));
    const expected = structuredClone(model);
    for (const path of tablesLose) {
      dropLost(expected, path);
      dropLost(read as object, path);
    }
    expect(read).toEqual(expected);
  });

  it('are read as SQLite and as PostgreSQL dump them, with columns in any order', () => {
    const [two, one] = back(`PRAGMA foreign_keys=OFF;
CREATE TABLE "initiative_decisions" (decision TEXT, id TEXT PRIMARY KEY, initiative_id TEXT, extra TEXT, CHECK (id <> ''));
INSERT INTO "initiative_decisions" VALUES('Use ''rows''','d1','init-1',NULL);
insert or replace into main.session_history (initiative_id, id, context_usage, started_at) values
  ('init-1', 's1', -0.45e0, 1705276800), /* two */ ('init-1', 's2', .5, null);
CREATE INDEX x ON initiative_decisions (id);
INSERT INTO someone_else VALUES ('initiative_state', ';');
COPY public.initiative_blockers (id, initiative_id, status, description, identified_at) FROM stdin;
b1\tinit-2\tactive\tTwo\\nlines\\tand a tab\t1705276800
b2\tinit-2\tresolved\t\\N\t\\N
\\.
INSERT INTO initiative_state VALUES ('init-2', 2, 1, E'It\\'s on', 1, 'in_progress', '{"phases_total": 3, "phases_completed": 1}', 1705276800);
`);
    expect(one?.decisions).toMatchObject([{ alias: 'd1', decision: "Use 'rows'" }]);
    expect(one?.sessions.map(({ alias, contextUsage }) => [alias, contextUsage])).toEqual([
      ['s1', 0],
      ['s2', 50],
    ]);
    expect(two?.items).toMatchObject([
      { alias: 'b1', text: 'Two\nlines\tand a tab', raisedAt: '2024-01-15T00:00:00Z' },
      { alias: 'b2', status: 'resolved', text: '(empty)' },
    ]);
    expect(two?.position?.step).toBe('2-1.it-s-on');
    expect(two?.steps.find(({ kind }) => kind === 'task')?.title).toBe("It's on");
  });

  it.each([
    ['cut off', "INSERT INTO initiative_state VALUES ('init-1', 2"],
    ['an open quote', "INSERT INTO initiative_state VALUES ('init-1"],
    ['a value that is none', 'INSERT INTO initiative_state VALUES (now());'],
    ['too many values', "INSERT INTO initiative_state VALUES ('a',1,1,'t',1,'s','{}',1,2,3);"],
  ])('report an unreadable statement with its line: %s', (_, statement) => {
    const { rows, problems } = readSql('dump.sql', `-- a dump\n\n${statement}`);
    expect(problems).toMatchObject([{ level: 'error', line: 3 }]);
    expect(rows.get('initiative_state') ?? []).toEqual([]);
  });

  it('are read in time that grows with their size', () => {
    const row = `('d', 'init-1', 1705276800, 'c', '${"it''s ".repeat(200)}', 'r', NULL, TRUE)`;
    const sql = `INSERT INTO initiative_decisions VALUES ${Array.from({ length: 8000 }, () => row).join(',\n')};`;
    expect(readSql('dump.sql', sql).rows.get('initiative_decisions')).toHaveLength(8000);
    expect(readSql('dump.sql', "'".repeat(1_000_001)).rows.size).toBe(0);
  });

  it('skip rows without an initiative and unknown columns, and report them', () => {
    const { rows } = readSql(
      'd.sql',
      "INSERT INTO initiative_state (initiative_id, mood) VALUES (NULL, 'x'), ('i', 'y');",
    );
    const { initiatives, problems } = readRows('d.sql', rows);
    expect(initiatives.map(({ id }) => id)).toEqual(['i']);
    expect(problems.map(({ code }) => code)).toEqual(['no_initiative', 'unknown_columns']);
  });
});
