import { describe, expect, it } from 'vitest';
import { Fault } from '../fault.ts';
import type { Command, PlannedStep } from '../journal/command.ts';
import { ada, complete, phase, planned, reopen, sam, scenario, start, task } from './scenario.suite.ts';

const change = (step: string, patch: Partial<PlannedStep>): Command => ({ type: 'plan.change', step, patch });
const remove = (step: string): Command => ({ type: 'plan.remove', step });

describe('plan.add', () => {
  it('adds steps with all that is planned for them', () => {
    const run = scenario();
    const step = task('3_5', {
      wave: 2,
      agents: ['ada'],
      parallel: true,
      gate: true,
      context: ['a.ts'],
      checkpoints: ['red', 'green'],
      alias: 'TASK-7',
    });
    expect(run.when(ada, planned(step)).types).toEqual(['step.added']);
    const { key, ...rest } = step;
    expect(run.step(key)).toMatchObject({ ...rest, gate: { state: 'closed' }, status: 'pending', holder: null });
  });

  it('changes nothing when the same is added again', () => {
    expect(scenario('p1', 'p2').when(ada, planned('p1', 'p2')).types).toEqual([]);
    expect(scenario('p1', 'p2').when(ada, planned('p1', 'p3')).types).toEqual(['step.added']);
  });

  it('refuses the same step with other predecessors, instead of dropping them', () => {
    const run = scenario('p1', 'p2');
    expect(run.refusal(sam, planned(task('p2', { after: ['p1'] }))).code).toBe('illegal');
  });

  it('refuses another step under a key that is taken', () => {
    const fault = scenario('p1').refusal(ada, planned(task('p1', { title: 'Other' })));
    expect(fault.code).toBe('illegal');
    expect(fault.hints.join()).toContain('holdfast plan set p1');
    expect(scenario().refusal(ada, planned('p1', 'p1')).code).toBe('invalid');
  });

  it('adds steps as finished where the plan says so, but never a parent', () => {
    const run = scenario(
      phase('a', { done: true }),
      task('a1', { parent: 'a', done: true }),
      task('a2', { parent: 'a' }),
    );
    expect(run.events.map((event) => event.type)).toEqual([
      'run.opened',
      'step.added',
      'step.added',
      'step.added',
      'step.completed',
    ]);
    expect(run.view('a').status).toBe('in_progress');
  });

  it.each([
    ['parent', { parent: 'phase-tow' }],
    ['after', { after: ['phase-tow'] }],
  ] as const)('offers near names for an unknown %s', (_, more) => {
    const fault = scenario('phase-two', 'phase-three').refusal(ada, planned(task('x', { ...more } as object)));
    expect(fault.code).toBe('not_found');
    expect(fault.data).toMatchObject({ noun: 'step', name: 'phase-tow', near: ['phase-two'] });
    expect(fault.hints[0]).toBe('Did you mean `phase-two`?');
  });

  it.each([
    ['a step after itself', [task('a', { after: ['a'] })]],
    ['a ring', [task('a', { after: ['c'] }), task('b', { after: ['a'] }), task('c', { after: ['b'] })]],
    ['a child that comes after its own parent', [phase('a'), task('b', { parent: 'a', after: ['a'] })]],
    ['a parent that comes after its own child', [phase('a', { after: ['b'] }), task('b', { parent: 'a' })]],
    ['a parent of itself', [task('a', { parent: 'a' })]],
    ['parents in a ring', [task('a', { parent: 'b' }), task('b', { parent: 'a' })]],
    [
      'children that wait for each other’s phases',
      [
        phase('a'),
        phase('b', { after: ['a'] }),
        task('a1', { parent: 'a', after: ['b1'] }),
        task('b1', { parent: 'b' }),
      ],
    ],
  ])('refuses %s', (_, steps) => {
    const fault = scenario().refusal(ada, planned(...steps));
    expect(fault.code).toBe('invalid');
    expect(fault.message).toContain('Circular dependency');
    expect(fault.data).toHaveProperty('cycle');
  });

  it('allows siblings to follow each other and phases to follow phases', () => {
    const steps = [
      phase('a'),
      task('a1', { parent: 'a' }),
      task('a2', { parent: 'a', after: ['a1'] }),
      phase('b', { after: ['a'] }),
      task('b1', { parent: 'b', after: ['a2'] }),
    ];
    expect(scenario(...steps).plan().all).toHaveLength(5);
  });

  it('refuses a child for a step that is in progress', () => {
    const run = scenario('p1').given(ada, start('p1'));
    expect(run.refusal(ada, planned(task('p1a', { parent: 'p1' }))).code).toBe('illegal');
    expect(run.given(ada, complete()).refusal(ada, planned(task('p1a', { parent: 'p1' }))).code).toBe('illegal');
  });

  it.each([
    ['forwards', (index: number) => index],
    ['backwards', (index: number) => 9_999 - index],
  ])('accepts a chain of 10,000 steps planned %s, and finds the stale ones', (_, order) => {
    const steps = Array.from({ length: 10_000 }, (__, index) => {
      const number = order(index);
      return task(`s${number}`, { ...(number > 0 ? { after: [`s${number - 1}`] } : {}), done: true });
    });
    const run = scenario(...steps).given(ada, reopen('s0'), start('s0'));
    expect(run.plan().all.filter((view) => view.stale)).toHaveLength(9_999);
    expect(run.when(ada, complete('s0')).types).toContain('step.completed');
  });

  it('accepts 10,000 children of one parent', () => {
    const children = Array.from({ length: 10_000 }, (_, index) => task(`t${index}`, { parent: 'a' }));
    expect(
      scenario(phase('a'), ...children)
        .given(ada, start('t9999'))
        .view('a').status,
    ).toBe('in_progress');
  });

  it('refuses nesting without end as invalid, not as a crash', () => {
    const nested = Array.from({ length: 20_000 }, (_, index) =>
      task(`n${index}`, index > 0 ? { parent: `n${index - 1}` } : {}),
    );
    try {
      scenario(...nested).plan();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Fault);
      expect((thrown as Fault).code).toBe('invalid');
    }
  });
});

