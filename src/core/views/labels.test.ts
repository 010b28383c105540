import { describe, expect, it } from 'vitest';
import { ada, scenario } from '../rules/scenario.suite.ts';
import { runLabel, sessionLabel, stepLabel } from './labels.ts';
import type { Liveness } from './liveness.ts';
import { planView } from './plan.ts';

const alive: Liveness = { now: '2000-01-01T00:00:00.000Z', beats: new Map(), owners: { get: () => 'alive' } };
const gone: Liveness = { ...alive, owners: { get: () => 'dead' } };

describe('labels', () => {
  it('of runs say finished for what is completed', () => {
    expect(runLabel('completed')).toBe('finished');
    expect(runLabel('not responding')).toBe('not responding');
  });

  it('of sessions never say that one is dead', () => {
    expect(sessionLabel('gone')).toBe('ended');
    expect(sessionLabel('crashed')).toBe('cut off');
    expect(sessionLabel('context-exhausted')).toBe('ended');
    expect(sessionLabel('completed', true)).toBe('handed over');
    expect(sessionLabel('idle')).toBe('idle');
  });

  it('of steps follow the plan, and the session that holds one', () => {
    const run = scenario('p1', 'p2').given(ada, { type: 'step.start', step: 'p1' });
    const label = (key: string, liveness: Liveness) => {
      const view = planView(run.state).byKey.get(key);
      return view && stepLabel(view, run.state, liveness);
    };
    expect(label('p1', alive)).toBe('in progress');
    expect(label('p1', gone)).toBe('interrupted');
    expect(label('p2', alive)).toBe('ready');
    run.given(ada, { type: 'plan.change', step: 'p2', patch: { after: ['p1'] } });
    expect(label('p2', alive)).toBe('pending');
    run.given(ada, { type: 'step.complete', step: 'p1' });
    expect(label('p1', gone)).toBe('done');
  });
});
