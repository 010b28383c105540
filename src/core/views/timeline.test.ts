import { describe, expect, it } from 'vitest';
import { ada, bob, complete, leave, MINUTE_MS, type Scenario, sam, scenario, start } from '../rules/scenario.suite.ts';
import { foldTimeline, gatherUsage } from './timeline.ts';

function timelineOf(run: Scenario) {
  const folded = foldTimeline();
  for (const event of run.events) folded.add(event);
  return folded.timeline();
}

describe('a timeline', () => {
  it('shows who held a step, when, and how that ended', () => {
    const run = scenario('a', 'b').given(ada, start('a'), { type: 'step.checkpoint', name: 'drafted' });
    const begun = run.now;
    run.wait(5 * MINUTE_MS).given(ada, complete(), start('b'));
    const later = run.now;
    run.wait(MINUTE_MS).given(ada, leave());
    const [session] = timelineOf(run).sittings;
    expect(session).toMatchObject({ session: 'S-1', agent: 'ada', from: begun, to: run.now, handedTo: null });
    expect(session?.steps).toEqual([
      { step: 'a', from: begun, to: later, end: 'completed', checkpoints: [{ name: 'drafted', at: begun }] },
      { step: 'b', from: later, to: run.now, end: 'interrupted', checkpoints: [] },
    ]);
  });

  it('shows to whom work was handed over', () => {
    const run = scenario('a').given(ada, start('a'), { type: 'handoff.offer', to: 'bob' });
    run.given(bob, { type: 'handoff.accept', id: 'H-1' }).given(bob, complete('a'));
    const [first, second] = timelineOf(run).sittings;
    expect(first).toMatchObject({ agent: 'ada', handedTo: 'bob', steps: [{ step: 'a', end: 'handed' }] });
    expect(second).toMatchObject({ agent: 'bob', steps: [{ step: 'a', end: 'completed' }] });
  });

  it('shows a crash at its time, not when it was noticed', () => {
    const run = scenario('a').given(ada, start('a'));
    const seen = run.now;
    run.wait(60 * MINUTE_MS).given(sam, { type: 'run.supervise' });
    const [session] = timelineOf(run).sittings;
    expect(session).toMatchObject({ status: 'crashed', to: seen, steps: [{ end: 'crashed' }] });
  });
});

describe('token use', () => {
  it('is summed by agent and part of the time, and none is lost', () => {
    const points = Array.from({ length: 1000 }, (_, index) => ({
      at: new Date(index * MINUTE_MS).toISOString(),
      agent: index % 2 === 0 ? 'ada' : 'bob',
      session: null,
      model: null,
      input: 1,
      output: 2,
      cached: 3,
    }));
    const gathered = gatherUsage(points, 50);
    expect(gathered.length).toBeLessThanOrEqual(102);
    expect(gathered.reduce((sum, one) => sum + one.output, 0)).toBe(2000);
    expect(gatherUsage(points.slice(0, 3), 50)).toEqual(points.slice(0, 3));
  });
});
