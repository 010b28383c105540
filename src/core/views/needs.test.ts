import { describe, expect, it } from 'vitest';
import { ada, scenario } from '../rules/scenario.suite.ts';
import type { Liveness } from './liveness.ts';
import { needsOf } from './needs.ts';

const alive: Liveness = { now: '2000-01-01T00:00:00.000Z', beats: new Map(), owners: { get: () => 'alive' } };
const gone: Liveness = { ...alive, owners: { get: () => 'dead' } };

const conflict = {
  id: 'K-123456',
  kind: 'changed_outside' as const,
  path: 'a.ts',
  expected: 'as recorded',
  found: 'changed',
  since: '2000-01-01T00:00:00.000Z',
  step: null,
  accepted: false,
};

describe('what needs a person', () => {
  it('counts effects, questions and conflicts, what cannot be undone first', () => {
    const run = scenario('p1').given(
      ada,
      { type: 'step.start', step: 'p1' },
      { type: 'effect.begin', name: 'curl', class: 'unknown' },
      { type: 'effect.begin', name: 'refund', class: 'irreversible' },
      { type: 'effect.begin', name: 'ls', class: 'read' },
      { type: 'item.raise', kind: 'question', text: 'Which?' },
    );
    const kinds = needsOf(run.state, gone, [conflict]).map(({ kind, text }) => `${kind} ${text}`);
    expect(kinds).toEqual(['effect refund', 'effect curl', 'question Which?', 'conflict a.ts']);
  });

  it('does not count what is simply running', () => {
    const run = scenario('p1').given(
      ada,
      { type: 'step.start', step: 'p1' },
      { type: 'effect.begin', name: 'refund', class: 'irreversible' },
    );
    expect(needsOf(run.state, alive)).toEqual([]);
    expect(needsOf(run.state, gone)).toHaveLength(1);
  });

  it('names the step of a failure', () => {
    const run = scenario('p1').given(
      ada,
      { type: 'step.start', step: 'p1' },
      { type: 'step.fail', step: 'p1', errorType: 'runtime', message: 'no' },
    );
    expect(needsOf(run.state, alive)).toMatchObject([{ kind: 'failure', step: 'p1', by: 'ada' }]);
  });
});
