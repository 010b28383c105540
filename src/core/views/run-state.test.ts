import { describe, expect, it } from 'vitest';
import type { Session } from '../fold/state.ts';
import {
  ada,
  block,
  complete,
  fail,
  leave,
  MINUTE_MS,
  type Scenario,
  sam,
  scenario,
  start,
  task,
} from '../rules/scenario.suite.ts';
import { runStateOf, sessionStateOf } from './run-state.ts';

const stateWord = (run: Scenario) => runStateOf(run.state, run).word;
const session = (run: Scenario) => sessionStateOf(run.state, [...run.state.sessions.values()][0] as Session, run);

describe('a run', () => {
  it('is paused without a session, and works once a session has a step', () => {
    const run = scenario('a', 'b');
    expect(stateWord(run)).toBe('paused');
    run.given(ada, start('a'));
    expect(stateWord(run)).toBe('working');
    expect(runStateOf(run.state, run).why).toBe('ada on a');
    run.given(ada, complete());
    expect(stateWord(run)).toBe('working');
    expect(session(run)).toBe('idle');
  });

  it('is stuck when its agent lives and records nothing, dead when the agent does not live', () => {
    const run = scenario('a')
      .given(ada, start('a'))
      .wait(31 * MINUTE_MS);
    expect(stateWord(run)).toBe('dead');
    run.beats.set('S-1', run.now);
    expect(stateWord(run)).toBe('stuck');
    expect(session(run)).toBe('stuck');
    run.owners.set('S-1', 'dead');
    expect(stateWord(run)).toBe('dead');
    expect(session(run)).toBe('dead');
  });

  it('is paused when its agent left in the middle, and dead when it crashed there', () => {
    const left = scenario('a').given(ada, start('a'), leave());
    expect(stateWord(left)).toBe('paused');
    const crashed = scenario('a')
      .given(ada, start('a'))
      .wait(60 * MINUTE_MS);
    crashed.given(sam, { type: 'run.supervise' });
    expect(crashed.state.sessions.size).toBe(0);
    expect(stateWord(crashed)).toBe('dead');
  });

  it('is blocked when no remaining step can be started', () => {
    const run = scenario('a', task('b', { after: ['a'] })).given(ada, block(['a']));
    expect(stateWord(run)).toBe('blocked');
  });

  it('waits for a person when a gate, a question or a failure is all that is in the way', () => {
    expect(stateWord(scenario(task('a', { gate: true })))).toBe('waiting');
    const failed = scenario('a').given(ada, start('a'), fail(), leave());
    expect(stateWord(failed)).toBe('waiting');
  });

  it('has the state it ended with', () => {
    expect(stateWord(scenario('a').given(ada, start('a'), complete()))).toBe('completed');
  });
});
