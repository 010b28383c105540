import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { maestro } from './format.ts';
import { ACTIVE, byHand, place } from './samples.suite.ts';

const read = (text: string) => maestro.parse(place(), new Map([[ACTIVE, text]]));

/** The lines that a change removed and added, without the time of writing. */
function diff(text: string, change: (model: RunModel) => void): string[] {
  const model = structuredClone(read(text).model) as RunModel;
  change(model);
  const after = maestro.render(model, place(), new Map([[ACTIVE, text]]), '2026-06-01T00:00:00Z').get(ACTIVE) ?? text;
  const [old, fresh] = [text.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `-${line.trim()}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+${line.trim()}`),
  ].filter((line) => !line.slice(1).startsWith('updated:'));
}

const set = (key: string, change: Partial<RunModel['steps'][number]>) => (model: RunModel) => {
  Object.assign(model.steps.find((step) => step.key === key) ?? {}, change);
};

describe('lists on one line', () => {
  it('reads the dependencies of a phase in every notation', () => {
    const { model, problems } = read(byHand);
    expect(model?.steps.map(({ key, after }) => [key, after])).toEqual([
      ['1', undefined],
      ['2', ['1']],
      ['3', ['1', '2']],
      ['4', ['3']],
    ]);
    expect(problems.filter(({ code }) => code === 'dangling_dependency').map(({ message }) => message)).toEqual([
      'Phase 4 is blocked by 9, which does not exist.',
    ]);
  });

  it('reads agents and files one by one, and a sentence as a sentence', () => {
    const [lamps, lenses, tower] = read(byHand).model?.steps ?? [];
    expect(lamps?.agents).toEqual(['coder', 'tester']);
    expect(lamps?.artifacts).toEqual([
      { path: 'src/lamp.ts', change: 'created' },
      { path: 'src/wick.ts', change: 'created', note: 'cotton, thick' },
      { path: 'docs/lamps.md', change: 'modified' },
    ]);
    expect(lenses?.artifacts).toEqual([{ path: 'src/lens.ts' }, { path: 'src/grind.ts' }]);
    expect(tower?.artifacts).toBeUndefined();
    expect(read(byHand).model?.kept?.['maestro']).toMatchObject({
      phases: { 3: { files: 'the plans are in the drawer, ask Mara' } },
    });
  });

  it('reads a word for none as an empty list', () => {
    const text = byHand.replace('depends_on: 1\n', 'depends_on: none\n');
    expect(read(text).model?.steps[1]?.after).toBeUndefined();
    expect(read(text).problems.filter(({ code }) => code === 'dangling_dependency')).toHaveLength(1);
  });

  it('keeps a list on one line', () => {
    expect(diff(byHand, set('3', { after: ['1'] }))).toEqual(['-depends_on: 1, 2 # both', '+depends_on: 1 # both']);
    expect(diff(byHand, set('2', { agents: ['coder', 'grinder'] }))).toEqual([
      '-agent: coder',
      '+agent: coder, grinder',
    ]);
    const files = [{ path: 'src/lens.ts' }, { path: 'src/grind.ts' }, { path: 'src/polish.ts' }];
    expect(diff(byHand, set('2', { artifacts: files }))).toEqual([
      '-files: src/lens.ts, src/grind.ts',
      '+files: src/lens.ts, src/grind.ts, src/polish.ts',
    ]);
    const created = (read(byHand).model?.steps[0]?.artifacts ?? []).concat({ path: 'a.ts', change: 'created' });
    expect(diff(byHand, set('1', { artifacts: created }))).toEqual([
      '-files_created: src/lamp.ts, src/wick.ts (cotton, thick)',
      '+files_created: src/lamp.ts, src/wick.ts (cotton, thick), a.ts',
    ]);
  });

  it('appends to a list and keeps unknown entries', () => {
    expect(diff(byHand, set('4', { after: ['3', '1'] }))).toEqual(['+- 1']);
    expect(diff(byHand, set('4', { after: [] }))).toEqual(['-- Phase 3']);
  });
});

describe('a bracketed list', () => {
  const bracketed = byHand.replace('depends_on: 1, 2 # both', 'depends_on: [1, 2, 4] # three');

  it.each([
    [['1'], '[1]'],
    [['4'], '[4]'],
    [['2'], '[2]'],
    [[], '[]'],
  ])('keeps %j only', (after, list) => {
    expect(diff(bracketed, set('3', { after }))).toEqual([
      '-depends_on: [1, 2, 4] # three',
      `+depends_on: ${list} # three`,
    ]);
  });
});
