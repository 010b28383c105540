import { describe, expect, it } from 'vitest';
import { emptyRunModel } from '../core/model/run-model.ts';
import { whyNotDeclared } from './declared-paths.ts';
import { formatNames, formats } from './index.ts';

const planning = ['**/.planning/**/*.{md,json}', '**/STATE.md'];

describe('a declared path', () => {
  it.each(['.planning/STATE.md', 'app/.planning/phases/1/01-PLAN.md', '.planning/HANDOFF.json', 'docs/state.md'])(
    'may be written: %s',
    (path) => expect(whyNotDeclared(planning, path)).toBeNull(),
  );

  it.each([
    ['src/main.md', 'it writes only **/.planning/**/*.{md,json}, **/STATE.md'],
    ['planning/STATE.txt', 'only files that end in .md'],
    ['.planning/run.sh', 'only files that end in .md'],
    ['.planning/STATE', 'only files that end in .md'],
    ['xplanning/a.md', 'it writes only'],
    ['.git/STATE.md', 'obey what lies in .git'],
    ['.GIT/STATE.md', 'obey what lies in .GIT'],
    ['.g\u200cit/STATE.md', 'obey what lies in'],
    ['a/.Vscode/.planning/STATE.md', 'obey what lies in .Vscode'],
    ['.claude/.planning/STATE.md', 'obey what lies in .claude'],
    ['.planning/../STATE.md', 'is not a name'],
    ['.git./STATE.md', 'is not a name'],
    ['GIT~1/STATE.md', 'is not a name'],
    ['.planning/STATE.md:x.md', 'is not a name'],
    ['.planning//STATE.md', 'is not a name'],
  ])('is not %s', (path, why) => expect(whyNotDeclared(planning, path)).toContain(why));
});

it.each(formatNames)('the home of %s is declared', async (name) => {
  const { home, writes } = await formats[name]();
  const { files } = home(emptyRunModel('Work'));
  expect(files.map((path) => whyNotDeclared(writes, path))).toEqual(files.map(() => null));
});
