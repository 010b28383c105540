import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, bob, decision, scenario, start } from './scenario.suite.ts';

const retract = (id: string): Command => ({ type: 'decision.retract', id, reason: 'Wrong.' });

describe('a decision', () => {
  it('belongs to the one step that is held, unless another is named', () => {
    const run = scenario('t1', 't2').given(ada, start('t1'));
    expect(run.when(ada, decision()).body('decision.made')).toMatchObject({ step: 't1' });
    expect(run.when(ada, decision({ step: 't2' })).body('decision.made')).toMatchObject({ step: 't2' });
    expect(run.when(bob, decision()).body('decision.made')).not.toHaveProperty('step');
  });

  it('is recorded with its reasons', () => {
    const run = scenario('p1');
    const more = { key: 'db', alternatives: ['Files'], irreversible: true, step: 'p1' };
    expect(run.when(ada, decision({ ...more, decisionType: 'technology' })).body('decision.made')).toMatchObject({
      id: 'D-1',
      type: 'technology',
      key: 'db',
    });
    expect(run.row('decision', 'D-1')).toMatchObject({ status: 'active', by: 'ada', alternatives: ['Files'] });
    expect(run.refusal(ada, decision({ step: 'p9' })).code).toBe('not_found');
  });

  it('supersedes an active one only', () => {
    const run = scenario().given(ada, decision(), decision({ supersedes: 'D-1' }));
    expect(run.row('decision', 'D-1')).toMatchObject({ status: 'superseded', supersededBy: 'D-2' });
    expect(run.state.totals).toMatchObject({ decisions: 2, activeDecisions: 1 });
    const fault = run.refusal(ada, decision({ supersedes: 'D-1' }));
    expect(fault.code).toBe('illegal');
    expect(fault.hints[0]).toContain('superseded by D-2');
    expect(run.given(ada, retract('D-2')).refusal(ada, decision({ supersedes: 'D-2' })).code).toBe('illegal');
  });

  it('is retracted once, also when it was superseded', () => {
    const run = scenario().given(ada, decision(), decision({ supersedes: 'D-1' }), retract('D-1'));
    expect(run.state.totals.activeDecisions).toBe(1);
    expect(run.when(ada, retract('D-1')).types).toEqual([]);
    run.given(ada, retract('D-2'));
    expect(run.state.totals.activeDecisions).toBe(0);
    expect(run.row('decision', 'D-2')).toMatchObject({ status: 'retracted', retractedBecause: 'Wrong.' });
    expect(run.refusal(ada, retract('D-22'))).toMatchObject({ code: 'not_found', data: { near: ['D-2'] } });
  });
});
