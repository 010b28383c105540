import { describe, expect, it } from 'vitest';
import type { Command, CommandOf } from '../journal/command.ts';
import { ada, bob, scenario, start } from './scenario.suite.ts';

const begin = (more: Partial<CommandOf<'effect.begin'>> = {}): Command => ({
  type: 'effect.begin',
  name: 'deploy',
  class: 'irreversible',
  ...more,
});
const end = (id: string, outcome: CommandOf<'effect.end'>['outcome'] = 'succeeded'): Command => ({
  type: 'effect.end',
  id,
  outcome,
});

describe('an effect', () => {
  it('starts and ends, for the step that is held', () => {
    const run = scenario('p1').given(ada, start('p1'));
    expect(run.when(ada, begin()).body('effect.began')).toMatchObject({ id: 'X-1', class: 'irreversible', step: 'p1' });
    expect(run.state.effects.get('X-1')?.status).toBe('began');
    expect(run.when(ada, { ...end('X-1'), seen: true } as Command).events).toMatchObject([{ basis: 'verified' }]);
    expect(run.state.effects.size).toBe(0);
    expect(run.row('effect', 'X-1')).toMatchObject({ status: 'ended', outcome: 'succeeded' });
  });

  it('refuses a key that is in use by an effect without an end, for all actors', () => {
    const run = scenario().given(ada, begin({ key: 'deploy-1' }));
    const fault = run.refusal(bob, begin({ key: 'deploy-1' }));
    expect(fault).toMatchObject({ code: 'illegal', data: { effect: 'X-1', key: 'deploy-1' } });
    expect(fault.hints[0]).toContain('Look at what it did');
    expect(run.when(bob, begin({ key: 'deploy-2' })).types).toEqual(['effect.began']);
    expect(run.given(bob, end('deploy-1', 'unknown')).when(ada, begin({ key: 'deploy-1' })).types).toEqual([
      'effect.began',
    ]);
  });

  it('does not start again under the key of one that succeeded, where the key names one action', () => {
    const once = { ...begin({ key: 'deploy-1' }), once: true } as Command;
    const run = scenario().given(ada, once, end('X-1', 'failed'), once, end('X-2'));
    const fault = run.refusal(bob, once);
    expect(fault).toMatchObject({ code: 'illegal', data: { effect: 'X-2', key: 'deploy-1' } });
    expect(fault.hints[0]).toContain('It is done');
    expect(run.when(bob, begin({ key: 'deploy-1' })).types).toEqual(['effect.began']);
  });

  it('ends once; the same outcome again is a no-op, another is illegal', () => {
    const run = scenario().given(ada, begin(), end('X-1'));
    expect(run.when(ada, end('X-1')).types).toEqual([]);
    expect(run.refusal(ada, end('X-1', 'failed')).code).toBe('illegal');
    expect(run.refusal(ada, end('X-2'))).toMatchObject({ code: 'not_found' });
  });
});
