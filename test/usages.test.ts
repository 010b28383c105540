import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder, type Ran } from './command-line.ts';

/** A run with `p1.1` done and `p1.2` ready. */
function shop(): Folder {
  const folder = copyOf('usages', () => {
    const made = newFolder();
    const plan =
      '# Tide alarm\n## Backend\n- [x] Store alarm times\n- [ ] Send alarms\n- [ ] Send a digest (after 1.2)\n';
    writeFileSync(join(made.path, 'plan.md'), plan);
    made.data('init', '--title', 'Tide alarm', '--plan', 'plan.md');
    made.data('raise', 'blocker', 'No key');
    made.data('raise', 'question', 'Which port?');
    return made;
  });
  writeFileSync(join(folder.path, 'todo.md'), '- [ ] Paint\n');
  writeFileSync(join(folder.path, 'prose.md'), '# A\n\nWords.\n');
  return folder;
}

type Expected = string | RegExp | readonly (string | RegExp)[];

function answers(ran: Ran, contains: Expected, exit: number): void {
  const text = `${ran.out}${ran.err}`;
  for (const one of [contains].flat() as (string | RegExp)[])
    expect([ran.code, text]).toEqual([
      exit,
      typeof one === 'string' ? expect.stringContaining(one) : expect.stringMatching(one),
    ]);
}

