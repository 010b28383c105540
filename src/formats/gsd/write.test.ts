import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files } from '../format.ts';
import { gsd } from './format.ts';
import { files, found, main, model, now, page, parse } from './pages.suite.ts';
import { folder } from './samples.suite.ts';

describe('gsd: writing in place', () => {
  const render = (text: string, change: (run: RunModel) => void): string => {
    const run = structuredClone(model(text));
    change(run);
    return gsd.render(run, found, files(text), now).get(main) ?? text;
  };
  const diff = (before: string, after: string): string[] => {
    const there = new Set(before.split('\n'));
    return after.split('\n').filter((line) => !there.has(line));
  };

  it('adds a decision to a list, to a table, and in place of "none"', () => {
    const add = (run: RunModel) =>
      void run.decisions.push({ decision: 'Go', reason: 'Wind', step: '2', status: 'active' });
    expect(diff(page('G1'), render(page('G1'), add))).toEqual(['- [Phase 2]: Go — Wind']);
    expect(diff(page('G0'), render(page('G0'), add))).toEqual(['| 2 | Go | Wind |']);
    expect(diff(page('G2'), render(page('G2'), add))).toEqual([`last_updated: "${now}"`, '- [Phase 2]: Go — Wind']);
    expect(render(page('G2'), add)).not.toContain('None yet.');
  });

  it('tells entries apart by their words, also where they begin like ids of ours', () => {
    const text = '# State\n\n## Decisions\n\n- D-2 closed: keep the bell\n- D-1 closed: oil the rope\n- Ring at noon\n';
    const named = (run: RunModel) => {
      for (const [index, one] of run.decisions.entries()) one.id = `D-${index + 1}`;
    };
    expect(render(text, named)).toBe(text);
    const reworded = (run: RunModel) => {
      named(run);
      Object.assign(run.decisions[2] ?? {}, { decision: 'Ring at noon and at six' });
    };
    expect(render(text, reworded)).toBe(text.replace('at noon', 'at noon and at six'));
  });

  it('updates milestone, slice and task of the newer tool, and the signs of its registry', () => {
    const done = (run: RunModel) => {
      for (const step of run.steps) step.status = 'completed';
      run.steps.push(
        { key: 'M003', title: 'Third harvest', kind: 'phase', status: 'in_progress' },
        { key: 'M003.S01', title: 'Ladders', kind: 'plan', parent: 'M003', status: 'in_progress' },
      );
    };
    const after = render(page('gsd-2'), done);
    expect(diff(page('gsd-2'), after).filter((line) => !line.startsWith('|'))).toEqual(
      expect.arrayContaining([
        '**Active Milestone:** M003: Third harvest',
        '**Active Slice:** S01: Ladders',
        '**Active Task:** None',
        '- ✅ **M002:** Second harvest',
      ]),
    );
    const next = (run: RunModel) => {
      for (const step of run.steps) if (step.kind === 'task') step.status = 'completed';
      run.steps.push({ key: 'M002.S03.T02', title: 'Dye', kind: 'task', parent: 'M002.S03', status: 'pending' });
    };
    expect(diff(page('gsd-2'), render(page('gsd-2'), next))).toEqual(
      expect.arrayContaining(['**Active Task:** T02: Dye', '**Phase:** planning']),
    );
    const dashed = page('gsd-2').replace('T01: Weave', 'T01 — Weave');
    expect(render(dashed, next)).toContain('**Active Task:** T02 — Dye');
  });

  it('stays at a phase marked as running when all its plans are done', () => {
    const state = '# Project State\n\n## Current Position\n\nPhase: 2 (Rigging) — EXECUTING\nPlan: Not started\n';
    const roadmap =
      '# Roadmap\n\n## Phase 1: Hull\n\nPlans:\n- [ ] 01-01: Planks\n\n## Phase 2: Rigging\n\nPlans:\n- [x] 02-01: Ropes\n';
    const there = new Map([
      [main, state],
      ['.planning/ROADMAP.md', roadmap],
    ]);
    const place = { ...found, files: [...there.keys()] };
    const run = gsd.parse(place, there).model as RunModel;
    expect(run.steps.find(({ key }) => key === '2')?.status).toBe('in_progress');
    const derived = run.steps.map((step) => (step.key === '2' ? { ...step, status: 'completed' as const } : step));
    expect([...gsd.render({ ...run, steps: derived }, place, there, now).keys()]).toEqual([]);
  });

  it('strikes a resolved blocker and ticks a box', () => {
    const settle = (run: RunModel) => {
      for (const item of run.items) Object.assign(item, { status: 'resolved', resolution: undefined });
    };
    expect(diff(page('G1'), render(page('G1'), settle))).toEqual([
      '- [x] Write the runbook',
      '- ~~No test mailbox~~ RESOLVED',
      '- ~~[Phase 4]: Nonexistent index makes none of the retries work~~ RESOLVED',
    ]);
    expect(diff(page('G4'), render(page('G4'), settle))).toContain('- [x] Supplier is closed until 2026-07-01');
  });

  it('moves position, counters and bar when a plan is done, and nothing else', () => {
    const text = page('G2');
    const after = render(text, (run) => {
      for (const step of run.steps) if (step.key === '02-02') step.status = 'completed';
    });
    expect(diff(text, after)).toEqual([
      `last_updated: "${now}"`,
      '  completed_plans: 4',
      '  percent: 67',
      'Plan: 3 of 3',
      'Status: Ready to execute',
      'Progress: [███████░░░] 67%',
    ]);
  });

  it('ticks the roadmap', () => {
    const { model: run } = gsd.parse(folder.found, folder.files);
    const changed = structuredClone(run as RunModel);
    for (const step of changed.steps) if (step.key.startsWith('02-02')) step.status = 'completed';
    changed.steps.push(
      { key: '02-04', title: 'Ring again', kind: 'plan', parent: '2', status: 'pending' },
      { key: '4', title: 'Paint', kind: 'phase', status: 'pending' },
    );
    const roadmap = gsd.render(changed, folder.found, folder.files, now).get('app/.planning/ROADMAP.md') ?? '';
    expect(diff(folder.files.get('app/.planning/ROADMAP.md') ?? '', roadmap)).toEqual([
      '- [ ] **Phase 4: Paint**',
      '- [x] 02-02-PLAN.md — Mute the bells',
      '- [ ] 02-04: Ring again',
    ]);
  });

  it('leaves a percentage that never followed from the counters', () => {
    const text = page('G2').replace('percent: 50', 'percent: 15').replace('] 50%', '] 15% (by feel)');
    const after = render(text, (run) => {
      for (const step of run.steps) if (step.key === '02-02') step.status = 'completed';
    });
    expect(after).toContain('percent: 15');
    expect(after).toContain('15% (by feel)');
  });

  it('counts a completed step once, and ends where the work ended', () => {
    const front = 'progress:\n  total_phases: 2\n  completed_phases: 1\n  total_plans: 5\n  completed_plans: 3\n';
    const body =
      '# State\n\n## Current Position\n\nPhase: 2 of 2 (Sails) — EXECUTING\nPlan: 1 of 2\nStatus: Executing\n';
    const done = (run: RunModel) => {
      for (const step of run.steps) step.status = 'completed';
    };
    const text = `---\ngsd_state_version: 1.0\n${front}---\n\n${body}`;
    const after = render(text, done);
    expect(after).toContain('Phase: 2 of 2 (Sails) — COMPLETE\nPlan: 2 of 2\nStatus: Plan complete\n');
    expect(after).toContain('completed_phases: 2\n  total_plans: 5\n  completed_plans: 5\n');
    expect(render(after, done)).toBe(after);
    // This page cannot express that a plan of another phase is done.
    const more = (run: RunModel) =>
      void run.steps.push({ key: '01-07', title: 'Hem', kind: 'plan', parent: '1', status: 'completed' });
    const once = render(text, more);
    expect(once).toContain('completed_plans: 3\n');
    expect(render(once, more)).toBe(once);
  });

  it('leaves text after a status in a table', () => {
    const table = (status: string) =>
      `# State\n\n## Phases\n\n| Phase | Name | Status |\n|---|---|---|\n| 1 | Sails | ${status} |\n| 2 | Ropes | Not started |\n`;
    const closed = (status: string) =>
      render(table(status), (run) => {
        for (const step of run.steps) if (step.key === '1') step.status = 'completed';
      });
    const remark = ' (2/5 plans) — the second one waits for a \\| needle';
    expect(closed(`🔄 In progress${remark}`)).toContain(`| Sails | Complete${remark} |\n`);
    expect(closed('In progress (2026-02-03)')).toContain('| Sails | Complete |\n');
    expect(model(closed(`In progress${remark}`)).steps[0]?.status).toBe('completed');
  });

  it('writes the end of a session and the next action in place', () => {
    const after = render(page('G4'), (run) => {
      run.sessions.push({ agent: 'coder', status: 'completed', endedAt: now, workingOn: 'The second wick' });
      run.next = 'Light it';
    });
    expect(diff(page('G4'), after)).toEqual([
      'stopped_at: The second wick',
      `last_updated: "${now}"`,
      '## Next Action',
      'Light it',
      `**Last Date:** ${now}`,
      '**Stopped At:** The second wick',
    ]);
  });

  it('writes nothing into a page with conflict markers', () => {
    const text = page('G1').replace('## Session', '<<<<<<< HEAD\n=======\n>>>>>>> x\n## Session');
    expect(parse(text).writable).toBe(false);
    expect(gsd.render(model(page('G1')), found, files(text), now).size).toBe(0);
  });
});

