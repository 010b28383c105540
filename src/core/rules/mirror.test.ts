import { describe, expect, it } from 'vitest';
import { ada, scenario } from './scenario.suite.ts';

describe('a mirror', () => {
  it('is added once and removed once', () => {
    const run = scenario();
    const mirror = { format: 'gsd', path: '.planning/STATE.md' };
    expect(run.when(ada, { type: 'mirror.add', ...mirror })).toMatchObject({ types: ['mirror.added'], changed: [{}] });
    expect(run.when(ada, { type: 'mirror.add', ...mirror })).toMatchObject({ types: [], changed: [] });
    expect(run.when(ada, { type: 'mirror.remove', ...mirror }).changed).toHaveLength(1);
    expect(run.refusal(ada, { type: 'mirror.remove', ...mirror }).code).toBe('not_found');
  });
});
