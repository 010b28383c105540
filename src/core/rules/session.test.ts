import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import {
  ada,
  agent,
  bob,
  checkpoint,
  complete,
  fail,
  leave,
  MINUTE_MS,
  note,
  release,
  reopen,
  retry,
  sam,
  scenario,
  start,
  startSession,
} from './scenario.suite.ts';

const supervise: Command = { type: 'run.supervise' };
const in1 = agent('ada', 'S-1');
const rest: Command = { type: 'snapshot.take', atRest: true };

describe('a session', () => {
  it('starts with all that is given', () => {
    const run = scenario();
    const owner = { pid: 7, host: 'box', startedAt: '1' };
    const client = { name: 'claude', id: 'abc' };
    const outcome = run.when(ada, startSession({ role: 'verifier', leaseMs: 1000, owner, client }));
    expect(outcome.body('session.started')).toMatchObject({ id: 'S-1', agent: 'ada', kind: 'agent', role: 'verifier' });
    expect(outcome.decided.session).toBe('S-1');
    expect(run.session('S-1')).toMatchObject({ leaseMs: 1000, owner, client, status: 'active' });
  });

  it('lasts 30 minutes by default', () => {
    expect(scenario().given(ada, startSession()).session('S-1').leaseMs).toBe(30 * MINUTE_MS);
  });

  it('can be opened for another agent, such as a subagent', () => {
    const run = scenario().given(ada, startSession());
    run.given(in1, startSession({ agent: 'sub', parent: 'S-1' }));
    expect(run.session('S-2')).toMatchObject({ agent: 'sub', kind: 'agent', parent: 'S-1' });
  });

  it('supersedes the one before in the same client conversation', () => {
    const client = { name: 'claude', id: 'abc' };
    const run = scenario('p1').given(ada, startSession({ client }), start('p1'));
    const outcome = run.when(ada, startSession({ client }));
    expect(outcome.types).toEqual(['session.ended', 'session.started', 'step.started']);
    expect(run.session('S-1')).toMatchObject({ status: 'superseded', continuedBy: 'S-2' });
    expect(run.step('p1').holder?.session).toBe('S-2');
    expect(run.when(ada, startSession({ client: { name: 'claude', id: 'other' } })).types).toEqual(['session.started']);
  });

  it('refuses to continue an unknown session', () => {
    const run = scenario().given(ada, startSession());
    expect(run.refusal(ada, startSession({ continues: 'S-11' }))).toMatchObject({
      code: 'not_found',
      data: { near: ['S-1'] },
    });
  });

  it('continues the agent’s own that was cut off in the middle of a step', () => {
    const run = scenario('p1').given(ada, start('p1'), leave('timeout'));
    expect(run.when(ada, startSession()).body('session.started').continues).toBe('S-1');
    expect(run.session('S-1').continuedBy).toBe('S-2');
    expect(run.when(bob, startSession()).body('session.started').continues).toBeUndefined();
  });

  it('remembers in state who continues it while it is active', () => {
    const run = scenario()
      .given(ada, startSession())
      .given(bob, startSession({ continues: 'S-1' }));
    run.given(in1, leave('superseded'));
    expect(run.session('S-1').continuedBy).toBe('S-2');
    expect(run.refusal(in1, checkpoint('x')).message).toContain('superseded by S-2');
  });

  it('is found by its agent, and must be named where there are several', () => {
    const run = scenario('p1', 'p2').given(ada, startSession());
    expect(run.when(ada, start('p1')).types).toEqual(['step.started']);
    run.given(ada, startSession());
    for (const command of [start('p2'), complete(), leave(), release('p1'), { type: 'handoff.offer', to: 'bob' }]) {
      const fault = run.refusal(ada, command as Command);
      expect(fault).toMatchObject({ code: 'usage', data: { sessions: ['S-1', 'S-2'] } });
      expect(fault.hints[0]).toContain('--session');
    }
    expect(run.when(in1, release('p1')).types).toEqual(['step.released']);
    expect(run.when(ada, note('Said by either.')).types).toEqual(['note.added']);
  });

  it('is found by its id or its client’s id', () => {
    const run = scenario('p1').given(ada, startSession({ client: { name: 'claude', id: 'abc' } }));
    expect(run.when(agent('other', 'abc'), start('p1')).decided).toMatchObject({ session: 'S-1', actor: ada.actor });
    expect(run.refusal(agent('ada', 'S-9'), note('x')).code).toBe('not_found');
  });

  it('leaves notes, issues and the next action when it ends, and records nothing after', () => {
    const run = scenario('p1').given(ada, start('p1'));
    const end: Command = {
      type: 'session.end',
      reason: 'completed',
      next: 'Go on.',
      notes: ['n'],
      issues: ['i'],
      contextUsage: 62.5,
    };
    expect(run.when(ada, end).types).toEqual(['session.ended', 'snapshot.taken']);
    expect(run.session('S-1')).toMatchObject({
      status: 'completed',
      notes: ['n'],
      issues: ['i'],
      contextUsage: 62.5,
      left: ['p1'],
    });
    expect(run.state.next).toMatchObject({ text: 'Go on.', step: 'p1', session: 'S-1' });
    for (const command of [note('x'), start('p1'), leave()]) {
      const fault = run.refusal(in1, command);
      expect(fault).toMatchObject({ code: 'illegal', data: { session: 'S-1', endReason: 'completed' } });
      expect(fault.hints[0]).toContain('--continues S-1');
    }
    expect(run.refusal(ada, leave()).code).toBe('usage');
  });

  it('frees its claims on files when it ends', () => {
    const run = scenario().given(ada, { type: 'claim.take', files: ['a.ts'] }, leave());
    expect(run.state.claims.size).toBe(0);
    expect(run.row('claim', 'L-1').status).toBe('released');
  });
});

