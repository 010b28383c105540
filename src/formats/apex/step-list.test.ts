import { describe, expect, it } from 'vitest';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { apex } from './format.ts';
import { files, MAIN, markedNames, ownSteps, place, stepList, stepNames } from './samples.suite.ts';

const now = '2026-05-01T12:00:00.000Z';

function parsed(text: string): RunModel {
  const { model } = apex.parse(place(), files(text));
  if (!model) throw new Error('The sample cannot be read.');
  return model;
}

const statuses = (text: string): string[] => parsed(text).steps.map(({ key, status }) => `${key} ${status}`);

const written = (text: string, key: string, change: Partial<ModelStep>): string => {
  const model = parsed(text);
  const steps = model.steps.map((step) => (step.key === key ? { ...step, ...change } : step));
  return apex.render({ ...model, steps }, place(), files(text), now).get(MAIN) ?? text;
};

const entries = (text: string): unknown[] => JSON.parse(text).steps;

describe('steps that are a list', () => {
  it('reads objects by their number', () => {
    expect(statuses(stepList)).toEqual(['1 completed', '2 in_progress', '3 pending', '3_5 pending', '4 pending']);
    expect(parsed(stepList).steps[1]).toMatchObject({ checkpoint: 'phase_2_waf', gate: { state: 'open' } });
    expect(apex.parse(place(), files(stepList)).problems.map(({ code }) => code)).toContain('step_list');
  });

  it('reads objects without a number by name, keeps equal names apart, and gives them no workflow gates', () => {
    expect(statuses(ownSteps)).toEqual([
      'collect-the-tide-tables completed',
      'draw-the-quay in_progress',
      'review pending',
      'review-2 pending',
    ]);
    expect(parsed(ownSteps).steps.some(({ gate }) => gate !== undefined)).toBe(false);
    expect(parsed(ownSteps).position?.step).toBe('draw-the-quay');
  });

  it('does not read a custom third step as the workflow’s third', () => {
    const numbered = ownSteps.replace('"name": "Draw the quay"', '"id": 2, "name": "Draw the quay"');
    const step = parsed(numbered).steps.find(({ key }) => key === '2');
    expect(step).toMatchObject({ title: 'Draw the quay' });
    expect(step).not.toHaveProperty('gate');
    expect(step).not.toHaveProperty('checkpoints');
  });

  it('reads names: everything before current_step is done', () => {
    expect(statuses(stepNames)).toEqual(['1 completed', '2 pending', '3 pending', '3_5 pending', '4 pending']);
    expect(parsed(stepNames).steps.map(({ title }) => title)).toEqual(JSON.parse(stepNames).steps);
  });

  it('prefers check marks of names over current_step, and ignores entries that are not steps', () => {
    expect(statuses(markedNames)).toEqual(['1 completed', '2 in_progress', 'sound-the-bay pending']);
    expect(parsed(markedNames).steps[2]?.title).toBe('Sound the bay');
  });

  it('writes into the entry and leaves the list a list', () => {
    const after = written(ownSteps, 'draw-the-quay', { status: 'completed', endedAt: now });
    const [first, second, ...rest] = entries(after) as Record<string, unknown>[];
    const [was, , ...others] = entries(ownSteps);
    expect([first, ...rest]).toEqual([was, ...others]);
    expect(second).toEqual({
      name: 'Draw the quay',
      status: 'complete',
      owner: 'mara',
      completed: '2026-05-01T12:00:00Z',
    });
    expect(JSON.parse(after).current_step).toBe(3);
  });

  it('turns a name that needs more fields into an object in place, and leaves the other names', () => {
    const after = written(stepNames, '2', { status: 'in_progress', startedAt: now, checkpoint: 'phase_2_waf' });
    expect(entries(after)).toMatchObject([
      'Requirements',
      { name: 'Architecture', status: 'in_progress', sub_step: 'phase_2_waf' },
      'Design',
      'Governance',
      'IaC Plan',
    ]);
    expect(statuses(after)).toEqual(['1 completed', '2 in_progress', '3 pending', '3_5 pending', '4 pending']);
  });

  it('does not mark a name as done because current_step moved past it', () => {
    const after = written(stepNames, '4', { status: 'in_progress', startedAt: now });
    expect(JSON.parse(after).current_step).toBe(4);
    expect(statuses(after)).toEqual(['1 completed', '2 pending', '3 pending', '3_5 pending', '4 in_progress']);
  });

  it('keeps the key of an entry identified by its name when the name changes', () => {
    const after = written(ownSteps, 'review', { title: 'Look at it all' });
    expect(parsed(after).steps.map(({ key }) => key)).toEqual([
      'collect-the-tide-tables',
      'draw-the-quay',
      'review',
      'review-2',
    ]);
    expect(parsed(after).steps[2]?.title).toBe('Look at it all');
  });

  it('adds a step in the form of its neighbours, and removes one', () => {
    const more = (text: string, step: ModelStep): unknown[] => {
      const model = parsed(text);
      const steps = [...model.steps.slice(0, -1), step];
      return entries(apex.render({ ...model, steps }, place(), files(text), now).get(MAIN) ?? '');
    };
    const step: ModelStep = { key: 'paint-it', title: 'Paint it', kind: 'step', status: 'pending' };
    expect(more(stepNames, step)).toEqual(['Requirements', 'Architecture', 'Design', 'Governance', 'Paint it']);
    expect(more(stepList, { ...step, key: '5' }).at(-1)).toMatchObject({ step: '5', name: 'Paint it' });
  });
});
