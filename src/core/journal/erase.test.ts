import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { evolve } from '../fold/evolve.ts';
import { emptyState } from '../fold/state-tables.ts';
import { play, turns } from '../rules/commands.suite.ts';
import { ada, complete, decision, sam, scenario, start } from '../rules/scenario.suite.ts';
import { ERASED } from '../text.ts';
import { GENESIS, seal } from './chain.ts';
import { withoutWords } from './erase.ts';
import { type Event, type EventType, eventBodies } from './event.ts';
import { chainVerifier } from './verify.ts';

const SECRET = 'hunter2';

/** A body with every possible field, and the secret as its text. */
function fullBody(schema: unknown): unknown {
  const { type, entries, item, wrapped, options, pipe } = schema as {
    type?: string;
    entries?: Record<string, unknown>;
    item?: unknown;
    wrapped?: unknown;
    options?: readonly string[];
    pipe?: readonly unknown[];
  };
  if (wrapped) return fullBody(wrapped);
  if (entries) return Object.fromEntries(Object.entries(entries).map(([name, inner]) => [name, fullBody(inner)]));
  if (item) return [fullBody(item), fullBody(item)];
  if (type === 'picklist') return options?.[0];
  if (type === 'number') return 7;
  if (type === 'boolean') return true;
  if (type === 'unknown' || type === 'record') return { deep: [SECRET] };
  if (JSON.stringify(pipe)?.includes('"text":true')) return `The password is ${SECRET}.`;
  return JSON.stringify(pipe)?.includes('iso_timestamp') ? '2026-01-02T03:04:05.678Z' : 'p1';
}

const types = Object.keys(eventBodies) as EventType[];
const problems = (events: readonly Event[]) => {
  const verifier = chainVerifier();
  for (const event of events) verifier.push(event);
  return verifier.finish();
};

describe('erasing the text of an event', () => {
  it.each(types)('%s keeps its structure and is still valid', (type) => {
    const body = fullBody(eventBodies[type]);
    expect(v.safeParse(eventBodies[type] as v.GenericSchema, body).issues).toBeUndefined();
    const erased = withoutWords(type, body);
    expect(JSON.stringify(erased)).not.toContain(SECRET);
    expect(v.safeParse(eventBodies[type] as v.GenericSchema, erased).issues).toBeUndefined();
    expect(withoutWords(type, erased)).toEqual(erased);
    const shape = (value: unknown) => JSON.stringify(value).replaceAll(`The password is ${SECRET}.`, ERASED);
    expect(JSON.stringify(erased)).toBe(shape(body).replace(`{"deep":["${SECRET}"]}`, '{}'));
  });

  it('gives a history that folds to the same structure', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { events, state } = play(played);
        const folded = emptyState();
        for (const event of events) evolve(folded, { ...event, body: withoutWords(event.type, event.body) } as Event);
        const shape = [...state.steps.values()].map(({ key, status, holder, retries }) => [
          key,
          status,
          holder,
          retries,
        ]);
        expect(
          [...folded.steps.values()].map(({ key, status, holder, retries }) => [key, status, holder, retries]),
        ).toEqual(shape);
        expect(folded.counters).toEqual(state.counters);
        expect([...folded.sessions.keys()]).toEqual([...state.sessions.keys()]);
        expect([...folded.items].map(([id, item]) => [id, item.status])).toEqual(
          [...state.items].map(([id, item]) => [id, item.status]),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('leaves nothing of what is not in the schema', () => {
    expect(withoutWords('step.removed', { step: 'p1', extra: SECRET })).toEqual({ step: 'p1', extra: null });
    expect(withoutWords('no.such' as EventType, { text: SECRET })).toBeNull();
    expect(withoutWords('claim.taken', { files: SECRET })).toEqual({ files: null });
  });
});

describe('the chain after an erasure', () => {
  const erasedAt = (change: (body: unknown) => unknown, covered = true) => {
    const run = scenario('p1').given(ada, start('p1'), decision({ reason: `The password is ${SECRET}.` }), complete());
    const made = run.events.findIndex((event) => event.type === 'decision.made');
    if (covered) run.given(sam, { type: 'text.erase', versions: [made + 1], reason: 'A secret.' });
    const event = run.events[made] as Event;
    return run.events.with(made, { ...event, body: change(event.body) } as Event);
  };
  const erase = (body: unknown) => withoutWords('decision.made', body);

  it('holds', () => {
    expect(problems(erasedAt(erase))).toEqual([]);
  });

  it('is broken where text was removed without a recorded erasure', () => {
    expect(problems(erasedAt(erase, false))).toMatchObject([
      { message: 'The body of event 5 was changed after it was recorded.' },
    ]);
  });

  it('is broken where other text replaced the erased text', () => {
    expect(problems(erasedAt((body) => ({ ...(erase(body) as object), reason: 'Forged.' })))).toHaveLength(1);
  });

  it('reports what is missing, cut off or inserted', () => {
    const { events } = scenario('p1').given(ada, start('p1'), complete());
    expect(problems(events.toSpliced(2, 1))[0]?.message).toBe('Event 3 is missing: 4 follows 2.');
    const [forged] = seal(
      [{ type: 'run.completed', body: {}, basis: 'declared' }],
      { run: 'work', at: '', actor: sam.actor, evidence: sam.evidence, session: null, key: null },
      { version: 2, hash: GENESIS },
    );
    expect(problems(events.with(2, forged as Event)).map((problem) => problem.message)).toEqual([
      'Event 3 does not follow the event before it.',
      'Event 4 does not follow the event before it.',
    ]);
    expect(problems([])).toEqual([]);
  });
});
