import { describe, expect, it } from 'vitest';
import { ada, block, bob, leave, phase, scenario, settle, start, task } from './scenario.suite.ts';

describe('an item', () => {
  it.each([
    ['blocker', 'B-1', { status: 'active' }],
    ['finding', 'F-1', { status: 'open', severity: 'should_fix' }],
    ['question', 'Q-1', { status: 'open' }],
    ['commitment', 'C-1', { status: 'open' }],
    ['error', 'E-1', { status: 'open', type: 'runtime' }],
  ] as const)('is raised: a %s as %s', (kind, id, facts) => {
    const run = scenario().given(ada, { type: 'item.raise', kind, text: 'Something.' });
    expect(run.state.items.get(id)).toMatchObject({ kind, by: 'ada', ...facts });
  });

  it('refuses unknown steps', () => {
    expect(scenario().refusal(ada, block([], { step: 'p1' })).code).toBe('not_found');
    expect(scenario().refusal(ada, block([], { followUp: ['p1'] })).code).toBe('not_found');
    expect(
      scenario()
        .given(ada, block([]))
        .refusal(ada, { type: 'item.settle', id: 'B-1', as: 'bypassed', followUp: ['p1'] }).code,
    ).toBe('not_found');
  });

  it('is found by its alias, settled or not, and not found with near ids', () => {
    const run = scenario().given(ada, { type: 'item.raise', kind: 'question', text: 'Why?', alias: 'OQ-031' });
    expect(run.when(ada, settle('OQ-031', 'deferred')).types).toEqual(['item.settled']);
    expect(run.when(ada, settle('OQ-031', 'active')).types).toEqual(['item.reopened']);
    expect(run.refusal(ada, settle('Q-2', 'resolved'))).toMatchObject({ code: 'not_found', data: { near: ['Q-1'] } });
  });

  it('records which steps its settling freed, and notifies the agents that held them last', () => {
    const run = scenario(
      phase('a'),
      task('a1', { parent: 'a' }),
      task('a2', { parent: 'a' }),
      task('a3', { after: ['a2'] }),
    );
    run.given(bob, start('a1'), leave()).given(ada, block(['a']), block(['a2']));
    const outcome = run.when(ada, settle('B-1', 'resolved', 'Got it.'));
    expect(outcome.types).toEqual(['item.settled', 'message.sent']);
    expect(outcome.body('item.settled').freed).toEqual(['a1']);
    expect(outcome.body('message.sent')).toMatchObject({
      id: 'M-1',
      from: 'ada',
      to: 'bob',
      type: 'notify',
      about: 'B-1',
    });
    const second = run.when(ada, settle('B-2', 'resolved'));
    expect(second.types).toEqual(['item.settled']);
    expect(second.body('item.settled').freed).toEqual(['a2']);
  });

  it('notifies no one if the actor itself held the step last', () => {
    const run = scenario('p1').given(ada, start('p1'), leave(), block(['p1']));
    expect(run.when(ada, settle('B-1', 'resolved')).types).toEqual(['item.settled']);
  });

  it('bypassed keeps its workaround and follow-up steps, and frees again only when active again', () => {
    const run = scenario('p1', 'p2').given(ada, block(['p1']));
    run.given(ada, { type: 'item.settle', id: 'B-1', as: 'bypassed', note: 'A stub.', followUp: ['p2'] });
    expect(run.state.items.get('B-1')).toMatchObject({ status: 'bypassed', workaround: 'A stub.', followUp: ['p2'] });
    expect(run.when(ada, settle('B-1', 'resolved')).body('item.settled').freed).toBeUndefined();
  });

  it('keeps all its fields when it is reopened', () => {
    const run = scenario().given(ada, { type: 'item.raise', kind: 'finding', text: 'Slow.', severity: 'must_fix' });
    const raised = run.state.items.get('F-1');
    run.wait(1000).given(bob, settle('F-1', 'resolved', 'Faster.'));
    expect(run.state.items.size).toBe(0);
    run.given(bob, settle('F-1', 'active'));
    expect(run.state.items.get('F-1')).toMatchObject({
      text: 'Slow.',
      severity: 'must_fix',
      by: 'ada',
      status: 'open',
      raisedAt: raised?.raisedAt,
    });
  });

  it('names the possible outcomes when it is refused', () => {
    const run = scenario().given(ada, block([]), settle('B-1', 'resolved'), {
      type: 'item.raise',
      kind: 'question',
      text: '?',
    });
    expect(run.refusal(ada, settle('B-1', 'active')).hints[0]).toContain('raise a new one');
    const fault = run.refusal(ada, settle('Q-1', 'bypassed'));
    expect(fault).toMatchObject({ code: 'illegal', data: { legal: ['resolved', 'deferred', 'withdrawn'] } });
  });
});
