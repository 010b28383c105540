import { describe, expect, it } from 'vitest';
import {
  ada,
  complete,
  note,
  planned,
  reopen,
  sam,
  scenario,
  skip,
  start,
  startSession,
  task,
  unopened,
} from './scenario.suite.ts';

const abort = { type: 'run.abort', reason: 'Wrong idea.' } as const;
const archive = { type: 'run.archive' } as const;

describe('a run', () => {
  it('is opened once', () => {
    const opened = unopened();
    const { types } = opened.when(sam, { type: 'run.open', title: 'Work', workspace: 'W-1', goal: 'Ship.' });
    expect(types).toEqual(['run.opened']);
    expect(opened.state.run).toMatchObject({ id: 'work', goal: 'Ship.', status: 'active', openedBy: sam.actor });
    const fault = opened.refusal(ada, { type: 'run.open', title: 'Again', workspace: 'W-1' });
    expect(fault.code).toBe('illegal');
    expect(fault.hints.join()).toContain('holdfast resume');
  });

  it('is opened with its plan or not at all', () => {
    const run = { type: 'run.open', title: 'Work', workspace: 'W-1' } as const;
    const steps = ['a', 'b'].map((key) => ({ key, title: key, kind: 'task' as const, done: key === 'a' }));
    const opened = unopened();
    expect(opened.when(sam, { ...run, steps }).types).toEqual([
      'run.opened',
      'step.added',
      'step.added',
      'step.completed',
    ]);
    const twice = steps.map((step) => ({ ...step, key: 'a' }));
    expect(unopened().refusal(sam, { ...run, steps: twice }).code).toBe('invalid');
  });

  it('refuses commands before it is opened', () => {
    for (const command of [planned('p1'), start('p1'), note('x'), startSession()]) {
      expect(unopened().refusal(ada, command).code).toBe('not_found');
    }
  });

  it('records only what an amendment changes', () => {
    const run = scenario();
    expect(run.when(ada, { type: 'run.amend', title: 'Work' }).types).toEqual([]);
    const { events } = run.when(ada, { type: 'run.amend', title: 'Work', goal: 'Ship.' });
    expect(events[0]?.body).toEqual({ goal: 'Ship.' });
    expect(run.state.run).toMatchObject({ title: 'Work', goal: 'Ship.' });
  });

  it('is completed by the last step and revived by reopening one', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete(), start('p2'));
    expect(run.when(ada, complete()).types).toEqual(['step.completed', 'run.completed']);
    expect(run.state.run?.status).toBe('completed');
    expect(run.when(ada, reopen('p1')).types).toEqual(['run.reopened', 'step.reopened']);
    expect(run.state.run?.status).toBe('active');
    expect(run.when(ada, complete('p1')).types).toEqual(['step.completed', 'run.completed']);
  });

  it('is completed by skipping what is left', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    expect(run.when(sam, skip('p2')).types).toEqual(['step.skipped', 'run.completed']);
  });

  it('continues when its plan grows', () => {
    const run = scenario('p1').given(ada, start('p1'), complete());
    expect(run.when(ada, planned('p2')).types).toEqual(['run.reopened', 'step.added']);
    expect(run.state.run?.status).toBe('active');
  });

  it('stays completed when only finished steps are added', () => {
    const run = scenario('p1').given(ada, start('p1'), complete());
    run.given(ada, planned(task('p2', { done: true })));
    expect(run.state.run?.status).toBe('completed');
  });

  it('is completed by removing the last unfinished step', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    expect(run.when(ada, { type: 'plan.remove', step: 'p2' }).types).toEqual(['step.removed', 'run.completed']);
  });

  it('is not completed by removing its only step', () => {
    expect(scenario('p1').when(ada, { type: 'plan.remove', step: 'p1' }).types).toEqual(['step.removed']);
  });

  it('is aborted by a person only, which withdraws its errors', () => {
    const run = scenario('p1').given(ada, start('p1'), {
      type: 'step.fail',
      errorType: 'timeout',
      message: 'Too slow.',
    });
    const fault = run.refusal(ada, abort);
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints.join()).toMatch(/Ask the person you work for to run `holdfast abort/);
    const outcome = run.when(sam, abort);
    expect(outcome.types).toEqual(['item.settled', 'run.abandoned']);
    expect(outcome.body('item.settled')).toMatchObject({ id: 'E-1', as: 'withdrawn' });
    expect(run.state.run).toMatchObject({ status: 'abandoned', reason: 'Wrong idea.' });
  });

  it.each(['abandoned', 'archived'])('refuses everything that records work once it is %s', (status) => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete('p1')).given(sam, abort);
    if (status === 'archived') run.given(sam, archive);
    for (const command of [start('p2'), complete('p1'), reopen('p1'), planned('p3'), note('x'), startSession()]) {
      const fault = run.refusal(sam, command);
      expect(fault.code).toBe('illegal');
      expect(fault.data).toEqual({ run: 'work', status });
    }
    expect(run.refusal(ada, { type: 'run.amend', goal: 'Other.' }).code).toBe('illegal');
    expect(run.when(ada, { type: 'session.end', reason: 'completed' }).types).toContain('session.ended');
  });

  it('is completed by a plan that is done, and archived without a reason when all is done', () => {
    const run = scenario(task('p1', { done: true }));
    expect(run.state.run?.status).toBe('completed');
    run.given(sam, { type: 'run.archive' }, { type: 'run.unarchive' });
    expect(run.state.run?.status).toBe('active');
    expect(run.when(sam, { type: 'run.archive' }).types).toEqual(['run.completed', 'run.archived']);
  });

  it('is archived when finished, and not twice', () => {
    const run = scenario('p1').given(ada, start('p1'), complete());
    expect(run.when(ada, archive).types).toEqual(['run.archived']);
    expect(run.when(ada, archive).types).toEqual([]);
  });

  it('is archived unfinished by a person with a reason', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    const fault = run.refusal(sam, archive);
    expect(fault.code).toBe('illegal');
    expect(fault.message).toContain('1 of 2 steps');
    expect(run.refusal(ada, { ...archive, reason: 'Later.' }).code).toBe('not_allowed');
    expect(run.when(sam, { ...archive, reason: 'Later.' }).types).toEqual(['run.abandoned', 'run.archived']);
    expect(run.when(sam, { type: 'run.unarchive' }).types).toEqual(['run.reopened']);
    expect(run.when(ada, start('p2')).types).toEqual(['step.started']);
  });
});
