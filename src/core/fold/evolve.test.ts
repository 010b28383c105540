import { describe, expect, it } from 'vitest';
import { GENESIS, seal } from '../journal/chain.ts';
import type { Command } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft } from '../rules/rule-context.ts';
import {
  ada,
  agent,
  block,
  bob,
  complete,
  decision,
  leave,
  scenario,
  settle,
  start,
  task,
} from '../rules/scenario.suite.ts';
import { planView } from '../views/plan.ts';
import { evolve, fold } from './evolve.ts';
import { count, nextId } from './ids.ts';
import { deserializeState, emptyState, forkState, serializeState } from './state-tables.ts';

const stamp = {
  run: 'work',
  at: '2026-01-02T10:00:00.000Z',
  actor: ada.actor,
  evidence: ada.evidence,
  session: null,
  key: null,
};
const history = (...drafts: Draft[]) => seal(drafts, stamp, { version: 0, hash: GENESIS });
const added = (step: string, parent: string | null = null, after: string[] = []) =>
  draft('step.added', { step, title: step, kind: 'task', parent, after });

describe('evolve', () => {
  it('keeps the artifacts of checkpoints in the result of a step', () => {
    const at = (name: string, path: string): Command => ({ type: 'step.checkpoint', name, artifacts: [{ path }] });
    const run = scenario('a').given(ada, start('a'), at('one', '01-req.md'), at('two', '01b.md'));
    run.given(ada, { type: 'step.complete', artifacts: [{ path: '01c.md' }] });
    expect(run.row('result', 'a')?.artifacts.map(({ path }) => path)).toEqual(['01-req.md', '01b.md', '01c.md']);
  });

  it('lets events that make no sense change nothing', () => {
    const state = fold(
      emptyState(),
      history(
        draft('run.completed', {}),
        draft('step.completed', { step: 'nowhere' }),
        draft('step.removed', { step: 'nowhere' }),
        draft('session.ended', { id: 'S-9', reason: 'crashed' }),
        draft('item.settled', { id: 'B-9', as: 'resolved' }),
        draft('effect.ended', { id: 'X-9', outcome: 'failed' }),
        draft('message.moved', { id: 'M-9', to: 'closed', note: '' }),
        draft('handoff.accepted', { id: 'H-9', session: 'S-9', claims: [{ step: 'nowhere', claim: 'L-1' }] }),
        draft('claim.released', { id: 'L-9' }),
        draft('mirror.removed', { format: 'gsd', path: 'x' }),
      ),
    );
    const untouched = Object.assign(emptyState(), { version: 10, totals: { ...emptyState().totals, events: 10 } });
    expect(serializeState(state)).toBe(serializeState(untouched));
  });

  it('folds a plan with cycles, and its views terminate', () => {
    const state = fold(
      emptyState(),
      history(
        added('a', 'b'),
        added('b', 'a'),
        added('c', 'c'),
        added('d', null, ['a', 'd']),
        added('e', null, ['f']),
        added('f', null, ['e']),
        draft('step.completed', { step: 'f' }),
        draft('step.reopened', { step: 'f', reason: 'x' }),
        draft('step.completed', { step: 'e' }),
      ),
    );
    const plan = planView(state);
    expect(plan.roots.map((view) => view.step.key)).toEqual(['d', 'e', 'f']);
    expect(plan.byKey.get('d')?.obstacles).toMatchObject([{ step: 'a' }, { step: 'd' }]);
  });

  it('does not bring a settled item back because it can be recalled', () => {
    const run = scenario().given(ada, block([]), settle('B-1', 'resolved'));
    const [event] = seal([draft('item.settled', { id: 'B-1', as: 'bypassed' })], stamp, { version: 9, hash: GENESIS });
    for (const recall of [undefined, run.recall]) {
      const state = forkState(run.state);
      if (event) evolve(state, event, recall);
      expect(state.items.size).toBe(0);
    }
  });

  it('keeps state small: what is settled, ended or closed is only in the touches', () => {
    const run = scenario('p1').given(ada, start('p1'), decision(), complete(), leave());
    expect(run.state.sessions.size).toBe(0);
    expect(run.row('session', 'S-1')).toMatchObject({ status: 'completed', completed: ['p1'], held: ['p1'] });
    expect(run.row('decision', 'D-1').status).toBe('active');
    expect(serializeState(run.state)).not.toContain('One file.');
  });

  it('never moves the last time a session was seen back', () => {
    const run = scenario('p1').given(ada, start('p1'));
    const seen = run.session('S-1').seenAt;
    run.wait(-60_000).given(ada, { type: 'step.checkpoint', name: 'x' });
    expect(run.state.sessions.get('S-1')?.seenAt).toBe(seen);
  });
});

describe('folded state', () => {
  it('survives serialization, with the order of rows', () => {
    const run = scenario('b', 'a')
      .given(ada, start('b'))
      .given(agent('constructor'), start('a'), { type: 'snapshot.take' });
    const copy = deserializeState(serializeState(run.state));
    expect(serializeState(copy)).toBe(serializeState(run.state));
    expect(copy.steps).toEqual(run.state.steps);
    expect([...copy.steps.keys()]).toEqual(['b', 'a']);
    expect(copy.snapshotSequences.get('constructor')).toBe(1);
  });

  it('is forked without being shared', () => {
    const run = scenario('p1');
    const before = serializeState(run.state);
    const fork = forkState(run.state);
    for (const event of scenario('p1', task('p2')).given(bob, start('p2')).events) evolve(fork, event);
    expect(serializeState(run.state)).toBe(before);
  });

  it('counts ids by prefix, wherever they come from', () => {
    const state = emptyState();
    count(state, 'D-7');
    count(state, 'D-3');
    count(state, 'OQ-031');
    expect(nextId(state, 'D')).toBe('D-8');
    expect(nextId(state, 'D', 2)).toBe('D-10');
    expect(state.counters).toEqual({ D: 7 });
  });
});
