import { describe, expect, it } from 'vitest';
import { ada, checkpoint, complete, reopen, scenario, start, startSession, task } from '../rules/scenario.suite.ts';
import { changesOf } from './change.ts';

describe('changed', () => {
  it('lists fields before and after, without internal ones', () => {
    const run = scenario('p1').given(ada, startSession());
    const paths = run.when(ada, start('p1')).changed.map((change) => change.path);
    expect(paths).toEqual(['step.p1.status', 'step.p1.holder', 'step.p1.startedAt']);
    expect(run.when(ada, checkpoint('red')).changed).toEqual([
      {
        path: 'step.p1.checkpoint',
        before: null,
        after: { name: 'red', next: null, at: run.now, session: 'S-1', mark: null },
      },
    ]);
  });

  it('lists new and removed rows by their status', () => {
    const run = scenario('p1', 'p2');
    expect(run.when(ada, startSession()).changed).toEqual([{ path: 'session.S-1', before: null, after: 'active' }]);
    expect(run.when(ada, { type: 'plan.remove', step: 'p2' }).changed).toEqual([
      { path: 'step.p2', before: 'pending', after: null },
    ]);
    expect(run.when(ada, { type: 'files.see', artifacts: [{ path: 'a.ts' }] }).changed).toEqual([
      { path: 'file.a.ts', before: null, after: 'exists' },
    ]);
  });

  it('spans a batch: the first before, the last after', () => {
    const run = scenario('p1', 'p2').given(ada, startSession());
    const { touches } = run.when(ada, start('p1'));
    const more = run.when(ada, complete()).touches;
    expect(changesOf([...touches, ...more]).find((change) => change.path === 'step.p1.status')).toEqual({
      path: 'step.p1.status',
      before: 'pending',
      after: 'completed',
    });
  });

  it('lists a confirmation, which changes nothing else', () => {
    const run = scenario('p1', task('p2', { after: ['p1'] })).given(
      ada,
      start('p1'),
      complete(),
      start('p2'),
      complete(),
    );
    run.given(ada, reopen('p1'));
    const { changed } = run.when(ada, { type: 'step.confirm', step: 'p2' });
    expect(changed.map((change) => change.path)).toEqual(['step.p2.confirmedVersion']);
  });
});
