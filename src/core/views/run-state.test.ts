import { describe, expect, it } from 'vitest';
import type { Session } from '../fold/state.ts';
import type { Command } from '../journal/command.ts';
import {
  ada,
  block,
  bob,
  complete,
  fail,
  leave,
  MINUTE_MS,
  type Scenario,
  sam,
  scenario,
  start,
  task,
  unopened,
} from '../rules/scenario.suite.ts';
import { runFactsOf } from './run-facts.ts';
import { isUnfinished, sessionWordOf, stateOfRun } from './run-state.ts';

const stateWord = (run: Scenario) => stateOfRun(run.state, run).word;
const stateName = (run: Scenario) => stateOfRun(run.state, run).state;
const session = (run: Scenario) => sessionWordOf(run.state, [...run.state.sessions.values()][0] as Session, run);

describe('a planned run', () => {
  it('is not started without a session, and works once a session has a step', () => {
    const run = scenario('a', 'b');
    expect(stateWord(run)).toBe('not started');
    run.given(ada, start('a'));
    expect(stateWord(run)).toBe('working');
    expect(stateOfRun(run.state, run).why).toBe('ada on a');
    run.given(ada, complete());
    expect(stateWord(run)).toBe('working');
    expect(session(run)).toBe('working');
  });

  it('is not responding when its agent lives and records nothing, cut off when the agent does not live', () => {
    const run = scenario('a')
      .given(ada, start('a'))
      .wait(31 * MINUTE_MS);
    expect(stateWord(run)).toBe('cut off');
    run.beats.set('S-1', run.now);
    expect(stateWord(run)).toBe('not responding');
    expect(stateName(run)).toBe('working');
    expect(session(run)).toBe('not responding');
    run.owners.set('S-1', 'dead');
    expect(stateWord(run)).toBe('cut off');
    expect(session(run)).toBe('cut off');
  });

  it('is open when its agent left in the middle, and cut off when it crashed there', () => {
    const left = scenario('a').given(ada, start('a'), leave());
    expect(stateWord(left)).toBe('open');
    expect(stateOfRun(left.state, left).why).toBe('a step');
    const crashed = scenario('a')
      .given(ada, start('a'))
      .wait(60 * MINUTE_MS);
    crashed.given(sam, { type: 'run.supervise' });
    expect(crashed.state.sessions.size).toBe(0);
    expect(stateWord(crashed)).toBe('cut off');
  });

  it('is blocked when no remaining step can be started', () => {
    const run = scenario('a', task('b', { after: ['a'] })).given(ada, block(['a']));
    expect(stateWord(run)).toBe('blocked');
  });

  it('needs a person when a gate, a question or a failure is all that is in the way', () => {
    expect(stateWord(scenario(task('a', { gate: true })))).toBe('needs you');
    const failed = scenario('a').given(ada, start('a'), fail(), leave());
    expect(stateOfRun(failed.state, failed)).toMatchObject({ state: 'open', word: 'needs you' });
  });

  it('has the state it ended with', () => {
    expect(stateWord(scenario('a').given(ada, start('a'), complete()))).toBe('completed');
  });

  it('stays unfinished until every step is done', () => {
    const run = scenario('a', 'b').given(ada, start('a'), complete(), leave());
    expect(isUnfinished(stateOfRun(run.state, run), runFactsOf(run.state))).toBe(true);
    run.given(ada, start('b'), complete(), leave());
    expect(isUnfinished(stateOfRun(run.state, run), runFactsOf(run.state))).toBe(false);
  });
});

const begin = (request = 'Fix the margins', kind: 'request' | 'answer' = 'request'): Command => ({
  type: 'turn.begin',
  kind,
  request,
});
const end = (said = 'Done.', asks = false): Command => ({ type: 'turn.end', outcome: 'done', said, asks });
const command = (outcome: 'succeeded' | 'failed' | null, name = 'npm test'): Command[] => [
  { type: 'effect.begin', name, class: 'unknown', key: name },
  ...(outcome === null ? [] : [{ type: 'effect.end', id: name, outcome } as const]),
];

function adHoc(...commands: Command[]): Scenario {
  const run = unopened().given(ada, { type: 'run.open', kind: 'ad-hoc', title: 'Work', workspace: 'W-1' });
  return run.given(ada, { type: 'session.start' }, ...commands);
}