describe('supervision', () => {
  it('ends a session as crashed when its lease has run out', () => {
    const run = scenario('p1')
      .given(ada, start('p1'))
      .wait(30 * MINUTE_MS - 1);
    expect(run.when(bob, supervise).types).toEqual([]);
    const outcome = run.wait(1).when(bob, { ...supervise, evidence: new Map([['S-1', ['Two commits.']]]) });
    expect(outcome.events).toMatchObject([
      { type: 'session.ended', basis: 'verified' },
      { type: 'snapshot.taken', basis: 'verified', body: { session: 'S-1', sequence: 1, reconstructed: true } },
    ]);
    expect(outcome.body('session.ended')).toMatchObject({
      id: 'S-1',
      reason: 'crashed',
      evidence: ['Its lease ran out at 2026-01-02T10:30:00.000Z.', 'Two commits.'],
      lastSeenAt: '2026-01-02T10:00:00.000Z',
    });
    expect(run.view('p1').interrupted).toBe(true);
  });

  it('notices a dead owner at once', () => {
    const run = scenario('p1').given(ada, start('p1'));
    run.owners.set('S-1', 'dead');
    expect(run.when(bob, supervise).body('session.ended').evidence).toEqual(['Its process is gone.']);
  });

  it('does not end a session whose owner is alive past its lease', () => {
    const run = scenario('p1')
      .given(ada, start('p1'))
      .wait(600 * MINUTE_MS);
    run.owners.set('S-1', 'alive');
    expect(run.when(bob, supervise).types).toEqual([]);
    expect(run.refusal(bob, start('p1')).code).toBe('held');
  });

  it('is not fooled by a clock that jumped back', () => {
    const run = scenario('p1')
      .given(ada, start('p1'))
      .wait(-24 * 60 * MINUTE_MS);
    expect(run.when(bob, supervise).types).toEqual([]);
  });

  it('counts heartbeats and events', () => {
    const run = scenario('p1')
      .given(ada, start('p1'))
      .wait(20 * MINUTE_MS)
      .given(ada, checkpoint('x'));
    expect(run.wait(20 * MINUTE_MS).when(bob, supervise).types).toEqual([]);
    run.beats.set('S-1', run.now);
    expect(run.wait(29 * MINUTE_MS).when(bob, supervise).types).toEqual([]);
    expect(run.wait(MINUTE_MS).when(bob, supervise).body('session.ended').lastSeenAt).toBe(run.beats.get('S-1'));
  });

  it('holds a lease of any length', () => {
    const run = scenario()
      .given(ada, startSession({ leaseMs: Number.MAX_SAFE_INTEGER }))
      .wait(1e12);
    expect(run.when(bob, supervise).types).toEqual([]);
  });

  it('happens inside commands that may take over, and in no others', () => {
    const crashed = () =>
      scenario('p1', 'p2')
        .given(ada, start('p1'))
        .wait(31 * MINUTE_MS);
    expect(crashed().when(bob, startSession()).types).toEqual(['session.ended', 'snapshot.taken', 'session.started']);
    expect(crashed().when(bob, { type: 'claim.take', files: ['x'] }).types[0]).toBe('session.ended');
    expect(crashed().when(bob, note('x')).types).toEqual(['note.added']);
  });

  it('does not take the session that acts for gone', () => {
    const run = scenario('p1', 'p2')
      .given(ada, start('p1'))
      .wait(31 * MINUTE_MS);
    expect(run.when(ada, start('p2')).types).toEqual(['step.started']);
    expect(run.session('S-1').status).toBe('active');
  });

  const crash = (run: ReturnType<typeof scenario>, times: number) => {
    for (let time = 0; time < times; time++)
      run
        .given(ada, start('p1'))
        .wait(31 * MINUTE_MS)
        .given(sam, supervise);
    return run;
  };

  it('raises a blocker after three crashes in a row', () => {
    const run = crash(scenario('p1'), 2)
      .given(ada, start('p1'))
      .wait(31 * MINUTE_MS);
    const outcome = run.when(sam, supervise);
    expect(outcome.types).toEqual(['session.ended', 'snapshot.taken', 'item.raised']);
    expect(outcome.body('item.raised')).toMatchObject({ id: 'B-1', kind: 'blocker', step: 'p1', affects: ['p1'] });
    expect(run.refusal(bob, start('p1')).code).toBe('blocked');
    run.given(sam, { type: 'item.settle', id: 'B-1', as: 'resolved' });
    expect(crash(run, 2).state.items.size).toBe(0);
    expect(crash(run, 1).state.items.size).toBe(1);
  });

  it.each([
    ['a checkpoint', [checkpoint('x'), leave()]],
    ['an orderly end', [leave()]],
    ['a failure', [fail(), retry('p1'), leave()]],
    ['a release', [release('p1')]],
    ['a completion', [complete(), reopen('p1'), leave()]],
  ])('restarts the count of crashes after %s', (_, commands) => {
    const run = crash(scenario('p1'), 2).given(ada, start('p1'), ...commands);
    const blockers = [...crash(run, 2).state.items.values()].filter(({ kind }) => kind === 'blocker');
    expect(blockers).toEqual([]);
    expect(run.step('p1').crashes).toBe(2);
  });
});

