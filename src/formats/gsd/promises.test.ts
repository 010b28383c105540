import { describe, expect, it } from 'vitest';
import { model } from './pages.suite.ts';

/** What users of the tool must see of a page; see docs/formats/gsd.md. */
describe('gsd: a page', () => {
  const front = (more: string): string =>
    `---\ngsd_state_version: 1.0\nmilestone: v1.2\nmilestone_name: Tokens\n${more}---\n\n# Project State\n`;

  it('of a milestone that shipped is complete, with the next action of the page', () => {
    const run = model(
      `${front('status: completed\nlast_updated: "2026-03-04T10:00:00Z"\nprogress:\n  total_phases: 15\n  completed_phases: 15\n  percent: 100\n')}
## Current Position

Phase: 15 of 15 (Ship)
Status: Shipped — milestone v1.2 complete

## Operator Next Steps

Start v1.3 with a new milestone
`,
    );
    expect(run.run).toMatchObject({ status: 'completed', alias: 'v1.2' });
    expect(run.next).toBe('Start v1.3 with a new milestone');
    expect(run.steps.every(({ status }) => status === 'completed')).toBe(true);
  });

  it('names phases in a table, knows not_started, and takes "No hard blockers" for none', () => {
    const run = model(
      `${front('status: executing\nlast_updated: "2026-03-04T10:00:00Z"\n')}
## Current Position

Phase: 2
Status: In progress

## Phase Progress

| Phase | Name | Status |
|-------|------|--------|
| 1 | Schema | Complete |
| 2 | Auth | In progress |
| 3 | Ship it | not_started |

## Blockers/Concerns

No hard blockers.
`,
    );
    expect(run.steps.map(({ key, title, status }) => `${key} ${title}: ${status}`)).toEqual([
      '1 Schema: completed',
      '2 Auth: in_progress',
      '3 Ship it: pending',
    ]);
    expect(run.items).toEqual([]);
    expect(run.position?.step).toBe('2');
  });

  it('keeps reasons and rules as records', () => {
    const run = model(
      `${front('status: executing\nlast_updated: "2026-03-04T10:00:00Z"\n')}
## Decisions

- [Phase 1]: Use Redis — it expires keys

## Constraints

- Never call the vault from tests
`,
    );
    expect(run.decisions[0]).toMatchObject({ decision: 'Use Redis', reason: 'it expires keys' });
    expect(run.notes).toMatchObject([{ kind: 'constraint', text: 'Never call the vault from tests' }]);
  });

  it('with a newer stopped_at continues from there where no phase is left', () => {
    const run = model(
      `${front('status: ready\nstopped_at: Plan v1.3, ask Mara for the scope\nlast_updated: "2026-03-04T10:00:00Z"\n')}
## Current Position

Phase: 2 of 2 (Ship)
Status: Phase complete
Last activity: 2026-03-01 — shipped
`,
    );
    expect(run.next).toBe('Plan v1.3, ask Mara for the scope');
    expect(run.sessions.some(({ workingOn }) => workingOn === 'Plan v1.3, ask Mara for the scope')).toBe(true);
  });
});
