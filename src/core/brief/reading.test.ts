import { describe, expect, it } from 'vitest';
import { adviseReading, planFileNames } from './reading.ts';

const file = (path: string, tokens: number | null, why: 'context' | 'plan' | 'artifact' = 'artifact') => ({
  path,
  tokens,
  lines: 1,
  why,
});
const advice = (files: Parameters<typeof adviseReading>[0], budget = 2000) =>
  adviseReading(files, budget).map((one) => one.advice);

describe('reading advice', () => {
  it('reads while all fits, scans what would fit alone, skips the rest', () => {
    expect(advice([file('plan', 1100), file('a', 900), file('b', 1900), file('c', 6400), file('d', null)])).toEqual([
      'read',
      'read',
      'scan',
      'skip',
      'skip',
    ]);
  });

  it('honours the limit of context files', () => {
    const context = ['a', 'b', 'c', 'd'].map((path) => file(path, 10, 'context'));
    expect(advice([...context, file('e', 10)])).toEqual(['read', 'read', 'read', 'skip', 'read']);
  });
});

describe('plan files', () => {
  it('have padded and plain numbers, with the summaries before them, the newest first', () => {
    const names = planFileNames({ phase: { number: '2' }, plan: { number: '3' } });
    expect(names.plans).toEqual(['02-03-PLAN.md', '2-3-PLAN.md']);
    expect(names.summaries).toEqual([
      ['02-02-SUMMARY.md', '2-2-SUMMARY.md'],
      ['02-01-SUMMARY.md', '2-1-SUMMARY.md'],
    ]);
  });

  it('are none without a phase', () => {
    expect(planFileNames({ phase: null, plan: null })).toEqual({ plans: [], summaries: [] });
  });
});
