import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, checkpoint, complete, phase, reopen, sam, scenario, skip, start, task } from './scenario.suite.ts';

const confirm = (step: string): Command => ({ type: 'step.confirm', step });

describe('reopening', () => {
  it('gives a finished step back to the session that asks', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    expect(run.when(ada, reopen('p1')).body('step.reopened')).toMatchObject({ session: 'S-1', claim: 'L-2' });
    expect(run.step('p1')).toMatchObject({ status: 'in_progress', holder: { agent: 'ada' }, retries: 0 });
    expect(run.refusal(ada, reopen('p2')).code).toBe('illegal');
  });

  it('by a person without a session leaves it free', () => {
    const run = scenario('p1', 'p2').given(sam, skip('p1'), reopen('p1'));
    expect(run.view('p1')).toMatchObject({ status: 'in_progress', interrupted: true });
    expect(run.when(ada, start('p1')).types).toContain('step.started');
  });

  it('makes dependent steps stale, directly or indirectly, until confirmed', () => {
    const run = scenario(
      'p1',
      task('p2', { after: ['p1'] }),
      task('p3', { after: ['p2'] }),
      task('p4', { after: ['p1'] }),
    );
    run.given(ada, start('p1'), complete(), start('p2'), complete(), start('p3'), complete());
    expect(run.when(ada, confirm('p2')).types).toEqual([]);
    run.given(ada, reopen('p1'), complete('p1'));
    const stale = () => run.plan().all.flatMap((view) => (view.stale ? [view.step.key] : []));
    expect(stale()).toEqual(['p2', 'p3']);
    const outcome = run.when(ada, confirm('p3'));
    expect(outcome.types).toEqual(['step.confirmed']);
    expect(outcome.changed).not.toEqual([]);
    expect(stale()).toEqual(['p2']);
    run.given(ada, confirm('p2'), start('p4'));
    expect(stale()).toEqual([]);
  });

  it('makes a step in progress stale, also when it is completed afterwards', () => {
    const run = scenario('p1', task('p2', { after: ['p1'] }), 'p3');
    run.given(ada, start('p1'), complete(), start('p2'), reopen('p1'), complete('p2'));
    expect(run.view('p2').stale).toBe(true);
    expect(run.given(ada, confirm('p2')).view('p2').stale).toBe(false);
  });

  it('makes steps stale that were added as finished', () => {
    const run = scenario(task('p1', { done: true }), task('p2', { after: ['p1'], done: true }), 'p3');
    expect(run.given(ada, reopen('p1')).view('p2').stale).toBe(true);
  });

  it('inside a phase makes the phases after it stale', () => {
    const run = scenario(
      phase('a'),
      task('a1', { parent: 'a' }),
      phase('b', { after: ['a'] }),
      task('b1', { parent: 'b' }),
      task('b2', { parent: 'b' }),
    ).given(ada, start('a1'), complete(), start('b1'), complete(), reopen('a1'));
    expect(run.view('b1').stale).toBe(true);
    expect(run.view('b2').stale).toBe(false);
  });
});

describe('verifying', () => {
  it('declares a result, or verifies it with a probe', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    const declared = run.when(ada, { type: 'step.verify', step: 'p1', result: 'pass' });
    expect(declared.events).toMatchObject([{ type: 'step.verified', basis: 'declared' }]);
    const probe = { command: 'npm test', exitCode: 0 };
    const verified = run.when(ada, { type: 'step.verify', step: 'p1', result: 'pass', probe });
    expect(verified.events).toMatchObject([{ basis: 'verified', body: { probe: 'npm test', exitCode: 0 } }]);
    expect(run.step('p1').verified).toMatchObject({ result: 'pass', basis: 'verified', probe: 'npm test' });
  });

  it('raises a finding when it fails', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    const probe = { command: 'npm test', exitCode: 1 };
    const outcome = run.when(ada, { type: 'step.verify', step: 'p1', result: 'fail', probe });
    expect(outcome.types).toEqual(['item.raised', 'step.verified']);
    expect(outcome.body('item.raised')).toMatchObject({ id: 'F-1', kind: 'finding', severity: 'must_fix', step: 'p1' });
    expect(outcome.body('item.raised').text).toContain('`npm test` exited with 1');
    expect(outcome.body('step.verified').finding).toBe('F-1');
  });

  it('refuses a step that is pending or skipped', () => {
    const run = scenario('p1', 'p2').given(sam, skip('p1'));
    for (const step of ['p1', 'p2']) {
      expect(run.refusal(ada, { type: 'step.verify', step, result: 'pass' }).code).toBe('illegal');
    }
  });
});

describe('files that were seen', () => {
  it('belong to the one step that is held', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), checkpoint('x'));
    const see = (path: string): Command => ({
      type: 'files.see',
      artifacts: [{ path, sha256: 'h', change: 'created' }],
    });
    expect(run.when(ada, see('a.ts')).events).toMatchObject([{ body: { step: 'p1' }, basis: 'verified' }]);
    expect(run.step('p1').artifacts).toMatchObject([{ path: 'a.ts' }]);
    expect(run.when(ada, { type: 'files.see', artifacts: [{ path: 'r.ts' }], read: true }).types).toEqual([
      'files.seen',
    ]);
    expect(run.step('p1').artifacts).toHaveLength(1);
    expect(run.row('file', 'r.ts')).toMatchObject({ read: true, basis: 'declared' });
    expect(run.given(ada, start('p2')).when(ada, see('b.ts')).body('files.seen').step).toBeUndefined();
    expect(run.when(ada, { type: 'files.see', artifacts: [] }).types).toEqual([]);
  });
});
