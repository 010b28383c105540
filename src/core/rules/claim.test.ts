import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { writableBy } from './claim.ts';
import { ada, agent, bob, MINUTE_MS, note, sam, scenario, startSession } from './scenario.suite.ts';

const claim = (...files: string[]): Command => ({ type: 'claim.take', files });
const letGo = (id: string): Command => ({ type: 'claim.release', id });
describe('a claim on files', () => {
  it('is taken once, under a session', () => {
    const run = scenario();
    expect(run.when(ada, claim('a.ts', 'b.ts')).types).toEqual(['session.started', 'claim.taken']);
    expect(run.when(ada, claim('b.ts', 'a.ts')).types).toEqual([]);
    expect(run.when(ada, claim('a.ts')).body('claim.taken').id).toBe('L-2');
  });

  it('keeps others out while its session lives', () => {
    const run = scenario().given(ada, claim('src/core/'));
    const fault = run.refusal(bob, claim('x.ts', 'src/core/a.ts'));
    expect(fault).toMatchObject({ code: 'held', data: { claim: 'L-1', agent: 'ada', file: 'src/core/a.ts' } });
    expect(run.when(bob, claim('src/store/a.ts')).types).toContain('claim.taken');
    expect(run.wait(31 * MINUTE_MS).when(bob, claim('src/core/a.ts')).types).toEqual([
      'session.ended',
      'snapshot.taken',
      'claim.taken',
    ]);
  });

  it('is released by its holder or a person, and again is a no-op', () => {
    const run = scenario().given(ada, claim('a.ts'), claim('b.ts')).given(bob, startSession());
    expect(run.refusal(bob, letGo('L-1'))).toMatchObject({ code: 'held', data: { claim: 'L-1', session: 'S-1' } });
    expect(run.when(ada, letGo('L-1')).types).toEqual(['claim.released']);
    expect(run.when(ada, letGo('L-1')).types).toEqual([]);
    expect(run.when(sam, letGo('L-2')).types).toEqual(['claim.released']);
    expect(run.refusal(ada, letGo('L-9')).code).toBe('not_found');
  });

  it('is renewed by a heartbeat and by events', () => {
    const run = scenario()
      .given(ada, claim('a.ts'))
      .wait(20 * MINUTE_MS);
    run.beats.set('S-1', run.now);
    expect(run.wait(20 * MINUTE_MS).refusal(bob, claim('a.ts')).code).toBe('held');
    run.given(ada, note('Still here.')).wait(29 * MINUTE_MS);
    expect(run.refusal(bob, claim('a.ts')).code).toBe('held');
  });

  it('comes back with a session that was taken for dead, unless the files are claimed again', () => {
    const crashed = () =>
      scenario()
        .given(ada, claim('a.ts'), claim('b.ts'))
        .wait(31 * MINUTE_MS)
        .given(sam, { type: 'run.supervise' });
    const back = agent('ada', 'S-1');
    expect(crashed().state.claims.size).toBe(0);
    const alone = crashed();
    alone.given(back, note('Slept.'));
    expect([...alone.state.claims.values()].map((one) => [one.session, one.files])).toEqual([
      ['S-2', ['a.ts']],
      ['S-2', ['b.ts']],
    ]);
    const taken = crashed().given(bob, claim('*.ts'));
    taken.given(back, note('Slept.'));
    expect([...taken.state.claims.values()].map((one) => one.agent)).toEqual(['bob']);
  });

  it('moves to the next session of the same conversation', () => {
    const client = { name: 'claude', id: 'c-1' };
    const run = scenario().given(ada, startSession({ client }), claim('a.ts'), startSession({ client }));
    expect([...run.state.claims.values()]).toMatchObject([{ id: 'L-2', session: 'S-2', files: ['a.ts'] }]);
  });

  it('decides who may write a file', () => {
    const run = scenario().given(ada, claim('src/**')).given(bob, startSession());
    const may = (session: string | null, path: string) => writableBy(run.state, run, session, path)?.code ?? null;
    expect(may('S-1', 'src/a.ts')).toBeNull();
    expect(may('S-2', 'src/a.ts')).toBe('held');
    expect(may(null, 'src/a.ts')).toBe('held');
    expect(may('S-2', 'docs/a.md')).toBeNull();
    run.given({ ...bob, session: 'S-2' }, claim('docs/**/b.md'));
    expect(may(null, 'docs/b.md')).toBe('held');
    expect(may(null, 'docs/ab.md')).toBeNull();
    expect(may('S-9', 'docs/a.md')).toBe('fenced');
    run.wait(31 * MINUTE_MS);
    expect(may(null, 'src/a.ts')).toBeNull();
  });
});
