import { describe, expect, it } from 'vitest';
import type { FormatName } from './format.ts';
import { formats } from './index.ts';
import { remembered, YAML_LIMIT_CHARACTERS } from './yaml-limit.ts';

const filler = `# ${'x'.repeat(1000)}\n`.repeat(Math.ceil(YAML_LIMIT_CHARACTERS / 1000));

describe('a document that is too large', () => {
  it.each<[FormatName, string, string]>([
    ['codewalk', 'STATE.md', `initiative: init-1\n${filler}`],
    ['maestro', 'docs/maestro/state/active-session.md', `---\nsession_id: "2026-01-01-x"\n${filler}---\n\n# Log\n`],
    ['snap', 'working-session/TURNFILE.yaml', `metadata:\n  revision: 1\n${filler}`],
  ])('is told, at once, and never written: %s', async (name, main, text) => {
    const format = await formats[name]();
    const { writable, problems } = format.parse({ format: name, main, files: [main] }, new Map([[main, text]]));
    expect(writable).toBe(false);
    expect(problems.map(({ message }) => message).join(' ')).toContain('MB of YAML');
  });
});

it('remembers the last answer only', () => {
  let asked = 0;
  const twice = remembered((number: number) => {
    asked += 1;
    return number * 2;
  });
  expect([twice(1), twice(1), twice(2), twice(1)]).toEqual([2, 2, 4, 2]);
  expect(asked).toBe(3);
});