describe('gsd: finding and repairing', () => {
  const tree = (all: Files) => ({ paths: [...all.keys()].sort(), read: (path: string) => all.get(path) ?? null });

  it('finds nested folders, workstreams and loose pages, and ignores others', () => {
    const all = new Map([
      ['.planning/STATE.md', page('G1')],
      ['.planning/workstreams/api/STATE.md', page('G2')],
      ['packages/web/.planning/STATE.md', page('G3')],
      ['packages/web/.planning/phases/01-a/01-01-PLAN.md', ''],
      ['.gsd/STATE.md', page('gsd-2')],
      ['STATE.md', page('G1')],
      ['docs/STATE.md', '# The state of things\n\nProse.\n'],
      ['tool/STATE.md', 'initiative: init-1\ntitle: T\n'],
      ['lost/.planning/HANDOFF.json', '{}'],
    ]);
    expect(gsd.detect(tree(all)).map((one) => one.main)).toEqual([
      '.gsd/STATE.md',
      '.planning/STATE.md',
      '.planning/workstreams/api/STATE.md',
      'STATE.md',
      'lost/.planning/STATE.md',
      'packages/web/.planning/STATE.md',
    ]);
  });

  it('repairs a run from the files around a missing page', () => {
    const all = new Map(folder.files).set(folder.found.main, '\0\0\0');
    const repaired = gsd.repair(folder.found, tree(all));
    expect(repaired?.confidence.find(({ step }) => step === '02-01')).toEqual({
      step: '02-01',
      confidence: 'high',
      from: 'app/.planning/phases/02-quiet-hours/02-01-SUMMARY.md',
    });
    expect(repaired?.confidence.find(({ step }) => step === '1')?.confidence).toBe('medium');
    expect(repaired?.model.decisions.length).toBe(2);
    expect(gsd.repair(found, tree(new Map([[main, '']])))).toBeNull();
  });
});
