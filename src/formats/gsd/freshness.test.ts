import { describe, expect, it } from 'vitest';
import type { Files } from '../format.ts';
import { gsd } from './format.ts';

const MAIN = '.planning/STATE.md';
const HANDOFF = '.planning/HANDOFF.json';
const CONTINUE = '.planning/phases/09-bells/.continue-here.md';

const state = (at: string) => `---
gsd_state_version: 1.0
status: executing
last_updated: "${at}"
---

# Project State

## Current Position

Phase: 7 (relays) — EXECUTING
Plan: 2 of 3

## Next Action

Solder the relay

## Blockers/Concerns

None.
`;

const handoff = (at: string) =>
  JSON.stringify({
    timestamp: at,
    phase: '08',
    phase_name: 'wires',
    next_action: 'Pull the wire',
    remaining_tasks: [{ id: 1, name: 'Cut the wire', status: 'not_started' }],
    blockers: [{ description: 'The drum is stuck' }],
  });

const continued = (at: string) => `---
phase: 09-bells
last_updated: ${at}
---

<next_action>
Ring the bell
</next_action>
`;

function read(...[page, note, here]: (string | null)[]) {
  const files = new Map<string, string>();
  if (page) files.set(MAIN, state(page));
  if (note) files.set(HANDOFF, handoff(note));
  if (here) files.set(CONTINUE, continued(here));
  const { model } = gsd.parse({ format: 'gsd', main: MAIN, files: [...files.keys()] }, files as Files);
  return { next: model?.next, step: model?.position?.step, model };
}

const [first, second, third] = ['2026-03-01T08:00:00Z', '2026-03-01T09:00:00Z', '2026-03-02T07:00:00Z'];

describe('freshness', () => {
  it.each([
    [third, second, first, 'Solder the relay', '07-02'],
    [third, first, second, 'Solder the relay', '07-02'],
    [first, third, second, 'Pull the wire', '8'],
    [second, third, first, 'Pull the wire', '8'],
    [first, second, third, 'Ring the bell', '9'],
    [second, first, third, 'Ring the bell', '9'],
  ])('the newest of %s, %s and %s leads', (page, note, here, next, step) => {
    expect(read(page, note, here)).toMatchObject({ next, step });
  });

  it('on the same day without a time of day STATE.md leads', () => {
    expect(read('2026-03-01', second, null)).toMatchObject({ next: 'Solder the relay', step: '07-02' });
    expect(read('2026-03-01', third, null)).toMatchObject({ next: 'Pull the wire', step: '8' });
  });

  it('an older handoff adds no step, and what blocked it blocks no more', () => {
    const { model } = read(third, second, null);
    expect(model?.steps.map(({ title }) => title)).not.toContain('Cut the wire');
    expect(model?.items).toMatchObject([{ text: 'The drum is stuck', status: 'deferred', raisedAt: second }]);
    expect(model?.sessions[0]?.notes).toContain('Open then: Cut the wire');
    const newer = read(first, second, null).model;
    expect(newer?.steps.find(({ title }) => title === 'Cut the wire')).toMatchObject({
      parent: '8',
      status: 'pending',
    });
    expect(newer?.items).toMatchObject([{ status: 'active' }]);
  });

  it('a page without any time is left in the lead of another phase', () => {
    expect(read('soon', third, null)).toMatchObject({ next: 'Solder the relay', step: '07-02' });
  });
});

describe('the end of a milestone', () => {
  const page = (phase: string, milestone: string) => `# Project State

## Current Position

Milestone: ${milestone}
Phase: ${phase}
Status: Ready to plan

## Session Continuity

Last session: 2026-01-27
Resume: Start the next milestone with \`/gsd:new-milestone\`
`;
  const parse = (text: string) =>
    gsd.parse({ format: 'gsd', main: MAIN, files: [MAIN] }, new Map([[MAIN, text]])).model;

  it('leaves no position, and the next action of the page', () => {
    const run = parse(page('15 of 15 (all phases complete)', 'v1.2 Nova — SHIPPED'));
    expect(run?.steps.every(({ status }) => status === 'completed')).toBe(true);
    expect(run).toMatchObject({ position: { step: null }, next: expect.stringContaining('new-milestone') });
    expect(run?.run.status).toBe('completed');
  });

  it('is not reached while a phase is in hand', () => {
    expect(parse(page('3 of 15 (relays)', 'v1.2 Nova'))?.run.status).toBe('active');
  });
});

describe('a decision with a list below it', () => {
  it('has the list as its reasons', () => {
    const text = `# Project State

## Accumulated Context

**Key technical decision:** Lexical chosen over TipTap for:

- An immutable state
- Native JSON

**Approach:** plugins
`;
    const run = gsd.parse({ format: 'gsd', main: MAIN, files: [MAIN] }, new Map([[MAIN, text]])).model;
    expect(run?.decisions).toMatchObject([
      { decision: 'Lexical chosen over TipTap', reason: 'An immutable state; Native JSON' },
    ]);
  });
});

describe('a status that names the next phase', () => {
  it('gives that phase, and the finished one is finished', () => {
    const text = `# Project State

## Current Position

Phase: 26 (db-schema) — COMPLETE
Plan: 1 of 1 (COMPLETE)
Status: Phase 26 complete; ready for Phase 27 (extractor)
`;
    const run = gsd.parse({ format: 'gsd', main: MAIN, files: [MAIN] }, new Map([[MAIN, text]])).model;
    expect(run?.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      '26 completed',
      '26-01 completed',
      '27 pending',
    ]);
    expect(run?.position?.step).toBe('27');
  });
});