describe('an ad hoc run', () => {
  it('works in a turn and is finished after it, without an event', () => {
    const run = adHoc(begin());
    expect(stateName(run)).toBe('working');
    run.given(ada, end());
    expect(stateName(run)).toBe('finished');
    expect(run.state.run?.status).toBe('active');
    run.given(ada, begin('And the font'));
    expect(stateName(run)).toBe('working');
  });

  it('is cut off when its session is gone in a turn, or ended before it, and not when the turn was over', () => {
    const gone = adHoc(begin());
    gone.owners.set('S-1', 'dead');
    expect(stateName(gone)).toBe('cut off');
    expect(stateName(adHoc(begin(), leave()))).toBe('cut off');
    const over = adHoc(begin(), end());
    over.owners.set('S-1', 'dead');
    expect(stateName(over)).toBe('finished');
  });

  it('waits for the answer to its last words until a turn begins', () => {
    const run = adHoc(begin(), end('Which one?', true));
    expect(stateOfRun(run.state, run)).toMatchObject({ state: 'waiting', word: 'needs you' });
    run.given(ada, begin('The second', 'answer'));
    expect(stateName(run)).toBe('working');
    expect(run.state.requests.latest).toMatchObject({ text: 'The second', question: 'Which one?' });
  });

  it('waits in a turn when a tool asks the user, until the tool has an answer', () => {
    const asking: Command = { type: 'effect.begin', name: 'Which one?', class: 'read', asks: 'question' };
    const run = adHoc(begin(), asking);
    expect(stateName(run)).toBe('waiting');
    run.given(ada, { type: 'effect.end', id: 'X-1', outcome: 'succeeded' });
    expect(stateName(run)).toBe('working');
  });

  it('does not wait while another session works after a question that nobody answered', () => {
    const asking: Command = { type: 'effect.begin', name: 'The plan', class: 'read', asks: 'plan' };
    const run = adHoc(begin(), asking);
    run.owners.set('S-1', 'dead');
    expect(stateName(run)).toBe('waiting');
    run.wait(MINUTE_MS).given(bob, { type: 'session.start' }, begin('Go on'));
    expect(stateName(run)).toBe('working');
    run.owners.set('S-2', 'dead');
    expect(stateName(run)).toBe('cut off');
    run.owners.delete('S-2');
    run.given(bob, end());
    expect(stateName(run)).toBe('waiting');
  });

  it('is open with a failed command until another one succeeded', () => {
    const run = adHoc(begin(), ...command('failed'), end());
    expect(stateOfRun(run.state, run)).toMatchObject({ state: 'open', why: 'a failed command' });
    run.given(ada, begin('Again'), ...command('succeeded'), end());
    expect(stateName(run)).toBe('finished');
    expect(run.state.commands.failed).toBeNull();
  });

  it('keeps the failure of a command that was not run again, also if others succeed', () => {
    const run = adHoc(begin(), ...command('failed'), ...command('succeeded', 'npm run build'), end());
    expect(run.state.commands).toMatchObject({ last: { name: 'npm run build' }, failed: { name: 'npm test' } });
  });

  it('is open with an effect that never ended, and after a turn that failed', () => {
    const uncertain = adHoc(begin(), ...command(null), end());
    expect(stateOfRun(uncertain.state, uncertain)).toMatchObject({ state: 'open', why: 'an uncertain effect' });
    const failure = { reason: 'rate-limit', message: 'Too many requests' } as const;
    const stopped = adHoc(begin(), { type: 'turn.end', outcome: 'failed', failure });
    expect(stateOfRun(stopped.state, stopped)).toMatchObject({ state: 'open', why: 'a failed turn' });
  });

  it('is open with entries of a to-do list, and never becomes planned by one', () => {
    const todo: Command = { type: 'plan.add', steps: [{ key: 'todo-1', title: 'Margins', kind: 'task' }] };
    const run = adHoc(begin(), todo, end());
    expect(stateOfRun(run.state, run)).toMatchObject({ state: 'open', why: 'a to-do entry' });
    run.given(ada, start('todo-1'), complete('todo-1'));
    expect(run.state.run).toMatchObject({ kind: 'ad-hoc', status: 'active' });
    run.given(ada, { type: 'plan.add', steps: [{ key: 'p1', title: 'Fonts', kind: 'task' }] });
    expect(run.state.run?.kind).toBe('planned');
  });

  it('counts the latest turn of several sessions, and a working one wins', () => {
    const run = adHoc(begin());
    run.owners.set('S-1', 'dead');
    run.given(bob, { type: 'session.start' });
    const as = { ...bob, session: 'S-2' };
    run.given(as, begin('Go on'));
    expect(stateName(run)).toBe('working');
    run.given(as, end());
    expect(stateName(run)).toBe('finished');
  });

  it('is trivial until something was done in it', () => {
    const run = adHoc(begin('Hello'), end());
    expect(runFactsOf(run.state).isTrivial).toBe(true);
    run.given(ada, begin('Change it'), { type: 'files.see', artifacts: [{ path: 'src/a.ts', sha256: null }] });
    expect(runFactsOf(run.state)).toMatchObject({ isTrivial: false, words: expect.arrayContaining(['chang']) });
  });

  it('has the request that came when it was finished as its current one', () => {
    const run = adHoc(begin('Sort the guest list'), end(), begin('Print seat cards'));
    expect(run.state.requests).toMatchObject({
      first: { text: 'Sort the guest list' },
      current: { text: 'Print seat cards' },
    });
    run.given(ada, begin('Eight per page'));
    expect(run.state.requests).toMatchObject({
      current: { text: 'Print seat cards' },
      latest: { text: 'Eight per page' },
    });
  });
});
