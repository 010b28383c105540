import { expect, it } from 'vitest';
import { rememberLast } from './remember-last.ts';

it('remembers only the last result', () => {
  let asked = 0;
  const twice = rememberLast((number: number) => {
    asked += 1;
    return number * 2;
  });
  expect([twice(1), twice(1), twice(2), twice(1)]).toEqual([2, 2, 4, 2]);
  expect(asked).toBe(3);
});
