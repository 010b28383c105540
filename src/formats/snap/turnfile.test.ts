import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { fixture, home, now, step, write } from './fixture.suite.ts';
import { snap } from './format.ts';

describe('TURNFILE.yaml', () => {
  it('names its last writer, even without a current task', () => {
    const { text } = write('pilot', (one) => ({
      ...one,
      decisions: [...one.decisions, { decision: 'Two clocks', by: 'Cy', at: '2026-03-04', status: 'active' }],
    }));
    expect(text('TURNFILE.yaml')).toContain('# Modified by: Cy\n');
  });

  it('completes a task and leaves every other line', () => {
    const { model, lost, text } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.map((task) => (task.key === 'tide-reader' ? { ...task, status: 'completed' } : task)),
    }));
    expect(step(model, 'tide-reader')?.status).toBe('completed');
    expect(lost('TURNFILE.yaml')).toEqual([
      '# Last modified revision: 12',
      '    current_task: "tide-reader"  # picked up after the review',
      '  revision: 12',
      '      status: "in_progress"',
    ]);
    expect(text('TURNFILE.yaml')).toContain('completed_rev: 13\n      notes: |\n        Two ports read.');
    expect(text('TURNFILE.yaml')).toContain('# Last modified revision: 13\n');
  });

  it('adds a task, a lock and an agent in the file’s style', () => {
    const { model, lost, text } = write('pilot', (one) => ({
      ...one,
      steps: [
        ...one.steps,
        { key: 'tide-chart', title: 'Draw: "a chart"', kind: 'task', status: 'pending', after: ['tide-model'] },
      ],
      claims: [...one.claims, { agent: 'bo', files: ['src/a.ts', 'src/b.ts'], reason: 'Together' }],
      sessions: [...one.sessions, { alias: 'S-9', agent: 'Cy', status: 'active' }],
    }));
    expect(step(model, 'tide-chart')).toMatchObject({ title: 'Draw: "a chart"', after: ['tide-model'] });
    expect(model.claims.map((claim) => claim.alias)).toEqual(['worklog-edit', 'bo-1']);
    expect(model.sessions.find((session) => session.agent === 'Cy')).toMatchObject({
      alias: 'S-9',
      status: 'active',
    });
    expect(lost('TURNFILE.yaml')).toEqual(['# Last modified revision: 12', '# Modified by: ada', '  revision: 12']);
    expect(text('TURNFILE.yaml')).toContain('\n\n    tide-chart:\n      description: "Draw: \\"a chart\\""\n');
  });

  it('fills sections that are empty braces, and empties them again', () => {
    const { text, model } = write('second', (one) => ({
      ...one,
      claims: [{ alias: 'x', agent: 'ada', files: ['a.md'], reason: 'r' }],
    }));
    expect(text('TURNFILE.yaml')).toContain('locks:\n  x:\n    files: ["a.md"]\n    holder: "ada"\n');
    expect(model.claims).toHaveLength(1);
    const none = write('pilot', (one) => ({ ...one, claims: [] }));
    expect(none.text('TURNFILE.yaml')).toContain('\nlocks: {}\n');
    expect(none.model.claims).toEqual([]);
  });

  it('removes a task that the plan no longer has', () => {
    const { model, text } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.filter((task) => task.key !== 'tide-writer'),
      items: one.items.filter((item) => item.kind !== 'blocker'),
    }));
    expect(model.steps.map((task) => task.key)).toEqual(['tide-model', 'tide-reader']);
    expect(text('TURNFILE.yaml')).toContain('The third has another clock.\n\nlocks:');
  });

  it('keeps the notes of a task when a failure is added', () => {
    const { model } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.map((task) =>
        task.key === 'tide-reader' ? { ...task, status: 'failed', reason: 'No clock' } : task,
      ),
    }));
    expect(step(model, 'tide-reader')).toMatchObject({
      status: 'failed',
      reason: 'No clock',
      summary: 'Two ports read.\nThe third has another clock.',
    });
  });

  it('unblocks a task when its blocker is settled', () => {
    const { model, text } = write('pilot', (one) => ({
      ...one,
      items: one.items.map((item) => (item.kind === 'blocker' ? { ...item, status: 'resolved' } : item)),
    }));
    expect(model.items.some((item) => item.kind === 'blocker' && item.status === 'active')).toBe(false);
    expect(text('TURNFILE.yaml')).not.toContain('"blocked"');
  });

  it('keeps signals, turn queue, availability and priorities in a new file', () => {
    const { model } = fixture('pilot');
    const files = snap.render(model, snap.home(model), new Map(), now);
    const text = files.get(`${home}TURNFILE.yaml`) ?? '';
    for (const words of [
      'id: "SIG-002"',
      'action: "review"',
      'status: "away"',
      'priority: "P0"',
      'completed_rev: 6',
      'active_step: "P2-B"',
    ])
      expect(text).toContain(words);
    expect(text).toContain('  revision: 13\n');
    const back = snap.parse({ ...snap.home(model), files: [...files.keys()] }, files).model as RunModel;
    expect(back.steps).toEqual(model.steps);
    expect(back.messages.length).toBe(model.messages.length);
  });

  it('reports a duplicate key with its line and is not written', () => {
    const { found, files } = fixture('duplicate');
    const { problems, writable } = snap.parse(found, files);
    expect(problems.find((problem) => problem.code === 'duplicate_key')).toMatchObject({ level: 'error', line: 58 });
    expect(writable).toBe(false);
  });

  it('reports what the format’s own lint reports', () => {
    const { found, files } = fixture('pilot');
    const codes = (change: (text: string) => string): string[] => {
      const text = change(files.get(found.main) ?? '');
      return snap.parse(found, new Map(files).set(found.main, text)).problems.map((problem) => problem.code);
    };
    expect(codes((text) => text.replace('current_task: "tide-reader"', 'current_task: "nowhere"'))).toContain(
      'unknown_task',
    );
    expect(codes((text) => text.replace('- "tide-model"', '- "gone"'))).toContain('unknown_dependency');
    expect(codes((text) => text.replace('completed_rev: 6', 'completed_rev: 1'))).toContain('revision_order');
    expect(codes((text) => text.replace('completed_rev: 6', 'completed_rev: null'))).toContain('no_completed_rev');
    expect(codes((text) => text.replace('id: "SIG-002"', 'id: "SIG-001"'))).toContain('duplicate_signal');
    expect(codes((text) => text.replace('rev: 9', 'rev: 99'))).toContain('signal_revision');
    expect(codes((text) => text.replace('holder: "ada"', 'holder: "zoe"'))).toContain('unknown_holder');
    expect(codes((text) => text.replace('acquired_rev: 11', 'acquired_rev: 3'))).toContain('stale_lock');
    expect(codes((text) => text.replace('revision: 12\n# Mod', 'revision: 11\n# Mod'))).toContain('header_revision');
    expect(codes((text) => text.replace('status: "done"', 'status: "finished"'))).toContain('unknown_status');
    expect(codes((text) => text.replace('"0.1.0"', '"2.0.0"'))).toContain('newer_version');
  });
});
