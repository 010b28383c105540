import { describe, expect, it } from 'vitest';
import { parsePlan } from '../../../formats/plan/parse-plan.ts';
import { matchSteps } from './match-steps.ts';

const read = async (text: string) => (await parsePlan(text, 'plan.md')).steps;

async function importAgain(first: string, second: string): Promise<string[]> {
  const known = matchSteps(await read(first), new Map());
  const plan = new Map(
    known.map((step) => [step.key, { key: step.key, title: step.title, parent: step.parent ?? null }]),
  );
  return matchSteps(await read(second), plan).map(({ key, title, after: needs }) =>
    [`${key} ${title}`, ...(needs ?? [])].join(' '),
  );
}

describe('steps of a plan that is imported again', () => {
  it('keep their keys by title when others are inserted, removed or moved', async () => {
    expect(await importAgain('- [ ] a\n- [ ] b\n', '- [ ] new\n- [ ] B\n- [ ] a\n')).toEqual([
      't3 new',
      't2 B',
      't1 a',
    ]);
    expect(await importAgain('- [ ] a\n- [ ] b\n- [ ] c\n', '- [ ] a\n- [ ] c\n- [ ] d\n')).toEqual([
      't1 a',
      't3 c',
      't4 d',
    ]);
  });

  it('keep their keys by place when only the title changed', async () => {
    expect(await importAgain('- [ ] a\n- [ ] b\n', '- [ ] a\n- [ ] b, better\n')).toEqual(['t1 a', 't2 b, better']);
  });

  it('keep a written key whatever the title and the place', async () => {
    expect(await importAgain('- [ ] T1: a\n- [ ] T2: b\n', '- [ ] T2: a\n- [ ] T1: c (after T2)\n')).toEqual([
      'T2 a',
      'T1 c T2',
    ]);
  });

  it('are looked for below their own parent', async () => {
    const first = '## A\n- [ ] test\n## B\n- [ ] test\n';
    expect(await importAgain(first, '## B\n- [ ] test\n- [ ] more\n## A\n- [ ] test\n')).toEqual([
      'p2 B',
      'p2.1 test',
      'p2.2 more',
      'p1 A',
      'p1.1 test',
    ]);
  });
});
