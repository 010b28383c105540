import { describe, expect, it } from 'vitest';
import type { Fault } from '../fault.ts';
import { agent, type By, person, type Scenario, scenario } from './scenario.suite.ts';
import type { SessionCaller } from './session-proof.ts';

const process = { pid: 7, host: 'here', startedAt: '70' };
const elsewhere = { ...process, host: 'there' };
const nothing = { agent: null, conversations: [], ancestors: [] };

/** S-1 is the session of a conversation, S-2 was started on the command line, S-3 is a person's. */
function sessions(): Scenario {
  const client = { name: 'claude', id: 'c-1' };
  return scenario('t1')
    .given({ ...agent('claude'), evidence: 'hook' }, { type: 'session.start', client, owner: process })
    .given({ ...agent('ci'), evidence: 'stated' }, { type: 'session.start', owner: process })
    .given(person('sam'), { type: 'session.start' });
}

function use(session: string, by: Partial<By & SessionCaller>): string {
  const caller = { ...agent('unknown', session), evidence: 'stated' as const, proof: nothing, ...by };
  try {
    return sessions().when(caller, { type: 'note.add', kind: 'worklog', text: 'x' }).decided.actor.name;
  } catch (thrown) {
    return (thrown as Fault).code;
  }
}

describe('C3: a session of a client', () => {
  it.each([
    ['by nothing but its id', {}, 'not_allowed'],
    ['by the name of its agent', { ...agent('claude', 'S-1'), proof: { ...nothing, agent: 'claude' } }, 'not_allowed'],
    ['in its conversation', { proof: { ...nothing, conversations: ['c-1'] } }, 'claude'],
    ['in another conversation', { proof: { ...nothing, conversations: ['c-2'] } }, 'not_allowed'],
    ['below its process', { proof: { ...nothing, ancestors: [{ ...process, pid: 8 }, process] } }, 'claude'],
    ['below that number on another machine', { proof: { ...nothing, ancestors: [elsewhere] } }, 'not_allowed'],
    [
      'below that number, used again',
      { proof: { ...nothing, ancestors: [{ ...process, startedAt: '99' }] } },
      'not_allowed',
    ],
    ['by a caller that only names the process', { owner: process }, 'not_allowed'],
    ['by an interface that found it itself', { proof: undefined }, 'claude'],
  ] satisfies [string, Partial<By & SessionCaller>, string][])('is used %s: %j', (_, by, outcome) => {
    expect(use('S-1', by)).toBe(outcome);
  });

  it('is used with the token that started it, and with no other of the same name', () => {
    const run = sessions();
    const token = { ...agent('codex'), evidence: 'token:codex' as const, scope: 'write' as const };
    const client = { name: 'codex', id: 'c-9' };
    run.given(token, { type: 'session.start', client });
    const note = { type: 'note.add', kind: 'worklog', text: 'x' } as const;
    expect(run.when({ ...token, session: 'S-4' }, note).decided.session).toBe('S-4');
    run.given({ ...token, evidence: 'hook', scope: undefined } as By, {
      type: 'session.start',
      client: { ...client, id: 'c-10' },
    });
    expect(run.refusal({ ...token, session: 'S-5' }, note).code).toBe('not_allowed');
    expect(run.refusal({ ...token, ...agent('codex'), evidence: 'token:codex', session: 'S-2' }, note).code).toBe(
      'not_allowed',
    );
  });
});

describe('a session that was started on the command line', () => {
  it.each([
    ['by its id', {}, 'ci'],
    ['by its own name', { ...agent('ci', 'S-2'), proof: { ...nothing, agent: 'ci' } }, 'ci'],
    ['by a caller that names another agent', { proof: { ...nothing, agent: 'mallory' } }, 'not_allowed'],
    ['by one that names its process too', { owner: process, proof: { ...nothing, agent: 'mallory' } }, 'ci'],
  ] satisfies [string, Partial<By & SessionCaller>, string][])('is used %s: %j', (_, by, outcome) => {
    expect(use('S-2', by)).toBe(outcome);
  });

  it('of a person is not used from an agent’s shell', () => {
    expect(use('S-3', { evidence: 'agent-shell' })).toBe('not_allowed');
    expect(use('S-3', { evidence: 'terminal' })).toBe('sam');
  });

  it('of an agent is only stated by a person who uses it', () => {
    const run = sessions();
    const note = { type: 'note.add', kind: 'worklog', text: 'x' } as const;
    const events = (session: string) =>
      run.when({ ...person('sam', session), proof: nothing } as By, note).events.map(({ evidence }) => evidence);
    expect(events('S-2')).toEqual(['stated']);
    expect(events('S-3')).toEqual(['terminal']);
  });
});

it('no refusal names the session of someone else', () => {
  const run = sessions();
  run.given({ ...agent('ci', 'S-2'), evidence: 'stated' }, { type: 'step.start', step: 't1' });
  const refusals = [
    run.refusal(agent('bob'), { type: 'step.complete' }),
    run.refusal({ ...agent('bob', 'S-22'), proof: nothing } as By, { type: 'note.add', kind: 'worklog', text: 'x' }),
    run.refusal({ ...agent('bob', 'S-1'), proof: nothing } as By, { type: 'note.add', kind: 'worklog', text: 'x' }),
  ];
  for (const { hints } of refusals) expect(hints.join(' ')).not.toMatch(/S-[123]\b/);
});
