import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, scenario } from './scenario.suite.ts';

describe('a conflict', () => {
  it('is accepted once', () => {
    const run = scenario();
    const accept: Command = { type: 'conflict.accept', id: 'K-00ff00' };
    expect(run.when(ada, accept)).toMatchObject({ types: ['conflict.accepted'], changed: [{}] });
    expect(run.when(ada, accept)).toMatchObject({ types: [], changed: [] });
  });
});
