import { describe, expect, it } from 'vitest';
import {
  ada,
  block,
  bob,
  complete,
  fail,
  leave,
  phase,
  planned,
  release,
  sam,
  scenario,
  settle,
  skip,
  start,
  task,
} from '../rules/scenario.suite.ts';
import { readySteps } from './plan.ts';
import { positionOf } from './position.ts';

const twoPhases = () =>
  scenario(
    phase('a'),
    task('a1', { parent: 'a' }),
    task('a2', { parent: 'a', after: ['a1'] }),
    phase('b', { after: ['a'] }),
    task('b1', { parent: 'b' }),
  );

describe('a step with children', () => {
  it('follows them: in progress once one starts, completed when all are done', () => {
    const run = twoPhases();
    expect(run.view('a').status).toBe('pending');
    expect(run.given(ada, start('a1')).view('a').status).toBe('in_progress');
    expect(run.given(ada, fail()).view('a').status).toBe('in_progress');
    expect(run.given(sam, skip('a1')).given(ada, start('a2'), complete()).view('a').status).toBe('completed');
  });

  it('is pending when children were only skipped or released', () => {
    const run = twoPhases().given(sam, skip('a1'));
    expect(run.view('a').status).toBe('pending');
    expect(run.given(ada, start('a2'), release('a2')).view('a').status).toBe('pending');
    expect(run.given(sam, skip('a2')).view('a').status).toBe('skipped');
  });

  it('is derived through all levels', () => {
    const run = scenario(phase('a'), phase('aa', { parent: 'a' }), task('aaa', { parent: 'aa' }), 'b');
    expect(
      run
        .given(ada, start('aaa'))
        .plan()
        .all.map((view) => [view.status, view.depth]),
    ).toEqual([
      ['in_progress', 0],
      ['in_progress', 1],
      ['in_progress', 2],
      ['pending', 0],
    ]);
    expect(run.given(ada, complete()).view('a').status).toBe('completed');
  });
});

describe('paused and escalated', () => {
  it('is a phase all of whose remaining tasks are blocked, and a run all of whose remaining phases are', () => {
    const run = scenario(
      phase('a'),
      task('a1', { parent: 'a' }),
      task('a2', { parent: 'a' }),
      task('a3', { parent: 'a' }),
      phase('b'),
      task('b1', { parent: 'b' }),
    );
    run.given(ada, start('a1'), complete(), block(['a2']));
    expect(run.view('a').paused).toBe(false);
    run.given(ada, block(['a3']));
    expect(run.view('a').paused).toBe(true);
    expect(run.plan().escalated).toBe(false);
    run.given(ada, block(['b']));
    expect(run.view('b')).toMatchObject({ blocked: true, paused: true });
    expect(run.plan().escalated).toBe(true);
    run.given(ada, settle('B-2', 'bypassed'));
    expect(run.view('a').paused).toBe(false);
    expect(run.plan().escalated).toBe(false);
  });

  it('counts steps that wait for a blocked step', () => {
    const run = twoPhases().given(ada, block(['a1']));
    expect(run.view('a').paused).toBe(true);
    expect(run.view('a2').blocked).toBe(false);
    expect(run.plan().escalated).toBe(true);
    expect(run.given(ada, settle('B-1', 'resolved')).plan().escalated).toBe(false);
  });

  it('is not a phase that only waits, nor one with a step in progress', () => {
    expect(twoPhases().view('b').paused).toBe(false);
    const run = twoPhases().given(ada, start('a1'), block(['a1']));
    expect(run.view('a').paused).toBe(false);
    expect(run.given(ada, leave()).view('a').paused).toBe(true);
  });

  it('does not apply to what is finished or empty', () => {
    const run = scenario('p1').given(ada, start('p1'), complete(), block(['p1']));
    expect(run.plan().escalated).toBe(false);
    expect(scenario().plan().escalated).toBe(false);
  });
});