/** What people type, what the answer contains, and its exit code. */
const usages: readonly [typed: string[], contains: Expected, exit: number][] = [
  [[], /Next: holdfast/, 0],
  [['start'], ['holdfast start p1.2', '(ready)'], 2],
  [['init', 'A second task'], 'Opened run', 0],
  [['start', 'Send alarms'], 'p1.2', 0],
  [['start', '1.2'], 'in progress', 0],
  [['start', 'send'], /p1\.2.*\n.*p1\.3/, 2],
  [['start', 'p9'], [/no step `p9`/i, 'holdfast start p1.2'], 1],
  [['start', 'p1.1'], 'holdfast reopen p1.1 "why"', 1],
  [['start', '--next'], 'p1.2', 0],
  [['done', '--agent', 'claude'], ['holds no step', 'p1.2'], 1],
  [['next'], ['□ p1.2 Send alarms', 'Next: holdfast answer Q-1'], 0],
  [['ready'], 'p1.2', 0],
  [['list'], 'Store alarm times', 0],
  [['plan'], 'Store alarm times', 0],
  [['add', 'Buy a domain'], /Added t1 Buy a domain/, 0],
  [['plan', 'add', 'Refactor'], 'Added t1 Refactor', 0],
  [['plan', 'add', 'Sand', 'the', 'deck'], 'Added t1 Sand the deck', 0],
  [['plan', 'add', 'p1', 'Again'], 'plan set p1', 1],
  [['plan', 'add', 'X', '--after', 'p9'], 'p9', 1],
  [['import', 'todo.md'], 'Added 1 step,', 0],
  [['plan', 'import', 'prose.md'], ['saw 1 heading, 1 paragraph, no list', '- [ ] text'], 2],
  [['plan', 'import', 'missing.md'], '`todo.md`', 1],
  [['decide', 'use postgres'], '`holdfast decide "use postgres" --why "why"`', 2],
  [['decide', 'use', 'postgres', '--why', 'we know it'], 'D-1', 0],
  [['decide', 'x', '--why', 'y', '--affects', 'p99'], ['D-1', 'Warning: `p99` is not a step'], 0],
  [['resume', '--budget', '10'], '--budget must be at least 100, not 10', 2],
  [['raise', 'no key'], ['holdfast raise blocker "no key"', 'holdfast raise error "no key"'], 2],
  [['raise', 'blockr', 'x'], ['`holdfast raise blocker x`', 'finding, question, commitment, error'], 2],
  [['block', 'no licence'], 'B-2', 0],
  [['ask', 'Why?'], 'Q-2', 0],
  [['settle', 'B-1'], ['holdfast settle B-1 resolved', 'holdfast settle B-1 bypassed'], 2],
  [['settle', 'B-1', 'succeeded'], 'holdfast settle B-1 resolved', 2],
  [['resolve', 'B-9'], [/no item `B-9`/, 'holdfast resolve B-1', 'Which port?'], 1],
  [['resolve', 'B-1', 'it arrived'], 'resolved', 0],
  [['answer', 'Q-1'], 'holdfast answer Q-1 "Yes', 2],
  [['answer', 'Q-1', 'Port 80'], 'resolved', 0],
  [['wait'], ['holdfast wait B-1', 'holdfast wait mail'], 2],
  [['wait', 't99'], /t99/, 1],
  [['log', '-n', 'five'], ['-n must be a number', 'Example: `holdfast log --limit 20`'], 2],
  [['history', '-n', '1'], /unknown raised question/, 0],
  [['status', '--run', 'alarm'], 'Tide alarm', 0],
  [['use', 'nope'], [/nope/, /`holdfast use \S+-tide-alarm` {2}Tide alarm/], 1],
  [['use', 'alarm'], 'The run of this working tree is', 0],
  [['install', 'calude'], '`holdfast install claude`', 2],
  [['install'], 'holdfast install claude', 2],
  [['undo'], ['holdfast release', 'holdfast reopen', 'holdfast retract'], 2],
  [['rm', 'p1.2'], 'plan remove', 2],
  [['pause'], ['capture off', 'session end'], 2],
  [['finish'], 'done', 2],
  [['config'], [/store +SQLite.*\(default\)/, /recording +on/], 0],
  [['--dir', '/no/such', 'status'], 'The folder `/no/such` does not exist', 2],
  [['completion', 'tcsh'], ['bash', 'zsh', 'fish', 'powershell'], 2],
  [['doctor', '--fix'], '--repair', 2],
  [['init'], ['tide-alarm', 'holdfast init --title'], 2],
  [['skip', 'p1.2', '--agent', 'claude'], ['Only a person', 'holdfast skip p1.2 "why"'], 1],
  [['fail', 'the server is away'], /./, 1],
  [['start', 'p1'], ['`p1.2`', '`holdfast next`'], 1],
  [['add'], 'Example: `holdfast plan add', 2],
  [['effect'], 'Every side effect has a recorded outcome.', 0],
  [['claim'], 'No files are claimed.', 0],
  [['capture'], '`holdfast capture off --everywhere`', 0],
  [['note', 'no', 'new', 'dependency', '--kind', 'constraint'], 'N-', 0],
  [['mail'], /./, 0],
  [['session'], /./, 0],
  [['handoff'], /./, 0],
  [['gate', 'p1.2'], 'there is no gate', 0],
  [['show', 'B-1'], ['blocker', 'No key'], 0],
  [['whoami'], ['unknown', 'tide-alarm'], 0],
  [['mail', 'send', 'codex', 'Please review'], 'M-1', 0],
  [['help'], 'help --all', 0],
  [['help', '--all'], ['journal import', 'Other tools’ files'], 0],
  [['-v'], /^\d+\.\d+/, 0],
  [['version'], /^\d+\.\d+/, 0],
];