describe('a session that disappeared after its turn was over', () => {
  const gone = (run: ReturnType<typeof scenario>) => {
    run.owners.set('S-1', 'dead');
    return run.when(bob, supervise);
  };

  it('has ended, not crashed: it keeps its own snapshot, and its step can be taken', () => {
    const run = scenario('p1').given(ada, start('p1'), rest);
    const outcome = gone(run);
    expect(outcome.types).toEqual(['session.ended']);
    expect(outcome.body('session.ended')).toMatchObject({
      id: 'S-1',
      reason: 'completed',
      unannounced: true,
      evidence: ['No turn was under way and nothing was running.', 'Its process is gone.'],
    });
    expect(run.step('p1')).toMatchObject({ status: 'in_progress', holder: null, crashes: 0 });
  });

  it('is recognized by its lease where its process is not known', () => {
    const run = scenario('p1')
      .given(ada, start('p1'), rest)
      .wait(31 * MINUTE_MS);
    expect(run.when(bob, supervise).body('session.ended')).toMatchObject({ reason: 'completed', unannounced: true });
  });

  it('stays at rest while tokens are counted', () => {
    const run = scenario('p1').given(ada, start('p1'), rest, { type: 'usage.add', input: 1, output: 1, cached: 0 });
    expect(gone(run).body('session.ended').reason).toBe('completed');
  });

  it.each<[string, Command[]]>([
    ['never ended a turn', []],
    ['began something again', [rest, note('Asked: go on.')]],
    ['had only counted tokens', [{ type: 'usage.add', input: 1, output: 1, cached: 0 }]],
    ['left an effect without an end', [{ type: 'effect.begin', name: 'deploy', class: 'irreversible' }, rest]],
    ['left a snapshot in the middle of its turn', [{ type: 'snapshot.take' }]],
  ])('has crashed if it %s', (_, commands) => {
    const run = scenario('p1').given(ada, start('p1'), ...commands);
    expect(gone(run).body('session.ended').reason).toBe('crashed');
  });

  it('has crashed if one of its subagents was working', () => {
    const run = scenario('p1').given(ada, start('p1'));
    run.given(in1, startSession({ agent: 'sub', parent: 'S-1' })).given(in1, rest);
    run.owners.set('S-2', 'alive');
    expect(gone(run).body('session.ended')).toMatchObject({ id: 'S-1', reason: 'crashed' });
  });

  it('may come back, as one that was taken for dead', () => {
    const run = scenario('p1').given(ada, start('p1'), rest);
    gone(run);
    expect(run.when(in1, checkpoint('more')).types).toEqual(['session.started', 'step.started', 'step.checkpointed']);
    const taken = scenario('p1').given(ada, start('p1'), rest);
    gone(taken);
    taken.given(bob, start('p1'));
    expect(taken.refusal(in1, checkpoint('x')).code).toBe('fenced');
  });
});