describe('progress', () => {
  it('is the mean over the top-level steps of the share of their leaves that are done', () => {
    const run = twoPhases().given(ada, start('a1'), complete());
    expect(run.plan().progress).toEqual({ percent: 25, done: 1, total: 3, rootsDone: 0, rootsTotal: 2 });
    run.given(sam, skip('a2'));
    expect(run.plan().progress).toMatchObject({ percent: 50, done: 2, rootsDone: 1 });
    expect(run.given(sam, skip('b')).plan().progress.percent).toBe(100);
  });

  it('of a flat plan is its share of finished steps', () => {
    expect(scenario('p1', 'p2', 'p3').given(ada, start('p1'), complete()).plan().progress.percent).toBe(33);
    expect(scenario().plan().progress).toMatchObject({ percent: 0, total: 0 });
  });

  it('is 100 only when all is done', () => {
    const steps = Array.from({ length: 300 }, (_, index) => task(`s${index}`, { done: index > 0 }));
    expect(scenario(...steps).plan().progress.percent).toBe(99);
  });
});

describe('position', () => {
  it('prefers my own step, then interrupted, held, failed and ready ones', () => {
    const run = scenario('p1', 'p2', 'p3', 'p4');
    const current = (mine: string | null = null) => positionOf(run.state, run.plan(), mine).current?.step.key;
    expect(current()).toBe('p1');
    run.given(ada, start('p2'), fail());
    expect(current()).toBe('p2');
    run.given(bob, start('p3'));
    expect(current()).toBe('p3');
    run.given(ada, start('p4'), leave());
    expect(current()).toBe('p4');
    expect(current('S-2')).toBe('p3');
  });

  it('is the step touched last, and the one after the step completed last, whatever the order of the plan', () => {
    const run = scenario('p1', 'p2', 'p3', 'p4', 'p5');
    const current = (mine: string | null = null) => positionOf(run.state, run.plan(), mine).current?.step.key;
    run.given(ada, start('p3')).wait(1000).given(ada, complete());
    expect(current()).toBe('p4');
    expect(positionOf(run.state, run.plan()).ready.map(({ step }) => step.key)).toEqual(['p4', 'p5', 'p1', 'p2']);
    run.wait(1000).given(ada, start('p5'), leave());
    expect(current()).toBe('p5');
    run.wait(1000).given(bob, start('p2'), leave());
    expect(current()).toBe('p2');
  });

  it('is the first ready step in plan order if several were completed at the same moment, by a file', () => {
    const run = scenario('p1', task('p2', { done: true }), 'p3', task('p4', { done: true }), 'p5');
    expect(positionOf(run.state, run.plan()).current?.step.key).toBe('p1');
  });

  it.each([
    ['2', '2-3', '2', '3'],
    ['09.1', '09.1-02', '9.1', '2'],
    ['9.10', '9.10-3', '9.10', '3'],
    ['phase-10', '10-01', '10', '1'],
    ['start', 'start-up', '1', '1'],
  ])('takes the numbers of %s and %s from their keys', (phase, plan, phaseNumber, planNumber) => {
    const run = scenario(
      { key: phase, title: 'P', kind: 'phase' },
      { key: plan, title: 'Q', kind: 'plan', parent: phase },
    );
    const position = positionOf(run.state, run.plan());
    expect([position.phase?.number, position.plan?.number]).toEqual([phaseNumber, planNumber]);
  });

  it('has phase and task by number, and the last completed step', () => {
    const run = twoPhases().given(ada, start('a1'), complete(), start('a2'), complete(), start('b1'));
    const position = positionOf(run.state, run.plan());
    expect(position.phase).toMatchObject({ number: '2', step: { key: 'b' } });
    expect(position.task?.key).toBe('b1');
    expect(position.lastCompleted?.key).toBe('a2');
  });

  it('lists what is ready, in plan order', () => {
    const run = scenario('p2', 'p1', task('p3', { after: ['p1'] }), task('p4', { gate: true }));
    expect(readySteps(run.plan()).map((view) => view.step.key)).toEqual(['p2', 'p1']);
    expect(run.given(ada, planned('p0')).given(ada, start('p1'), complete()).plan().leaves).toHaveLength(5);
    expect(readySteps(run.plan()).map((view) => view.step.key)).toEqual(['p2', 'p3', 'p0']);
  });
});
