import { describe, expect, it } from 'vitest';
import type { FormatName } from './format.ts';
import { formats } from './index.ts';
import { YAML_LIMIT_CHARACTERS } from './yaml-limit.ts';

const filler = `# ${'x'.repeat(1000)}\n`.repeat(Math.ceil(YAML_LIMIT_CHARACTERS / 1000));

describe('a document that is too large', () => {
  it.each<[FormatName, string, string]>([
    ['codewalk', 'STATE.md', `initiative: init-1\n${filler}`],
    ['maestro', 'docs/maestro/state/active-session.md', `---\nsession_id: "2026-01-01-x"\n${filler}---\n\n# Log\n`],
    ['snap', 'working-session/TURNFILE.yaml', `metadata:\n  revision: 1\n${filler}`],
  ])('is reported at once and never written: %s', async (name, main, text) => {
    const format = await formats[name]();
    const { writable, problems } = format.parse({ format: name, main, files: [main] }, new Map([[main, text]]));
    expect(writable).toBe(false);
    expect(problems.map(({ message }) => message).join(' ')).toContain('MB of YAML');
  });
});
