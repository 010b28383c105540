import { describe, expect, it } from 'vitest';
import type { Command, CommandOf } from '../journal/command.ts';
import {
  ada,
  agent,
  bob,
  checkpoint,
  complete,
  leave,
  MINUTE_MS,
  note,
  person,
  sam,
  scenario,
  start,
  startSession,
} from './scenario.suite.ts';

const offer = (to: string, more: Partial<CommandOf<'handoff.offer'>> = {}): Command => ({
  type: 'handoff.offer',
  to,
  ...more,
});
const accept = (id: string): Command => ({ type: 'handoff.accept', id });
const clarify = (id: string): Command => ({ type: 'handoff.clarify', id, question: 'Which branch?' });
const decline = (id: string): Command => ({ type: 'handoff.decline', id, reason: 'Busy.' });
const withdraw = (id: string): Command => ({ type: 'handoff.withdraw', id });
const finish = (id: string): Command => ({ type: 'handoff.finish', id, outcome: 'Merged.' });
const in1 = agent('ada', 'S-1');
const cleo = agent('cleo');

const offered = () => scenario('p1', 'p2', 'p3').given(ada, start('p1'), checkpoint('half'), start('p2'), offer('bob'));

describe('a handoff', () => {
  it('offers the steps its sender holds', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'));
    const outcome = run.when(ada, offer('bob', { message: 'Yours.' }));
    expect(outcome.body('handoff.offered')).toMatchObject({ id: 'H-1', from: 'S-1', to: 'bob', steps: ['p1'] });
    expect(run.step('p1').holder?.agent).toBe('ada');
    const fault = run.refusal(ada, offer('cleo'));
    expect(fault).toMatchObject({ code: 'illegal', data: { handoff: 'H-1' } });
    expect(fault.hints[0]).toContain('holdfast handoff withdraw H-1');
    expect(run.refusal(bob, offer('cleo')).code).toBe('usage');
  });

  it('moves the right to write with the acceptance and supersedes the sender', () => {
    const run = offered();
    const outcome = run.when(bob, accept('H-1'));
    expect(outcome.types).toEqual(['session.started', 'session.ended', 'handoff.accepted', 'message.moved']);
    expect(outcome.body('handoff.accepted').claims).toEqual([
      { step: 'p1', claim: 'L-3' },
      { step: 'p2', claim: 'L-4' },
    ]);
    expect(run.session('S-1')).toMatchObject({ status: 'superseded', left: ['p1', 'p2'] });
    expect(run.step('p1')).toMatchObject({
      holder: { session: 'S-2', agent: 'bob', claim: 'L-3' },
      checkpoint: { name: 'half' },
      retries: 0,
    });
    for (const command of [checkpoint('x', 'p1'), complete('p1'), start('p3'), leave()]) {
      const fault = run.refusal(in1, command);
      expect(fault.code).toBe('fenced');
      expect(fault.message).toContain('was superseded, and bob (S-2) has step `p1` now');
    }
    expect(run.when(in1, note('One more thing.')).types).toEqual(['note.added']);
    expect(run.given(bob, complete('p1'), complete('p2')).refusal(in1, complete('p1')).code).toBe('fenced');
    expect(run.when(bob, accept('H-1')).types).toEqual([]);
  });

  it('fences a receiver who crashed and whose steps were taken in turn', () => {
    const run = offered()
      .given(bob, accept('H-1'))
      .wait(31 * MINUTE_MS)
      .given(cleo, start('p1'));
    expect(run.refusal(agent('bob', 'S-2'), checkpoint('x'))).toMatchObject({ code: 'fenced', data: { step: 'p1' } });
  });

  it('is accepted from a sender that is gone by then', () => {
    const run = offered().wait(31 * MINUTE_MS);
    expect(run.when(bob, accept('H-1')).types).toEqual([
      'session.ended',
      'snapshot.taken',
      'session.started',
      'handoff.accepted',
      'message.moved',
    ]);
    expect(run.session('S-1').status).toBe('crashed');
    expect(run.step('p1').holder?.agent).toBe('bob');
    expect(run.refusal(in1, complete('p1')).code).toBe('fenced');
  });

  it('goes to one receiver only', () => {
    const run = offered();
    const stranger = run.refusal(cleo, accept('H-1'));
    expect(stranger).toMatchObject({ code: 'not_allowed', data: { handoff: 'H-1', to: 'bob' } });
    expect(stranger.hints[0]).toContain('a person can offer it');
    run.given(agent('bob'), accept('H-1')).given(bob, startSession());
    expect(run.refusal(agent('bob', 'S-3'), accept('H-1')).code).toBe('illegal');
  });

  it('takes over no step that has another holder by then', () => {
    const run = offered().given(in1, { type: 'step.release', step: 'p1' }).given(cleo, start('p1'));
    expect(run.when(bob, accept('H-1')).body('handoff.accepted').claims).toEqual([{ step: 'p2', claim: 'L-4' }]);
    expect(run.step('p1').holder?.agent).toBe('cleo');
  });

  it('is not accepted by the session whose work it offers', () => {
    const run = scenario('p1').given(ada, start('p1'), offer('ada'));
    expect(run.refusal(in1, accept('H-1')).code).toBe('illegal');
    run.given(ada, startSession());
    expect(run.when(agent('ada', 'S-2'), accept('H-1')).types).toContain('handoff.accepted');
  });

  it('is clarified, declined or withdrawn', () => {
    const asked = offered().given(bob, clarify('H-1'));
    expect(asked.state.handoffs.get('H-1')).toMatchObject({ status: 'clarifying', question: 'Which branch?' });
    expect(asked.when(bob, accept('H-1')).types).toContain('handoff.accepted');
    const declined = offered().given(bob, decline('H-1'));
    expect(declined.state.handoffs.size).toBe(0);
    expect(declined.row('handoff', 'H-1')).toMatchObject({ status: 'declined', outcome: 'Busy.' });
    expect(declined.refusal(bob, accept('H-1')).code).toBe('illegal');
    expect(declined.when(ada, offer('cleo')).body('handoff.offered').id).toBe('H-2');
    const withdrawn = offered();
    expect(withdrawn.refusal(bob, withdraw('H-1')).code).toBe('not_allowed');
    expect(withdrawn.when(ada, withdraw('H-1')).types).toEqual(['handoff.withdrawn', 'message.moved']);
  });

  it('is answered by the receiver or a person only', () => {
    for (const command of [clarify('H-1'), decline('H-1')]) {
      expect(offered().refusal(cleo, command).code).toBe('not_allowed');
      expect(offered().when(sam, command).types).toHaveLength(1);
    }
    expect(offered().when(sam, withdraw('H-1')).types).toEqual(['handoff.withdrawn', 'message.moved']);
  });

  it('is finished, with its outcome, by the receiver', () => {
    const run = offered();
    expect(run.refusal(bob, finish('H-1')).code).toBe('illegal');
    run.given(bob, accept('H-1'));
    expect(run.refusal(cleo, finish('H-1')).code).toBe('not_allowed');
    expect(run.when(bob, finish('H-1')).types).toEqual(['handoff.finished', 'message.moved']);
    expect(run.row('handoff', 'H-1')).toMatchObject({ status: 'finished', outcome: 'Merged.', acceptedBy: 'S-2' });
    expect(run.refusal(bob, finish('H-1')).code).toBe('illegal');
  });

  it.each([
    ['crashed', (run: ReturnType<typeof scenario>) => run.wait(31 * MINUTE_MS).given(sam, { type: 'run.supervise' })],
    ['ended', (run: ReturnType<typeof scenario>) => run.given(ada, leave('context-exhausted'))],
  ])('of a session that %s is offered by a person', (_, end) => {
    const run = end(scenario('p1').given(ada, start('p1'), checkpoint('half')));
    const fault = run.refusal(cleo, offer('cleo', { from: 'S-1' }));
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints[0]).toContain('holdfast handoff --to cleo --from S-1');
    expect(run.when(person('sam'), offer('bob', { from: 'S-1' })).body('handoff.offered').steps).toEqual(['p1']);
    expect(run.when(bob, accept('H-1')).types).toEqual(['session.started', 'handoff.accepted', 'message.moved']);
    expect(run.step('p1')).toMatchObject({ holder: { agent: 'bob' }, checkpoint: { name: 'half' } });
  });

  it('comes with a snapshot of the sender and a message that points to it', () => {
    const run = scenario('p1').given(ada, start('p1'));
    const outcome = run.when(ada, offer('bob', { message: 'Yours.' }));
    expect(outcome.types).toEqual(['snapshot.taken', 'message.sent', 'handoff.offered']);
    expect(outcome.body('handoff.offered').snapshot).toBe('P-1');
    expect(outcome.body('message.sent')).toMatchObject({ to: 'bob', type: 'handoff-ready', about: 'H-1' });
    expect(outcome.body('message.sent').body).toContain('P-1');
    run.given(bob, clarify('H-1'));
    expect(run.state.messages.get('M-1')?.replies).toMatchObject([{ from: 'bob', body: 'Which branch?' }]);
    run.given(ada, withdraw('H-1'));
    expect(run.row('message', 'M-1')).toMatchObject({ status: 'closed', disposition: 'withdrawn' });
  });

  it('is used up by the first progress of its receiver, and not before', () => {
    const run = offered().given(bob, accept('H-1'), leave());
    expect(run.state.handoffs.get('H-1')).toMatchObject({ status: 'accepted', progressAt: null });
    expect(run.when(bob, accept('H-1')).body('handoff.accepted')).toMatchObject({ session: 'S-3' });
    run.given(bob, checkpoint('more', 'p1'));
    expect(run.state.handoffs.get('H-1')?.progressAt).not.toBeNull();
    const ended = run.when(bob, leave());
    expect(ended.body('handoff.finished').outcome).toBe(
      'S-3 ended: completed. p1 in progress at more, p2 in progress.',
    );
    expect(run.row('message', 'M-1')).toMatchObject({ status: 'closed', disposition: 'resolved' });
    expect(run.refusal(bob, accept('H-1')).code).toBe('illegal');
  });

  it('leaves no mail behind, however it ends', () => {
    const finished = offered().given(bob, accept('H-1'), checkpoint('more', 'p1'), leave());
    const crashed = offered()
      .given(bob, accept('H-1'), checkpoint('more', 'p1'))
      .wait(31 * MINUTE_MS)
      .given(sam, { type: 'run.supervise' });
    const declined = offered().given(bob, decline('H-1'));
    expect(declined.state.messages.get('M-1')?.status).toBe('actioned');
    declined.given(ada, offer('cleo')).given(cleo, accept('H-2'), checkpoint('more', 'p1'), leave());
    for (const run of [finished, crashed, declined]) expect([...run.state.messages.keys()]).toEqual([]);
  });

  it('follows its receiver into another session of the same conversation', () => {
    const client = { name: 'codex', id: 'c-1' };
    const run = offered().given(bob, { type: 'session.start', client }).given(bob, accept('H-1'));
    run.given(bob, { type: 'session.start', client });
    expect(run.state.handoffs.get('H-1')).toMatchObject({ acceptedBy: 'S-3', progressAt: null });
    run.given(bob, checkpoint('more', 'p1'), leave());
    expect(run.row('handoff', 'H-1')).toMatchObject({ status: 'finished', acceptedBy: 'S-3' });
  });

  it('has its outcome recorded when the receiver crashes or hands it on', () => {
    const taken = () => offered().given(bob, accept('H-1'), checkpoint('more', 'p1'));
    const crashed = taken()
      .wait(31 * MINUTE_MS)
      .given(sam, { type: 'run.supervise' });
    expect(crashed.row('handoff', 'H-1').outcome).toContain('S-2 crashed. p1 in progress at more');
    const on = taken().given(bob, offer('cleo')).given(cleo, accept('H-2'));
    expect(on.row('handoff', 'H-1').outcome).toContain('handed on in H-2. p1 in progress');
  });

  it('is not found under a wrong id', () => {
    expect(offered().refusal(bob, accept('H-11'))).toMatchObject({ code: 'not_found', data: { near: ['H-1'] } });
    expect(offered().refusal(sam, offer('bob', { from: 'S-7' })).code).toBe('not_found');
  });
});

describe('a snapshot', () => {
  it.each(['ada', 'constructor', 'toString'])('is numbered per agent: %s', (name) => {
    const run = scenario('p1').given(agent(name), start('p1'));
    const take: Command = { type: 'snapshot.take', next: 'Go on.', why: 'Tea.' };
    expect(run.when(agent(name), take).body('snapshot.taken')).toMatchObject({
      id: 'P-1',
      sequence: 1,
      session: 'S-1',
    });
    expect(run.when(agent(name), take).body('snapshot.taken')).toMatchObject({ id: 'P-2', sequence: 2 });
    expect(run.state.next).toMatchObject({ text: 'Go on.', step: 'p1' });
    expect(run.state.lastSnapshot).toMatchObject({ id: 'P-2', agent: name });
  });

  it('needs a session', () => {
    expect(scenario().refusal(ada, { type: 'snapshot.take' }).code).toBe('usage');
  });
});
