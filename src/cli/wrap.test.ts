import { expect, it } from 'vitest';
import { columnsOf, cutToColumns } from '../core/columns.ts';
import { wrapped } from './wrap.ts';

it('counts wide characters as two columns and marks as none', () => {
  expect([columnsOf('abc'), columnsOf('日本'), columnsOf('é'), columnsOf('🎉')]).toEqual([3, 4, 1, 2]);
});

it('breaks text at spaces and indents what follows the first line', () => {
  expect(wrapped('one two three four five six', 21)).toBe('one two three four\nfive six');
  expect(wrapped('one two three four five six', 25, 4)).toBe('one two three four\n    five six');
  expect(wrapped('日本日本 日本日本 日本日本', 21)).toBe('日本日本 日本日本\n日本日本');
  expect(wrapped('one two', Number.POSITIVE_INFINITY)).toBe('one two');
  expect(wrapped('a-word-that-is-longer-than-the-line', 10)).toBe('a-word-that-is-longer-than-the-line');
});

it('cuts a text to its columns, also with wide characters, and says so', () => {
  expect(cutToColumns('Rotate tokens', 13)).toBe('Rotate tokens');
  expect(cutToColumns('Rotate tokens', 12)).toBe('Rotate toke…');
  expect(cutToColumns('令牌轮换与撤销', 9)).toBe('令牌轮换…');
});