describe('what people type', () => {
  it.each(usages)('holdfast %j', (typed, contains, exit) => {
    answers(shop().run(...typed), contains, exit);
  });

  it('as a person: `done` finishes a step that nobody holds, `handoff` asks whose work, `done` alone names steps', () => {
    const here = shop();
    answers(here.person.run('handoff', 'codex'), ['needs --from', 'holdfast sessions'], 2);
    answers(here.person.run('done'), 'holdfast done p1.2', 1);
    here.data('start', 'p1.2', '--agent', 'claude');
    answers(here.person.run('handoff', 'codex'), 'holdfast handoff codex --from S-', 2);
    const other = shop();
    answers(other.person.run('done', 'p1.2'), 'completed', 0);
    answers(other.run('done', 'p1.3', '--agent', 'claude'), 'holdfast start p1.3', 1);
  });

  it('with two runs: the current one, named on standard error; a name that fits both lists them', () => {
    const here = shop();
    here.data('init', '--title', 'Second');
    const ran = here.run('log');
    expect(ran.err).toMatch(/Using run \S+, one of 2 \(change with `holdfast use`\)/);
    expect(ran.out).not.toContain('Using run');
    answers(here.run('status', '--run', '20'), ['tide-alarm', 'second'], 2);
  });

  it('says what it is where nothing was recorded, and where there is no repository', () => {
    const empty = newFolder();
    expect(empty.run()).toMatchObject({ code: 0, out: expect.stringContaining('Nothing recorded here yet') });
    expect(empty.run('--dir', '/')).toMatchObject({ code: 0, out: expect.stringContaining('holdfast install claude') });
  });

  it('`hook` at a terminal says what it is for', () => {
    const ran = newFolder().person.run('hook');
    expect([ran.code, ran.out]).toEqual([0, '']);
    expect(ran.err).toContain('holdfast install claude');
  });

  it('an address that is not a store is refused with what is allowed, and not repeated', () => {
    const here = shop();
    here.env['HOLDFAST_STORE'] = 'https://user:secret@example.com';
    answers(here.run('status'), 'postgres://', 2);
    expect(here.run('status').err).not.toContain('secret');
  });

  it('`status` folds the phases of a long plan in which nothing is to be done, and counts steps without percentages', () => {
    const here = newFolder();
    const tasks = (mark: string, after: string) =>
      Array.from({ length: 8 }, (_, index) => `- [${mark}] Task ${index + 1}${after}\n`).join('');
    const plan = `# Harbour\n## Research\n${tasks('x', '')}## Service\n- [x] First\n${tasks(' ', '')}## Export\n${tasks(' ', ' (after 2.9)')}`;
    writeFileSync(join(here.path, 'plan.md'), plan);
    here.data('init', '--title', 'Harbour', '--plan', 'plan.md');
    const { out } = here.run('status');
    expect(out).toMatch(/^Harbour {2}█+░+ 9 of 25 steps$/m);
    expect(out).toMatch(/^ {2}✓ p1 +Research 8\/8$/m);
    expect(out).toMatch(/^ {2}□ p3 +Export 0\/8 \(after p2\.9\)$/m);
    expect(out).toMatch(/p2\.2 +Task 1/);
    expect(out).not.toMatch(/p1\.1|p3\.1|%/);
    expect(here.run('status', '--all').out).toMatch(/p1\.1[\s\S]*p3\.8/);
    here.data('add', 'A title that is much longer than the terminal is wide, as titles often are', '--after', 'p3.8');
    here.env['COLUMNS'] = '60';
    const narrow = here.run('status').out.split('\n');
    expect(narrow.filter((one) => one.length > 60)).toEqual([]);
    expect(narrow.join('\n')).toMatch(/t1 +A title that is much longer.*… {2}after p3\.8$/m);
  });

  it('a run without a plan shows its state, and never "0 of 0"', () => {
    const here = newFolder();
    here.data('init', '--title', 'Empty');
    const { out } = here.run('status');
    expect(out).toMatch(/^Empty\nnot started/);
    expect(out).not.toMatch(/0 of 0|%/);
  });

  it('-q prints nothing but errors', () => {
    const here = shop();
    expect(here.run('-q', 'note', 'x')).toMatchObject({ code: 0, out: '', err: '' });
    expect(here.run('start', 'p9', '-q').err).toContain('no step');
  });

  it('shows help in at most 40 lines, and every page within the columns of the terminal', () => {
    const folder = newFolder();
    expect(folder.run('help').out.split('\n').length).toBeLessThanOrEqual(40);
    folder.env['COLUMNS'] = '80';
    for (const words of [['help'], ['help', '--all'], ['help', 'plan', 'add'], ['help', 'capture']]) {
      const lines = folder.run(...words).out.split('\n');
      const long = lines.filter((line) => line.length > 80 && !/^ {2}holdfast /.test(line));
      expect([words, long]).toEqual([words, []]);
    }
  });

  it('every refusal ends with a line that can be run', () => {
    const here = shop();
    for (const [typed, , exit] of usages.filter(([, , code]) => code !== 0)) {
      const { err } = here.run(...typed);
      expect([typed, exit, err]).toEqual([
        typed,
        exit,
        expect.stringMatching(/`(holdfast |- \[ \]|--)[^`]*`|`[\w.-]+`/),
      ]);
    }
  });
});
