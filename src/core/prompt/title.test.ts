import { describe, expect, it } from 'vitest';
import { isUntitled, titleOf, untitled } from './title.ts';

describe('the title of a run', () => {
  it.each([
    ['Fix the 500 on login. Then commit.', 'Fix the 500 on login.'],
    [
      'Round invoice totals half to even, line by line. Leave src/legacy alone.',
      'Round invoice totals half to even, line by line.',
    ],
    ['please can you add a dark theme?', 'Add a dark theme?'],
    ['Hey Claude, now sort the guest list by table', 'Sort the guest list by table'],
    [
      'It fails. The importer drops the last row of every file.',
      'It fails. The importer drops the last row of every file.',
    ],
    [
      'Why?\n```\nTypeError: x is undefined\n```\nThe contact form loses umlauts',
      'Why? The contact form loses umlauts',
    ],
    [
      '> 2026-11-16 12:00 error\nat foo (bar.ts:12:3)\nhttps://example.com/issue/7\nMake resume.md shorter',
      'Make resume.md shorter',
    ],
    ['# Task\n\n- Write the importer for the spring catalogue', 'Task Write the importer for the spring catalogue'],
    [
      'Short links should survive a rename of the page even when the page moves to another folder',
      'Short links should survive a rename of the page even when…',
    ],
    ['価格を丸める。それから保存する。', '価格を丸める。 それから保存する。'],
  ])('of %j is %j', (request, title) => {
    expect(titleOf(request)).toBe(title);
  });

  it('holds no secret', () => {
    expect(titleOf(`Use ghp_${'a1B2c3D4e5F6'.repeat(3)} to push`)).not.toContain('ghp_');
  });

  it('has the date where nothing can be its title', () => {
    expect(titleOf('```\nx\n```')).toBeNull();
    expect(untitled('2026-11-16T14:02:33.000Z')).toBe('Untitled work, 16 Nov 14:02');
    expect(isUntitled(untitled('2026-01-02T04:05:00.000Z'))).toBe(true);
  });
});
