import { describe, expect, it } from 'vitest';
import { archivePlan } from './archive-plan.ts';
import { maestro } from './format.ts';
import { place, seed } from './samples.suite.ts';

const main = '.gemini/state/active-session.md';
const paths = [
  main,
  '.gemini/plans/2026-02-15-rate-limits-design.md',
  '.gemini/plans/2026-02-15-rate-limits-impl-plan.md',
  '.gemini/state/archive/2026-02-15-rate-limits.md',
  '.gemini/state/2026-02-15-rate-limits.design-gate.json',
];

describe('the archive plan', () => {
  const files = new Map([[main, seed]]);
  const { model } = maestro.parse(place(main), files);
  const plan = model && archivePlan(model, place(main), files, { paths }, '2026-03-01T00:00:00Z');

  it('moves documents and state, and numbers a name that is already used', () => {
    expect(plan?.moves).toEqual([
      {
        what: 'design document',
        from: '.gemini/plans/2026-02-15-rate-limits-design.md',
        to: '.gemini/plans/archive/2026-02-15-rate-limits-design.md',
      },
      {
        what: 'implementation plan',
        from: '.gemini/plans/2026-02-15-rate-limits-impl-plan.md',
        to: '.gemini/plans/archive/2026-02-15-rate-limits-impl-plan.md',
      },
      { what: 'session state', from: main, to: '.gemini/state/archive/2026-02-15-rate-limits-2.md' },
    ]);
    expect(plan?.removes).toEqual(['.gemini/state/2026-02-15-rate-limits.design-gate.json']);
    expect(plan?.checks).toContainEqual({ path: main, is: 'gone' });
  });

  it('marks an unfinished session as not completed, and points to its moved documents', () => {
    const text = plan?.writes.get(main) ?? '';
    expect(text).toContain('\nstatus: "failed"\n');
    expect(text).toContain('\nupdated: "2026-03-01T00:00:00Z"\n');
    expect(text).toContain('design_document: ".gemini/plans/archive/2026-02-15-rate-limits-design.md"');
    expect(text).toContain('implementation_plan: ".gemini/plans/archive/2026-02-15-rate-limits-impl-plan.md"');
  });

  it('is null for a session in the archive', () => {
    const archived = place('.gemini/state/archive/2026-02-15-rate-limits.md');
    expect(model && archivePlan(model, archived, files, { paths }, '2026-03-01T00:00:00Z')).toBeNull();
  });
});
