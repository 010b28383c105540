import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, complete, sam, scenario, start } from './scenario.suite.ts';

describe('erasing', () => {
  it('is for a person only', () => {
    const run = scenario('p1').given(ada, start('p1'), complete());
    const erase: Command = { type: 'text.erase', versions: [2], reason: 'A key.' };
    const fault = run.refusal(ada, erase);
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints[0]).toContain('Ask the person you work for');
    expect(run.when(sam, erase).body('text.erased')).toEqual({ versions: [2], reason: 'A key.' });
    expect(run.when(sam, { ...erase, versions: [] }).types).toEqual([]);
  });
});
