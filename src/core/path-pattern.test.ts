import { describe, expect, it } from 'vitest';
import { pathsOverlap } from './path-pattern.ts';

describe('paths and patterns', () => {
  it.each([
    ['a.ts', 'a.ts', true],
    ['src', 'src/a.ts', true],
    ['src/', 'src/a.ts', true],
    ['src', 'srcs/a.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/core/a.ts', false],
    ['src/**', 'src/core/a.ts', true],
    ['src/**/a.ts', 'src/a.ts', true],
    ['src/**/a.ts', 'src/core/rules/a.ts', true],
    ['a?.ts', 'ab.ts', true],
    ['a?.ts', 'a/.ts', false],
    ['src/*.ts', 'src', true],
    ['src/*.ts', 'src/**', true],
    ['src/*.ts', 'web/*.ts', false],
    ['src/*.ts', 'src/*.md', false],
    ['src/*.test.ts', 'src/a*', true],
    ['src/**', '**/*.ts', true],
    ['src/*/a.ts', 'src/**/b.ts', false],
    ['**/a.ts', 'b/ca.ts', true],
    ['**/a.ts', 'b/*a.tsx', false],
    ['src/*', 'src/core/a.ts', false],
    ['**/a.ts', 'a.ts', true],
    ['docs/**', 'docs', true],
    ['a*c', 'ab*', true],
    ['a.ts', 'axts', false],
    ['(a)+[b].ts', '(a)+[b].ts', true],
    ['**/*.test.ts', 'src/', true],
    ['web/**/*.ts', 'src/', false],
  ])('%s against %s overlaps: %s', (a, b, overlaps) => {
    expect(pathsOverlap(a, b)).toBe(overlaps);
    expect(pathsOverlap(b, a)).toBe(overlaps);
  });

  it('ends with hostile patterns', () => {
    expect(pathsOverlap('*a'.repeat(40), `${'a'.repeat(4000)}b`)).toBe(false);
    expect(pathsOverlap(`${'**/'.repeat(60)}x`, 'a/'.repeat(2000))).toBe(true);
    expect(pathsOverlap('*a'.repeat(500), `${'*b'.repeat(500)}c`)).toBe(false);
  });
});
