import { describe, expect, it } from 'vitest';
import { asFault, Fault, faultExits, nearest, notFound, quoted } from './fault.ts';

describe('near names', () => {
  it.each([
    ['biuld', ['build', 'test'], ['build']],
    ['dep', ['deploy', 'depart', 'x'], ['depart', 'deploy']],
    ['P1', ['p1', 'p2'], ['p1', 'p2']],
    ['nothing', ['p1', 'p2'], []],
    ['S-1', ['S-2', 'S-3', 'S-4', 'S-5'], ['S-2', 'S-3', 'S-4']],
  ])('of %s', (name, known, near) => {
    expect(nearest(name, known)).toEqual(near);
  });

  it('are in the hint', () => {
    const fault = notFound('step', 'biuld', ['build'], 'See the plan.');
    expect(fault).toMatchObject({ code: 'not_found', hints: ['Did you mean `build`?', 'See the plan.'] });
  });
});

describe('a fault', () => {
  it('shows hostile names harmlessly', () => {
    expect(quoted('a`\u001b[31m\u202e')).toBe('`a\ufffd\ufffd[31m\ufffd`');
    expect(quoted('x'.repeat(100))).toHaveLength(82);
  });

  it('is made of anything thrown', () => {
    const fault = new Fault('held', 'No.');
    expect(asFault(fault)).toBe(fault);
    const bug = new TypeError('x is undefined');
    expect(asFault(bug)).toMatchObject({ code: 'internal', cause: bug });
    expect(asFault('text').message).toBe('Unexpected: text');
  });

  it('has an exit for every code', () => {
    expect(new Set(Object.values(faultExits))).toEqual(new Set([1, 2, 3, 4, 5, 6, 70]));
  });
});