describe('a session that comes back', () => {
  const slept = () =>
    scenario('p1', 'p2')
      .given(ada, start('p1'), checkpoint('half'))
      .wait(31 * MINUTE_MS)
      .given(sam, supervise);

  it('takes its step back under a new id if it is free', () => {
    const run = slept();
    const outcome = run.when(in1, checkpoint('more'));
    expect(outcome.types).toEqual(['session.started', 'step.started', 'step.checkpointed']);
    expect(outcome.body('session.started')).toMatchObject({ id: 'S-2', continues: 'S-1', returns: true });
    expect(outcome.decided.session).toBe('S-2');
    expect(run.step('p1')).toMatchObject({ holder: { session: 'S-2', claim: 'L-2' }, retries: 0 });
  });

  it('is still found by its old id, however often it returns', () => {
    const run = slept().given(in1, checkpoint('more'));
    expect(run.when(in1, checkpoint('again')).decided.session).toBe('S-2');
    run.wait(31 * MINUTE_MS).given(sam, supervise);
    expect(run.when(in1, complete()).decided.session).toBe('S-3');
    run.given(in1, leave());
    expect(run.refusal(in1, note('x'))).toMatchObject({ code: 'illegal', data: { session: 'S-3' } });
  });

  it('does not keep the process that died as its owner', () => {
    const run = scenario('p1').given(ada, startSession({ owner: { pid: 7, host: 'box' } }), start('p1'));
    run.owners.set('S-1', 'dead');
    run.given(sam, supervise).given(in1, checkpoint('x'));
    expect(run.session('S-2').owner).toBeNull();
  });

  it('is fenced if its step was taken, learns by whom, and may file a note', () => {
    const run = slept().given(bob, start('p1'));
    for (const command of [checkpoint('x'), complete('p1'), start('p2'), leave()]) {
      const fault = run.refusal(in1, command);
      expect(fault).toMatchObject({
        code: 'fenced',
        data: { session: 'S-1', step: 'p1', holder: { agent: 'bob', session: 'S-2' } },
      });
      expect(fault.message).toContain('bob (S-2) has step `p1` now');
    }
    const filed = run.when(in1, note('I had found the cause.'));
    expect(filed.events).toMatchObject([{ type: 'note.added', actor: ada.actor, session: null }]);
  });

  it('stays fenced when the session that took its step has finished it or is gone too', () => {
    const finished = slept().given(bob, start('p1'), complete());
    expect(finished.refusal(in1, complete('p1'))).toMatchObject({ code: 'fenced', data: { step: 'p1', holder: null } });
    const gone = slept()
      .given(bob, start('p1'))
      .wait(31 * MINUTE_MS)
      .given(sam, supervise);
    expect(gone.refusal(in1, complete('p1')).message).toContain('bob (S-2) took step `p1` since');
  });

  it('is not fenced by steps it had released before', () => {
    const run = scenario('p1', 'p2', 'p3').given(ada, start('p1'), complete(), start('p2'), release('p2'), start('p3'));
    run.wait(31 * MINUTE_MS).given(bob, startSession(), reopen('p1'), start('p2'));
    const outcome = run.when(in1, checkpoint('x'));
    expect(outcome.types).toEqual(['session.started', 'step.started', 'step.checkpointed']);
    expect(outcome.body('step.started').step).toBe('p3');
  });
});
