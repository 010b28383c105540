import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { apex } from './format.ts';
import { files, MAIN, place, v3 } from './samples.suite.ts';

const now = '2026-05-01T12:00:00.000Z';
const read = (text: string) => apex.parse(place(), files(text));

function write(text: string, change: (model: RunModel) => void): string {
  const model = structuredClone(read(text).model as RunModel);
  change(model);
  return apex.render(model, place(), files(text), now).get(MAIN) ?? text;
}

/** Puts a member before the first line that begins with `like`, which makes a duplicate key. */
const before = (like: string, member: string) => (text: string) => text.replace(`"${like}"`, `${member},\n  "${like}"`);
const branches = before('branch', '"branch": "old"');
const steps = before('2', '"2": { "name": "Old", "status": "pending", "sub_step": "x" }');
const regions = (text: string) => text.replace('"decisions": {', '"decisions": { "edge": "old", "edge": "new",');

describe('duplicate keys of a state file', () => {
  it.each([
    ['at the top', branches, '"branch": "old"'],
    ['among the steps', steps, '"Old"'],
    ['among the decisions', regions, '"edge": "old"'],
  ])('are reported %s with the line of the later one, and do not stop writing', (_, twice, earlier) => {
    const text = twice(v3);
    const { problems, writable } = read(text);
    const found = problems.filter(({ code }) => code === 'duplicate_key');
    const line = text.slice(0, text.indexOf(earlier)).split('\n').length;
    expect(found).toHaveLength(1);
    expect(found[0]?.line).toBe(earlier.includes('edge') ? line : line + 1);
    expect(found[0]?.message).toContain('the last one counts');
    expect(writable).toBe(true);
  });

  it('are read from the last one, as JSON.parse does', () => {
    const text = regions(steps(branches(v3)));
    const { model } = read(text);
    const state = JSON.parse(text);
    expect(model?.run.branch).toBe(state.branch);
    expect(model?.run.branch).not.toBe('old');
    expect(model?.steps.find(({ key }) => key === '2')?.title).toBe(state.steps['2'].name);
    expect(model?.steps.filter(({ key }) => key === '2')).toHaveLength(1);
    expect(model?.decisions.filter(({ key }) => key === 'edge').map(({ decision }) => decision)).toEqual(['new']);
  });

  it('are left alone by writing what the file says', () => {
    const text = regions(steps(branches(v3)));
    expect(write(text, () => {})).toBe(text);
  });

  it('are edited where they are read', () => {
    const text = regions(steps(branches(v3)));
    const after = write(text, (model) => {
      model.run.branch = 'main-2';
      for (const step of model.steps) if (step.key === '2') step.checkpoint = 'phase_3_cost';
      for (const decision of model.decisions) if (decision.key === 'edge') decision.decision = 'newest';
    });
    expect(after).toContain('"branch": "old"');
    expect(after).toContain('{ "name": "Old", "status": "pending", "sub_step": "x" }');
    expect(after).toContain('"edge": "old", "edge": "newest"');
    const state = JSON.parse(after);
    expect([state.branch, state.steps['2'].sub_step, state.decisions.edge]).toEqual([
      'main-2',
      'phase_3_cost',
      'newest',
    ]);
    expect(after.split('\n')).toHaveLength(text.split('\n').length);
  });

  it('are both removed, so that an earlier value does not come back', () => {
    const text = regions(steps(v3));
    const after = write(text, (model) => {
      model.steps = model.steps.filter(({ key }) => key !== '2');
      for (const decision of model.decisions) if (decision.key === 'edge') decision.status = 'retracted';
    });
    const state = JSON.parse(after);
    expect(state.steps).not.toHaveProperty('2');
    expect(state.decisions).not.toHaveProperty('edge');
    expect(read(after).problems.filter(({ code }) => code === 'duplicate_key')).toEqual([]);
  });
});
