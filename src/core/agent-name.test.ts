import { describe, expect, it } from 'vitest';
import { agentNameProblem, looksLikeOneOf, skeletonOf } from './agent-name.ts';
import { agent, person, scenario, unopened } from './rules/scenario.suite.ts';

describe('C4: an agent', () => {
  it.each([
    'maintainer',
    'Admin',
    'ROOT',
    'adm1n',
    'r00t',
    'a.d.m.i.n',
    'ádmin',
    'ａｄｍｉｎ',
    'hоldfast',
    'а\u0301dmin',
    'оwnеr',
    'peгsоn',
    'human',
    'everyone',
    'a11',
    'unknown',
    'systern',
  ])('cannot be called %s', (name) => {
    expect(agentNameProblem(name)).not.toBe(null);
  });

  it.each([
    'reviewer',
    'claude',
    'codex',
    'gpt-5.2',
    'administratrix',
    'root-cause',
    'rooter',
    'ада',
    'Ωμέγα',
    '東京タワー',
    '검토자',
  ])('can be called %s', (name) => {
    expect(agentNameProblem(name)).toBe(null);
  });

  it.each([
    ['ada', ['Ada']],
    ['grace.hopper', ['Grace Hopper']],
    ['grace@example.com', ['grace@example.com']],
    ['gracе', ['grace']],
    ['l1nus', ['linus']],
  ])('cannot be called %s beside %j', (name, people) => {
    expect(agentNameProblem(name, ['someone', ...people])).not.toBe(null);
    expect(agentNameProblem(name, ['someone'])).toBe(name === 'gracе' ? 'it mixes letters of several scripts' : null);
  });

  it('cannot be called like a person of the run when it starts a session, in whatever way', () => {
    const run = scenario('t1', 't2').given(person('grace'), { type: 'session.start' });
    for (const name of ['grace', 'Grace', 'sam', 'root']) {
      const refused = run.refusal(agent(name), { type: 'session.start' });
      expect([name, refused.code]).toEqual([name, 'invalid']);
      expect(run.refusal(agent(name), { type: 'step.start', step: 't1' }).code).toBe('invalid');
      expect(run.refusal(agent('claude'), { type: 'session.start', agent: name }).code).toBe('invalid');
    }
    const beside = { ...agent('ada'), people: ['Ada'] };
    expect(run.refusal(beside, { type: 'session.start' }).message).toContain('it looks like the name of a person');
    expect(run.when(agent('ada'), { type: 'session.start' }).types).toContain('session.started');
  });

  it('of whom nothing is known is called unknown, and no other is', () => {
    const run = scenario('t1');
    expect(run.refusal(agent('unknown'), { type: 'session.start' }).code).toBe('invalid');
    const nobody = { ...agent('unknown'), evidence: 'none' as const };
    expect(run.when(nobody, { type: 'step.start', step: 't1' }).types).toContain('step.started');
  });

  it('with such a name in a file is never refused, and continues its session', () => {
    const account = {
      format: 'apex',
      path: 'state.json',
      account: { sessions: [{ name: 's', alias: 's', agent: 'root', status: 'crashed' as const }] },
    };
    const run = unopened().given(agent('file'), {
      type: 'run.open',
      title: 'Work',
      workspace: 'W-1',
      account,
    } as never);
    expect(run.row('session', 'S-1').agent).toBe('root');
    expect(run.when(agent('root'), { type: 'session.start', continues: 'S-1' }).types).toContain('session.started');
  });
});

it('a name looks like another of the same shape', () => {
  expect(looksLikeOneOf('Cоdеx', ['claude', 'codex'])).toBe(true);
  expect(looksLikeOneOf('codexa', ['claude', 'codex'])).toBe(false);
  expect(skeletonOf('Ada_Lovelace')).toBe(skeletonOf('adaLove1ace'));
});
