import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, block, complete, decision, leave, mail, scenario, start } from '../rules/scenario.suite.ts';
import { rowsOf } from './row.ts';

const rowsAfter = (command: Command, run = scenario('p1').given(ada, start('p1'))) => {
  const { events, touches } = run.when(ada, command);
  const [event] = events.slice(-1);
  if (!event) throw new Error('Nothing was recorded');
  return rowsOf([{ event, touches }]);
};

describe('a row', () => {
  it('has the searchable text, the status and the whole document', () => {
    const [row] = rowsAfter(decision({ key: 'db', alternatives: ['Files'], irreversible: true, affects: ['p1'] }));
    expect(row).toMatchObject({
      kind: 'decision',
      id: 'D-1',
      status: 'active',
      tags: ['key:db', 'irreversible', 'affects:p1'],
      text: 'Storage\nSQLite\nOne file.\nFiles',
      doc: { id: 'D-1', decision: 'SQLite' },
    });
  });

  it('is the last version within a batch', () => {
    const rows = rowsAfter(complete());
    expect(rows.map((row) => `${row.kind} ${row.id} ${row.status}`)).toEqual([
      'step p1 completed',
      'session S-1 active',
      'result p1 final',
      'run work completed',
    ]);
  });

  it('has tags and an alias', () => {
    expect(rowsAfter(mail('bob'))[0]).toMatchObject({ tags: ['from:ada', 'to:bob'], text: 'Please look\nAt this.' });
    expect(rowsAfter(block(['x'.repeat(300)], { alias: 'block-001' }))[0]).toMatchObject({
      alias: 'block-001',
      tags: ['kind:blocker', `affects:${'x'.repeat(200)}`],
    });
  });

  it('marks what was removed', () => {
    const run = scenario('p1', 'p2');
    expect(rowsAfter({ type: 'plan.remove', step: 'p2' }, run)).toMatchObject([{ kind: 'step', status: 'removed' }]);
    const mirror = { format: 'gsd', path: 'STATE.md' };
    expect(rowsAfter({ type: 'mirror.add', ...mirror }, run)).toMatchObject([{ kind: 'mirror', status: 'kept' }]);
    expect(rowsAfter({ type: 'mirror.remove', ...mirror }, run)).toMatchObject([{ kind: 'mirror', status: 'removed' }]);
  });

  it('of an ended session has its notes', () => {
    const rows = rowsAfter({ ...leave(), notes: ['Learned much.'] } as Command);
    expect(rows.find((row) => row.kind === 'session')).toMatchObject({ status: 'completed', text: 'Learned much.' });
  });
});
