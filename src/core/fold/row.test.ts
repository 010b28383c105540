import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, block, complete, decision, leave, mail, scenario, start } from '../rules/scenario.suite.ts';
import { rowsOf } from './row.ts';

const records = (command: Command, run = scenario('p1').given(ada, start('p1'))) => {
  const { events, touches } = run.when(ada, command);
  const [event] = events.slice(-1);
  if (!event) throw new Error('Nothing was recorded');
  return rowsOf([{ event, touches }]);
};

describe('a record', () => {
  it('holds what can be searched, the state and the row', () => {
    const [row] = records(decision({ key: 'db', alternatives: ['Files'], irreversible: true, affects: ['p1'] }));
    expect(row).toMatchObject({
      kind: 'decision',
      id: 'D-1',
      status: 'active',
      tags: ['key:db', 'irreversible', 'affects:p1'],
      text: 'Storage\nSQLite\nOne file.\nFiles',
      doc: { id: 'D-1', decision: 'SQLite' },
    });
  });

  it('keeps the last word on each thing of a batch', () => {
    const rows = records(complete());
    expect(rows.map((row) => `${row.kind} ${row.id} ${row.status}`)).toEqual([
      'step p1 completed',
      'session S-1 active',
      'result p1 final',
      'run work completed',
    ]);
  });

  it('tells who and what by tags, with the alias beside', () => {
    expect(records(mail('bob'))[0]).toMatchObject({ tags: ['from:ada', 'to:bob'], text: 'Please look\nAt this.' });
    expect(records(block(['x'.repeat(300)], { alias: 'block-001' }))[0]).toMatchObject({
      alias: 'block-001',
      tags: ['kind:blocker', `affects:${'x'.repeat(200)}`],
    });
  });

  it('marks what was removed', () => {
    const run = scenario('p1', 'p2');
    expect(records({ type: 'plan.remove', step: 'p2' }, run)).toMatchObject([{ kind: 'step', status: 'removed' }]);
    const mirror = { format: 'gsd', path: 'STATE.md' };
    expect(records({ type: 'mirror.add', ...mirror }, run)).toMatchObject([{ kind: 'mirror', status: 'kept' }]);
    expect(records({ type: 'mirror.remove', ...mirror }, run)).toMatchObject([{ kind: 'mirror', status: 'removed' }]);
  });

  it('of a session that ended holds its notes', () => {
    const rows = records({ ...leave(), notes: ['Learned much.'] } as Command);
    expect(rows.find((row) => row.kind === 'session')).toMatchObject({ status: 'completed', text: 'Learned much.' });
  });
});
