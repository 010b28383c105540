import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { columnsOf } from '../core/columns.ts';
import * as apex from './apex/table.ts';
import * as gsd from './gsd/table.ts';
import * as maestro from './maestro/table.ts';
import * as snap from './snap/table.ts';
import { describeRows } from './text/rows.ts';

type Rows = Parameters<typeof describeRows>[1];

/** The tables that drive the formats, as their pages show them. `UPDATE_DOCS=1` writes them. */
const tables: [name: string, groups: [of: string, rows: Rows][]][] = [
  [
    'apex',
    [
      ['', [...apex.runRows, apex.stampRow, apex.createdRow]],
      ['steps.KEY', apex.stepRows],
      ['decision_log[]', apex.logRows],
      ['decisions.order_overrides[]', apex.overrideRows],
      ['open_findings[]', apex.findingRows],
      ['gates.gate-N', apex.gateRows],
    ],
  ],
  [
    'maestro',
    [
      ['', maestro.runRows],
      ['phases[]', maestro.phaseRows],
      ['phases[].errors[]', maestro.errorRows],
    ],
  ],
  [
    'gsd',
    [
      ['', gsd.pageRows],
      ['decisions', gsd.decisionColumns],
      ['items', gsd.itemColumns],
      ['ROADMAP.md', gsd.stepRows],
      ['HANDOFF.json', gsd.noteRows],
      ['HANDOFF.json[]', gsd.noteEntryRows],
    ],
  ],
  [
    'snap',
    [
      ['coordination.tasks.ID', snap.taskRows],
      ['agents.ID', snap.agentRows],
      ['locks.ID', snap.lockRows],
      ['card', snap.cardRows],
      ['Inbox Snapshot', snap.inboxRows],
      ['Open Queue', snap.queueRows],
      ['Closed Summary', snap.closedRows],
      ['Decision Index', snap.decisionRows],
      ['Item Index', snap.itemRows],
      ['Questions', snap.questionRows],
      ['note', snap.noteRows],
      ['session ended', snap.closingRows],
    ],
  ],
];

it.each(tables)('docs/formats/%s.md shows the table', (name, groups) => {
  const path = fileURLToPath(new URL(`../../docs/formats/${name}.md`, import.meta.url));
  const page = readFileSync(path, 'utf8');
  const block = aligned([
    '| in the file | in the run model | what it says |',
    ...groups.flatMap(([of, rows]) => describeRows(of, rows)),
  ]);
  const shown = page.replace(
    /(<!-- table -->\n)[\s\S]*?(\n<!-- end of table -->)/,
    (_, open: string, close: string) => `${open}\n${block}\n${close}`,
  );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, shown);
  expect(shown).toContain(block);
  expect(shown).toBe(page);
});

/** A cited test is a file, or the beginning of a name in it. */
it('docs/formats/snap.md cites tests that exist', () => {
  const root = new URL('../../', import.meta.url);
  const page = readFileSync(new URL('docs/formats/snap.md', root), 'utf8');
  const cited = [...page.matchAll(/`((?:src|test)\/[\w./-]+\.test\.ts)`((?:(?:,| and) "[^"]+")*)/g)];
  expect(cited.length).toBeGreaterThan(60);
  for (const [, path = '', names = ''] of cited) {
    const text = readFileSync(new URL(path, root), 'utf8');
    for (const [, name = ''] of names.matchAll(/"([^"]+)"/g))
      expect({ path, name, is: text.includes(name) }).toMatchObject({ is: true });
  }
});

/** Columns of equal width, as the formatter writes them. */
function aligned(rows: readonly string[]): string {
  const cells = rows.map((row) => row.slice(2, -2).split(/ (?<!\\)\| /));
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((row) => columnsOf(row[at] ?? ''))));
  const [head = '', ...body] = cells.map(
    (row) => `| ${row.map((cell, at) => `${cell}${' '.repeat((widths[at] ?? 0) - columnsOf(cell))}`).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
}
