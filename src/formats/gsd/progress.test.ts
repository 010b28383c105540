import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found } from '../format.ts';
import { gsd } from './format.ts';
import { moveBar, percentOf, progressBar } from './progress.ts';

const main = '.planning/STATE.md';
const found: Found = { format: 'gsd', main, files: [main, '.planning/ROADMAP.md'] };
const now = '2026-07-01T12:00:00.000Z';
const roadmap = `# Roadmap: Tides

## Phases

- [x] **Phase 1: Read** - One
- [ ] **Phase 2: Write** - Two

## Phase Details

### Phase 1: Read
Plans:
- [x] 01-01: Parse
- [x] 01-02: Check

### Phase 2: Write
Plans:
- [x] 02-01: Emit
- [ ] 02-02: Splice
`;

type Progress = readonly [phases: string, plans: string, percent: number];

function files([phases, plans, percent]: Progress): Files {
  const [donePhases, allPhases] = phases.split('/');
  const [donePlans, allPlans] = plans.split('/');
  const state = `---
gsd_state_version: 1.0
status: executing
progress:
  total_phases: ${allPhases}
  completed_phases: ${donePhases}
  total_plans: ${allPlans}
  completed_plans: ${donePlans}
  percent: ${percent}
---

# Project State

## Current Position

Phase: 2 of 2 (Write)
Plan: 2 of 2
Progress: [██████████] ${percent}%
`;
  return new Map([
    [main, state],
    ['.planning/ROADMAP.md', roadmap],
  ]);
}

/** The counters after the last plan was completed or, with `pending`, the one before it reopened. */
function written(before: Progress, status: 'completed' | 'pending'): [string, string, number, string] {
  const model = structuredClone(gsd.parse(found, files(before)).model as RunModel);
  for (const step of model.steps)
    if (step.key === (status === 'completed' ? '02-02' : '02-01') || (status === 'completed' && step.key === '2'))
      step.status = status;
  const text = new Map([...files(before), ...gsd.render(model, found, files(before), now)]).get(main) ?? '';
  const at = (key: string) => Number(new RegExp(`  ${key}: (\\d+)`).exec(text)?.[1]);
  return [
    `${at('completed_phases')}/${at('total_phases')}`,
    `${at('completed_plans')}/${at('total_plans')}`,
    at('percent'),
    /Progress: (.*)/.exec(text)?.[1] ?? '',
  ];
}

describe('gsd: completed above total', () => {
  it('is reported with its line, and the file stays writable', () => {
    const { problems, writable } = gsd.parse(found, files(['3/2', '7/4', 175]));
    expect(problems.map(({ code, line }) => `${code}:${line}`)).toEqual([
      'completed_above_total:8',
      'completed_above_total:6',
      'percent_above_100:9',
      'percent_above_100:18',
      'percent_disagrees:9',
    ]);
    expect(problems[0]?.message).toContain('7 of 4 plans');
    expect(writable).toBe(true);
  });

  it('is not reported where all are completed', () => {
    expect(gsd.parse(found, files(['2/2', '4/4', 100])).problems).toEqual([]);
  });

  it.each([
    ['grows no further', ['3/2', '7/4', 100], 'completed', ['3/2', '7/4', 100]],
    ['is never reached by counting on', ['2/2', '4/4', 100], 'completed', ['2/2', '4/4', 100]],
    ['shrinks with a plan that is reopened', ['3/2', '7/4', 100], 'pending', ['3/2', '6/4', 100]],
    ['brings a percentage of it back to 100', ['3/2', '7/4', 175], 'completed', ['3/2', '7/4', 100]],
    ['also one of the phases', ['3/2', '3/4', 150], 'completed', ['3/2', '4/4', 100]],
  ] as const)('%s', (_, before, status, after) => {
    const [phases, plans, percent, bar] = written(before, status);
    expect([phases, plans, percent]).toEqual(after);
    expect(bar).toBe('[██████████] 100%');
  });

  it('gives at most 100 %', () => {
    const counts = { total_phases: 2, completed_phases: 3, total_plans: 4, completed_plans: 7 };
    expect(percentOf(counts)).toBe(100);
    expect(percentOf({ ...counts, total_plans: 0, completed_plans: 0 })).toBe(100);
    expect(percentOf({ ...counts, completed_plans: 3 })).toBe(75);
    expect(progressBar(percentOf(counts))).toBe('[██████████] 100%');
    expect(moveBar('[█████░░░░░] 175%', percentOf(counts))).toBe('[██████████] 100%');
  });
});
