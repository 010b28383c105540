import { describe, expect, it } from 'vitest';
import type { EventOf } from '../journal/event.ts';
import { addSpent, spentIn } from './spent.ts';

type Body = EventOf<'usage.added'>['body'];

const event = (body: Partial<Body>, evidence?: 'hook' | 'agent-shell') =>
  ({
    body: { agent: 'ada', input: 10, output: 1, ...body },
    ...(evidence ? { evidence } : {}),
  }) as EventOf<'usage.added'>;

describe('tokens of an event', () => {
  it('have the cached ones inside the input', () => {
    expect(spentIn(event({ input: 1010, cached: 1000, includesCached: true }), false).input).toBe(1010);
  });

  it('of `usage add` before 0.2 get them added, and those of hooks do not', () => {
    const old = { input: 1010, cached: 1000 };
    expect(spentIn(event(old, 'agent-shell'), true).input).toBe(2010);
    expect(spentIn(event(old, 'hook'), false).input).toBe(1010);
    // Version 0.1 recorded no evidence: the session tells.
    expect(spentIn(event(old), true).input).toBe(1010);
    expect(spentIn(event(old), false).input).toBe(2010);
    expect(spentIn(event({ input: 10, cached: 90 }), true).input).toBe(100);
  });

  it('without a cached count stay as they are', () => {
    expect(spentIn(event({}, 'agent-shell'), false)).toEqual({ input: 10, output: 1, cached: null });
  });
});

describe('sums', () => {
  it('are kept by model, and a report without one counts for the agent only', () => {
    const one = addSpent(null, 'ada', { input: 10, output: 1, cached: 4 }, 'small');
    const two = addSpent(one, 'ada', { input: 5, output: 1, cached: null }, undefined);
    expect(addSpent(two, 'ada', { input: 2, output: 2, cached: 0 }, 'small')).toEqual({
      agent: 'ada',
      input: 17,
      output: 4,
      cached: 4,
      models: [{ model: 'small', input: 12, output: 3, cached: 4 }],
    });
  });
});