describe('plan.change', () => {
  it('records only the fields that change', () => {
    const run = scenario('p1', 'p2');
    expect(run.when(ada, change('p2', { title: 'Do p2' })).types).toEqual([]);
    const { events } = run.when(ada, change('p2', { title: 'Test p2', after: ['p1'], kind: 'task' }));
    expect(events[0]?.body).toEqual({ step: 'p2', title: 'Test p2', after: ['p1'] });
    expect(run.step('p2')).toMatchObject({ title: 'Test p2', after: ['p1'] });
  });

  it('moves a step to the top with a null parent', () => {
    const run = scenario(phase('a'), task('a1', { parent: 'a' })).given(ada, change('a1', { parent: null }));
    expect(run.step('a1').parent).toBeNull();
    expect(run.plan().roots).toHaveLength(2);
  });

  it('refuses a cycle, also where a field that stays closes it', () => {
    const run = scenario('p1', task('p2', { after: ['p1'] }));
    expect(run.refusal(ada, change('p1', { after: ['p2'] })).code).toBe('invalid');
    expect(run.refusal(ada, change('p1', { parent: 'p2' })).code).toBe('invalid');
    expect(run.refusal(ada, change('p2', { parent: 'p1' })).code).toBe('invalid');
    expect(run.refusal(ada, change('p2', { parent: 'p1', after: undefined })).code).toBe('invalid');
  });

  it('refuses unknown steps with near names', () => {
    const fault = scenario('build', 'deploy').refusal(ada, change('biuld', { title: 'x' }));
    expect(fault.code).toBe('not_found');
    expect(fault.data).toMatchObject({ near: ['build'] });
  });

  it('lets only a person remove a closed gate', () => {
    const run = scenario(task('p1', { gate: true }));
    expect(run.refusal(ada, change('p1', { gate: false })).code).toBe('not_allowed');
    expect(run.when(sam, change('p1', { gate: false })).types).toEqual(['step.changed']);
    expect(run.when(ada, start('p1')).types).toContain('step.started');
  });

  it('lets anyone add a gate', () => {
    const run = scenario('p1').given(ada, change('p1', { gate: true }));
    expect(run.step('p1').gate).toEqual({ state: 'closed' });
    expect(run.refusal(ada, start('p1')).code).toBe('blocked');
  });
});

describe('plan.remove', () => {
  it('removes a pending step', () => {
    const run = scenario('p1', 'p2');
    expect(run.when(ada, remove('p2')).types).toEqual(['step.removed']);
    expect(run.state.steps.has('p2')).toBe(false);
  });

  it('refuses a step that others need, that has children, or that was started', () => {
    const run = scenario(phase('a'), task('a1', { parent: 'a' }), 'p1', task('p2', { after: ['p1'] }), 'p3');
    run.given(ada, start('p3'));
    expect(run.refusal(ada, remove('p1')).message).toContain('needed by `p2`');
    expect(run.refusal(ada, remove('a')).message).toContain('has children: `a1`');
    expect(run.refusal(ada, remove('p3')).message).toContain('in progress');
    for (const key of ['p1', 'a', 'p3']) expect(run.refusal(ada, remove(key)).code).toBe('illegal');
  });
});
