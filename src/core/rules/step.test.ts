import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import {
  ada,
  agent,
  block,
  bob,
  checkpoint,
  complete,
  fail,
  leave,
  MINUTE_MS,
  phase,
  release,
  reopen,
  retry,
  sam,
  scenario,
  settle,
  skip,
  start,
  startSession,
  task,
} from './scenario.suite.ts';

const gate = (step: string, open: boolean): Command => ({ type: 'gate.set', step, open });

describe('starting a step', () => {
  it('opens a session for an agent that has none, and gives it the step', () => {
    const run = scenario('p1');
    const outcome = run.when(ada, start('p1'));
    expect(outcome.types).toEqual(['session.started', 'step.started']);
    expect(outcome.decided).toMatchObject({ actor: ada.actor, session: 'S-1' });
    expect(run.step('p1')).toMatchObject({
      status: 'in_progress',
      holder: { session: 'S-1', agent: 'ada', claim: 'L-1' },
    });
  });

  it('is a no-op for the one who holds it', () => {
    const run = scenario('p1').given(ada, start('p1'));
    expect(run.when(ada, start('p1'))).toMatchObject({ types: [], changed: [] });
  });

  it('is refused while another session holds it', () => {
    const run = scenario('p1').given(ada, start('p1'));
    const fault = run.refusal(bob, start('p1'));
    expect(fault.code).toBe('held');
    expect(fault.data).toMatchObject({ step: 'p1', session: 'S-1', agent: 'ada', until: '2026-01-02T10:30:00.000Z' });
    expect(fault.hints.join()).toContain('holdfast wait p1');
  });

  it('waits for the steps it comes after', () => {
    const run = scenario('p1', 'p2', task('p3', { after: ['p1', 'p2'] })).given(ada, start('p1'));
    const fault = run.refusal(ada, start('p3'));
    expect(fault.code).toBe('blocked');
    expect(fault.data).toMatchObject({
      obstacles: [
        { kind: 'after', step: 'p1', status: 'in_progress' },
        { kind: 'after', step: 'p2', status: 'pending' },
      ],
    });
    run.given(ada, complete()).given(sam, skip('p2'));
    expect(run.when(ada, start('p3')).types).toEqual(['step.started']);
  });

  it('waits for a phase as a whole, and for what its own phase waits for', () => {
    const run = scenario(
      phase('a'),
      task('a1', { parent: 'a' }),
      task('a2', { parent: 'a' }),
      phase('b', { after: ['a'] }),
      task('b1', { parent: 'b' }),
    );
    run.given(ada, start('a1'), complete());
    expect(run.refusal(ada, start('b1')).message).toContain('`a` comes first and is in progress');
    run.given(ada, start('a2'), complete());
    expect(run.when(ada, start('b1')).types).toEqual(['step.started']);
  });

  it('waits for the gate, its own and its phase’s', () => {
    const run = scenario(phase('a', { gate: true }), task('a1', { parent: 'a', gate: true }));
    const fault = run.refusal(ada, start('a1'));
    expect(fault.code).toBe('blocked');
    expect(fault.hints).toEqual([
      'A person opens the gate with `holdfast gate a open`.',
      'A person opens the gate with `holdfast gate a1 open`.',
    ]);
    run.given(sam, gate('a', true), gate('a1', true));
    expect(run.when(ada, start('a1')).types).toContain('step.started');
  });

  it.each([
    ['on the step', 'a1'],
    ['on its phase', 'a'],
  ])('is refused by an active blocker %s', (_, affects) => {
    const run = scenario(phase('a'), task('a1', { parent: 'a' })).given(ada, block([affects]));
    const fault = run.refusal(ada, start('a1'));
    expect(fault.code).toBe('blocked');
    expect(fault.message).toContain(`B-1 blocks \`${affects}\``);
    expect(fault.hints.join()).toContain('holdfast settle B-1');
    expect(run.given(ada, settle('B-1', 'bypassed', 'Use the stub.')).when(ada, start('a1')).types).toContain(
      'step.started',
    );
  });

  it('is not refused by a blocker that affects free text only', () => {
    const run = scenario('p1').given(ada, block(['the whole of the login']));
    expect(run.when(ada, start('p1')).types).toContain('step.started');
  });

  it('is illegal on a failed step, with retry as hint, and on a finished one', () => {
    const run = scenario('p1').given(ada, start('p1'), fail());
    const fault = run.refusal(ada, start('p1'));
    expect(fault.code).toBe('illegal');
    expect(fault.hints[0]).toContain('holdfast retry p1');
    expect(fault.data).toMatchObject({ noun: 'step', from: 'failed', move: 'start', legal: ['retry', 'skip'] });
    run.given(ada, retry('p1'), complete());
    expect(run.refusal(ada, start('p1')).hints[0]).toContain('holdfast reopen p1');
  });

  it('is not for a step with children', () => {
    const run = scenario(phase('a'), task('a1', { parent: 'a' }));
    for (const command of [start('a'), complete('a'), fail('a'), checkpoint('x', 'a'), reopen('a'), release('a')]) {
      const fault = run.refusal(ada, command);
      expect(fault.code).toBe('illegal');
      expect(fault.message).toContain('derived');
    }
  });

  it('accepts the alias of a step', () => {
    const run = scenario(task('p1', { alias: 'TASK-007' }));
    expect(run.when(ada, start('TASK-007')).body('step.started').step).toBe('p1');
  });

  it('offers near names for an unknown key', () => {
    const fault = scenario('deploy', 'test').refusal(ada, start('delpoy'));
    expect(fault).toMatchObject({ code: 'not_found', data: { near: ['deploy'] } });
  });
});

