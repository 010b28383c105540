import { expect, it } from 'vitest';
import { scenario } from '../rules/scenario.suite.ts';
import { sha256 } from '../sha256.ts';
import { chained } from './chain.ts';
import type { Event } from './event.ts';
import { chainVerifier } from './verify.ts';

function problemsIn(events: readonly Event[]): string[] {
  const verifier = chainVerifier();
  for (const event of events) verifier.push(event);
  return verifier.finish().map(({ message }) => message);
}

/** The events as version 0.1 recorded them: without evidence, which their hashes do not cover. */
function asRecordedBefore(events: readonly Event[]): Event[] {
  let { previous } = events[0] as Event;
  return events.map(({ evidence: _, ...event }) => {
    const old = { ...event, previous } as Event;
    old.hash = sha256(chained(old));
    previous = old.hash;
    return old;
  });
}

it('covers the evidence of each event', () => {
  const { events } = scenario('t1');
  expect(events.map((event) => event.evidence)).toEqual(['terminal', 'terminal']);
  expect(problemsIn(events)).toEqual([]);
  const forged = events.map((event, index) => (index === 1 ? { ...event, evidence: 'token:ada' as const } : event));
  expect(problemsIn(forged)).toEqual(['The envelope of event 2 was changed after it was recorded.']);
  const { evidence: _, ...without } = events[1] as Event;
  expect(problemsIn([events[0] as Event, without as Event])).toHaveLength(1);
});

it('verifies events of version 0.1, to which no evidence can be added', () => {
  const old = asRecordedBefore(scenario('t1').events);
  expect(JSON.parse(chained(old[0] as Event))).toHaveLength(11);
  expect(problemsIn(old)).toEqual([]);
  expect(problemsIn(old.map((event) => ({ ...event, evidence: 'terminal' as const })))).toHaveLength(2);
});
