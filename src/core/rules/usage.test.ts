import { describe, expect, it } from 'vitest';
import { ada, sam, scenario } from './scenario.suite.ts';

describe('usage', () => {
  it('adds up per agent', () => {
    const run = scenario('p1').given(ada, { type: 'usage.add', input: 10, output: 2, cached: 5 });
    const outcome = run.when(sam, { type: 'usage.add', input: 1, output: 1, of: 'ada', step: 'p1' });
    expect(outcome.changed).toContainEqual({ path: 'usage.ada.input', before: 10, after: 11 });
    expect(run.state.usage.get('ada')).toEqual({ agent: 'ada', input: 11, output: 3, cached: 5 });
    run.given(ada, { type: 'usage.add', input: 4, output: 0, cached: 3 });
    expect(run.state.usage.get('ada')).toEqual({ agent: 'ada', input: 15, output: 3, cached: 8 });
    expect(run.when(ada, { type: 'usage.add', input: 0, output: 0 }).types).toEqual([]);
    expect(run.refusal(ada, { type: 'usage.add', input: 1, output: 1, step: 'p9' }).code).toBe('not_found');
  });
});