describe('working on a step', () => {
  it('records checkpoints with what was built, and the next action', () => {
    const run = scenario('p1').given(ada, start('p1'), {
      type: 'step.checkpoint',
      name: 'red',
      next: 'Make it green.',
      artifacts: [{ path: 'a.ts', sha256: 'x' }],
    });
    expect(run.step('p1')).toMatchObject({
      checkpoint: { name: 'red', session: 'S-1' },
      artifacts: [{ path: 'a.ts' }],
    });
    expect(run.state.next).toMatchObject({ text: 'Make it green.', step: 'p1' });
  });

  it('clears the checkpoint and the next action when it completes', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), {
      type: 'step.checkpoint',
      name: 'red',
      next: 'Make it green.',
    });
    run.given(ada, { type: 'step.complete', summary: 'Done.\nAll of it.', artifacts: [{ path: 'a.ts' }] });
    expect(run.step('p1')).toMatchObject({
      status: 'completed',
      checkpoint: null,
      holder: null,
      summary: 'Done. All of it.',
    });
    expect(run.state.next).toBeNull();
    expect(run.row('result', 'p1')).toMatchObject({ summary: 'Done.\nAll of it.', artifacts: [{ path: 'a.ts' }] });
  });

  it('keeps a next action that was given for another step', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), start('p2'), {
      type: 'step.checkpoint',
      step: 'p2',
      name: 'red',
      next: 'Go on with p2.',
    });
    expect(run.given(ada, complete('p1')).state.next?.text).toBe('Go on with p2.');
  });

  it('drops the next action of a session without a step, once another step is done', () => {
    const run = scenario('p1', 'p2', 'p3').given(ada, start('p1'), complete(), leave('completed', 'Start p2.'));
    expect(run.state.next).toMatchObject({ text: 'Start p2.', step: null });
    expect(run.given(bob, start('p2')).state.next?.text).toBe('Start p2.');
    expect(run.given(bob, complete()).state.next).toBeNull();
  });

  it('needs the step to be held by the session that writes', () => {
    const run = scenario('p1').given(ada, start('p1')).given(bob, startSession());
    for (const command of [checkpoint('x', 'p1'), complete('p1'), fail('p1')]) {
      expect(run.refusal(bob, command)).toMatchObject({ code: 'held', data: { session: 'S-1' } });
    }
    expect(run.refusal(bob, release('p1')).code).toBe('held');
  });

  it('finds the one step that is held, and refuses where there are several or none', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'));
    const none = run.refusal(bob, checkpoint('x'));
    expect(none.code).toBe('not_found');
    expect(none.hints[0]).toContain('`p1` is held by ada.');
    expect(run.when(ada, checkpoint('x')).body('step.checkpointed').step).toBe('p1');
    const several = run.given(ada, start('p2')).refusal(ada, complete());
    expect(several).toMatchObject({ code: 'usage', data: { steps: ['p1', 'p2'] } });
  });

  it('refuses a checkpoint on a finished step, and completing twice is a no-op unless it says more', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'), complete());
    expect(run.refusal(ada, checkpoint('x', 'p1')).code).toBe('illegal');
    expect(run.when(ada, complete('p1')).types).toEqual([]);
    expect(run.refusal(ada, { type: 'step.complete', step: 'p1', summary: 'More.' }).code).toBe('illegal');
  });

  it('is released by its holder or a person', () => {
    const run = scenario('p1').given(ada, start('p1'), checkpoint('x'));
    expect(run.when(ada, release('p1')).types).toEqual(['step.released']);
    expect(run.step('p1')).toMatchObject({ status: 'pending', holder: null, checkpoint: null });
    expect(run.when(ada, release('p1')).types).toEqual([]);
    expect(run.given(ada, start('p1')).when(sam, release('p1')).types).toEqual(['step.released']);
  });
});

