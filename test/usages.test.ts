import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder } from './command-line.ts';

/** A run with `p1.1` done and `p1.2` ready. */
function shop(): Folder {
  return copyOf('usages', () => {
    const folder = newFolder();
    const plan =
      '# Tide alarm\n## Backend\n- [x] Store alarm times\n- [ ] Send alarms\n- [ ] Send a digest (after 1.2)\n';
    writeFileSync(join(folder.path, 'plan.md'), plan);
    folder.data('init', '--title', 'Tide alarm', '--plan', 'plan.md');
    folder.data('raise', 'blocker', 'No key');
    folder.data('raise', 'question', 'Which port?');
    return folder;
  });
}

/** What people type, what the answer contains, and its exit code. */
const usages: readonly [typed: string[], contains: string | RegExp, exit: number][] = [
  [[], /Next: holdfast/, 0],
  [['start'], 'holdfast start p1.2', 2],
  [['start', 'Send alarms'], 'p1.2', 0],
  [['start', '1.2'], 'in progress', 0],
  [['start', 'send'], /p1\.2.*\n.*p1\.3/, 2],
  [['start', 'p9'], /no step `p9`/i, 1],
  [['start', 'p1.1'], 'reopen', 1],
  [['start', '--next'], 'p1.2', 0],
  [['next'], 'holdfast start p1.2', 0],
  [['ready'], 'p1.2', 0],
  [['list'], 'Store alarm times', 0],
  [['plan'], 'Store alarm times', 0],
  [['add', 'Buy a domain'], /Added t1 Buy a domain/, 0],
  [['plan', 'add', 'Refactor'], 'Added t1 Refactor', 0],
  [['plan', 'add', 'Sand', 'the', 'deck'], 'Added t1 Sand the deck', 0],
  [['plan', 'add', 'p1', 'Again'], 'plan set p1', 1],
  [['plan', 'add', 'X', '--after', 'p9'], 'p9', 1],
  [['import', 'todo.md'], 'Added 1 steps', 0],
  [['plan', 'import', 'prose.md'], 'saw 1 heading, 1 paragraph, no list', 2],
  [['plan', 'import', 'missing.md'], '`todo.md`', 1],
  [['decide', 'use postgres'], 'holdfast decide "use postgres" --why "…"', 2],
  [['decide', 'use', 'postgres', '--why', 'we know it'], 'D-1', 0],
  [['resume', '--budget', '10'], '--budget must be at least 100, not 10', 2],
  [['raise', 'blockr', 'x'], '`blocker`', 2],
  [['block', 'no licence'], 'B-2', 0],
  [['ask', 'Why?'], 'Q-2', 0],
  [['resolve', 'B-9'], /B-9/, 1],
  [['resolve', 'B-1', 'it arrived'], 'resolved', 0],
  [['answer', 'Q-1'], 'holdfast answer Q-1 "Yes', 2],
  [['answer', 'Q-1', 'Port 80'], 'resolved', 0],
  [['wait', 't99'], /t99/, 1],
  [['log', '-n', 'five'], '--limit must be a number', 2],
  [['history', '-n', '1'], /./, 0],
  [['status', '--run', 'alarm'], 'Tide alarm', 0],
  [['use', 'nope'], /nope/, 1],
  [['install', 'calude'], '`claude`', 2],
  [['undo'], 'reopen', 2],
  [['rm', 'p1.2'], 'plan remove', 2],
  [['finish'], 'done', 2],
  [['config'], /./, 0],
  [['--dir', '/no/such', 'status'], /no\/such/, 2],
  [['doctor', '--fix'], '--repair', 2],
  [['fail', 'the server is away'], /./, 1],
  [['note', 'no', 'new', 'dependency', '--kind', 'constraint'], 'N-', 0],
  [['mail'], /./, 0],
  [['session'], /./, 0],
  [['handoff'], /./, 0],
  [['mail', 'send', 'codex', 'Please review'], 'M-1', 0],
  [['help'], 'help --all', 0],
  [['help', '--all'], 'journal import', 0],
  [['-v'], /^\d+\.\d+/, 0],
];

describe('what people type', () => {
  it.each(usages)('holdfast %j', (typed, contains, exit) => {
    const here = shop();
    writeFileSync(join(here.path, 'todo.md'), '- [ ] Paint\n');
    writeFileSync(join(here.path, 'prose.md'), '# A\n\nWords.\n');
    const ran = here.run(...typed);
    expect([ran.code, `${ran.out}${ran.err}`]).toEqual([
      exit,
      typeof contains === 'string' ? expect.stringContaining(contains) : expect.stringMatching(contains),
    ]);
  });

  it('says what it is where nothing was recorded, and where there is no repository', () => {
    const empty = newFolder();
    expect(empty.run()).toMatchObject({ code: 0, out: expect.stringContaining('Nothing recorded here yet') });
    expect(empty.run('--dir', '/')).toMatchObject({ code: 0, out: expect.stringContaining('holdfast install claude') });
  });

  it('shows help in at most 40 lines', () => {
    expect(newFolder().run('help').out.split('\n').length).toBeLessThanOrEqual(40);
  });
});