describe('a step whose session is gone', () => {
  it('stays in progress, keeps its checkpoint, and is taken over without a retry', () => {
    const run = scenario('p1').given(ada, start('p1'), checkpoint('half'), leave('context-exhausted'));
    expect(run.view('p1')).toMatchObject({ status: 'in_progress', interrupted: true });
    const fault = run.refusal(bob, complete('p1'));
    expect(fault).toMatchObject({ code: 'illegal', data: { step: 'p1', lastSession: 'S-1' } });
    expect(fault.hints[0]).toContain('holdfast start p1');
    expect(run.when(bob, start('p1')).body('step.started')).toMatchObject({ session: 'S-2', takenOverFrom: 'S-1' });
    expect(run.step('p1')).toMatchObject({ checkpoint: { name: 'half' }, retries: 0, holder: { agent: 'bob' } });
  });

  it('is taken over from a session whose lease ran out, which is marked first', () => {
    const run = scenario('p1')
      .given(ada, start('p1'), checkpoint('half'))
      .wait(31 * MINUTE_MS);
    expect(run.when(bob, start('p1')).types).toEqual([
      'session.ended',
      'snapshot.taken',
      'session.started',
      'step.started',
    ]);
    expect(run.session('S-1').status).toBe('crashed');
    expect(run.step('p1')).toMatchObject({ crashes: 1, checkpoint: { name: 'half' }, retries: 0 });
  });
});

describe('failing and retrying', () => {
  it('raises an error that stays open until the step is completed', () => {
    const run = scenario('p1').given(ada, start('p1'));
    expect(run.when(ada, fail()).types).toEqual(['item.raised', 'step.failed']);
    expect(run.step('p1')).toMatchObject({ status: 'failed', error: 'E-1' });
    expect(run.state.items.get('E-1')).toMatchObject({ kind: 'error', status: 'open', type: 'runtime', step: 'p1' });
    const outcome = run.when(ada, { type: 'step.retry', step: 'p1', note: 'With more memory.' });
    expect(outcome.types).toEqual(['step.retried']);
    expect(run.step('p1')).toMatchObject({ status: 'in_progress', retries: 1, error: null });
    expect(run.state.items.has('E-1')).toBe(true);
    const done = run.when(ada, { type: 'step.complete', step: 'p1' });
    expect(done.body('item.settled')).toEqual({ id: 'E-1', as: 'resolved', note: 'completed at retry 1' });
    expect([...run.state.items]).toEqual([]);
  });

  it('leaves the third retry to a person', () => {
    const run = scenario('p1').given(ada, start('p1'), fail(), retry('p1'), fail(), retry('p1'), fail());
    const fault = run.refusal(ada, retry('p1'));
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints[0]).toContain('`holdfast retry p1 --open`');
    expect(run.when(sam, retry('p1')).types).toEqual(['session.started', 'step.retried']);
    expect([...run.state.items.keys()]).toEqual(['E-1', 'E-2', 'E-3']);
  });

  it('may be left open for others by a person without a session', () => {
    const run = scenario('p1').given(ada, start('p1'), checkpoint('half'), fail(), block(['p1']));
    const outcome = run.when(sam, { type: 'step.retry', step: 'p1', note: 'The disk is free again.', open: true });
    expect(outcome.types).toEqual(['step.retried']);
    expect(outcome.decided).toMatchObject({ actor: sam.actor, session: null });
    expect(outcome.body('step.retried')).toEqual({ step: 'p1', attempt: 1, note: 'The disk is free again.' });
    expect(run.view('p1')).toMatchObject({ status: 'in_progress', interrupted: true });
    expect(run.step('p1')).toMatchObject({ holder: null, error: null, endedAt: null, checkpoint: { name: 'half' } });
    expect(run.refusal(bob, start('p1')).code).toBe('blocked');
    run.given(sam, settle('B-1', 'resolved')).given(bob, start('p1'));
    expect(run.step('p1')).toMatchObject({ holder: { agent: 'bob' }, retries: 1 });
    run.given(bob, fail(), { type: 'step.retry', step: 'p1', open: true }, start('p1'), fail());
    const fault = run.refusal(bob, { type: 'step.retry', step: 'p1', open: true });
    expect([fault.code, fault.hints[0]]).toEqual(['not_allowed', expect.stringContaining('retry p1 --open`')]);
  });

  it('needs a failed step without obstacles', () => {
    const run = scenario('p1').given(ada, start('p1'));
    expect(run.refusal(ada, retry('p1')).code).toBe('illegal');
    expect(run.given(ada, fail(), block(['p1'])).refusal(ada, retry('p1')).code).toBe('blocked');
  });
});

describe('skipping', () => {
  it('is for a person, and for pending and failed steps', () => {
    const run = scenario('p1', 'p2', 'p3').given(ada, start('p1'), fail());
    expect(run.refusal(ada, skip('p2')).code).toBe('not_allowed');
    expect(run.when(sam, skip('p1')).types).toEqual(['item.settled', 'step.skipped']);
    expect(run.when(sam, skip('p2')).types).toEqual(['step.skipped']);
    expect(run.when(sam, skip('p2')).types).toEqual([]);
    expect(run.given(ada, start('p3')).refusal(sam, skip('p3')).code).toBe('illegal');
  });

  it('of a parent skips its pending and failed steps, and is refused while one is in progress', () => {
    const below = ['a1', 'a2', 'a3', 'a4'].map((key) => task(key, { parent: key === 'a4' ? 'ab' : 'a' }));
    const run = scenario(phase('a'), phase('ab', { parent: 'a' }), ...below, 'b');
    run.given(ada, start('a1'), complete(), start('a2'), fail(), start('a3'));
    const fault = run.refusal(sam, skip('a'));
    expect(fault.code).toBe('illegal');
    expect(fault.hints[0]).toContain('holdfast release a3');
    run.given(ada, release('a3'));
    const { events } = run.when(sam, skip('a'));
    const skipped = events.filter((event) => event.type === 'step.skipped').map((event) => event.body.step);
    expect(skipped).toEqual(['a4', 'a2', 'a3']);
    expect(run.view('a').status).toBe('completed');
    expect(run.refusal(sam, { ...skip('a1') }).code).toBe('illegal');
  });
});

describe('gates', () => {
  it('are opened and closed by a person', () => {
    const run = scenario(task('p1', { gate: true }), 'p2');
    const fault = run.refusal(ada, gate('p1', true));
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints[0]).toContain('`holdfast gate p1 open`');
    expect(run.when(sam, gate('p1', true)).types).toEqual(['gate.opened']);
    expect(run.when(ada, gate('p1', true)).types).toEqual([]);
    expect(run.when(sam, gate('p1', false)).types).toEqual(['gate.closed']);
    expect(run.when(sam, gate('p2', false)).types).toEqual(['gate.closed']);
    run.given(sam, gate('p1', true)).given(agent('cleo'), start('p1'));
    expect(run.refusal(sam, gate('p1', false)).code).toBe('illegal');
  });
});
