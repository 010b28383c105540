import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

function write(folder: Folder, name: string, text: string): string {
  writeFileSync(join(folder.path, name), text);
  return name;
}

function planOf(folder: Folder): Record<string, unknown> {
  const steps = folder.data('plan', 'show')['steps'] as {
    key: string;
    title: string;
    parent: string;
    status: string;
  }[];
  return Object.fromEntries(steps.map(({ key, title, parent, status }) => [key, [title, parent, status]]));
}

const yaml = `# The plan
steps:
  - key: 1
    title: Schema
    steps:
      - { key: 1.1, title: Tables, done: true, checkpoints: [drafted, tested], agents: ada }
      - { key: 3_5, title: "Índices", after: 1.1, context: [docs/a.md], gate: true }
  - { key: ship, title: Ship, after: [1, 3_5], wave: 2, parallel: true }
`;

describe('a plan', () => {
  it('is edited step by step, and refuses edits that would break it', () => {
    const folder = newWorkspace();
    expect(folder.data('plan', 'set', 't3', '--after', 't1,t2', '--wave', '3', '--gate').changed).not.toEqual([]);
    expect(folder.fault('plan', 'set', 't1', '--after', 't3')).toMatchObject({ code: 'invalid', exit: 2 });
    expect(folder.fault('plan', 'set', 't1', '--parent', 't1')).toMatchObject({ code: 'invalid' });
    expect(folder.fault('plan', 'set', 't1', '--after', 't9')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('plan', 'add', 'x', 'X', '--parent', 'p9').hints.join(' ')).toContain('`p1`');
    expect(folder.fault('plan', 'add', 't1', 'Another title')).toMatchObject({ code: 'illegal' });
    expect(folder.fault('plan', 'remove', 'p1')).toMatchObject({ code: 'illegal' });
    expect(folder.fault('plan', 'remove', 't1')).toMatchObject({ code: 'illegal' });
    expect(folder.fault('start', 't3', '--agent', 'ada')).toMatchObject({ code: 'blocked' });
    folder.data('plan', 'remove', 't3');
    expect(Object.keys(planOf(folder))).toEqual(['p1', 't1', 't2']);
    folder.data('start', 't1', '--agent', 'ada');
    expect(folder.fault('plan', 'remove', 't1')).toMatchObject({ code: 'illegal' });
  });

  it('takes the key of a step as a flag or as a word, before or after the title', () => {
    const folder = newWorkspace();
    expect(folder.data('plan', 'add', 'Buy a domain', '--key', '1')).toMatchObject({ step: { key: '1' } });
    expect(folder.data('plan', 'add', '--key=9', 'Sell', 'it')).toMatchObject({ step: { key: '9', title: 'Sell it' } });
    expect(folder.fault('start', 't1', '--key', 't2', '--agent', 'ada')).toMatchObject({ code: 'usage' });
  });

  it('lists imported steps in their place', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Shop', '--id', 'shop');
    folder.data('plan', 'add', '2', 'Architecture', '--kind', 'step');
    folder.data('plan', 'import', 'apex');
    const keys = (folder.data('status')['steps'] as { key: string }[]).map(({ key }) => key);
    expect(keys).toEqual([...keys].sort());
    expect(keys.slice(0, 3)).toEqual(['1', '2', '3']);
    const page = '- [ ] One\n- [ ] Three\n';
    folder.data('init', '--plan', write(folder, 'plan.md', page), '--id', 'page');
    folder.data('plan', 'import', write(folder, 'plan.md', page.replace('- [ ] Three', '- [ ] Two\n- [ ] Three')));
    const titles = (folder.data('plan', 'show')['steps'] as { title: string }[]).map(({ title }) => title);
    expect(titles).toEqual(['One', 'Two', 'Three']);
  });

  it('marks a step that someone works on as blocked', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('raise', 'blocker', 'No key', '--affects', 't1', '--agent', 'ada');
    expect(folder.run('status').out).toMatch(/t1 .*ada \(S-1\); blocked by B-1/);
    const [step] = (folder.data('status')['steps'] as { key: string }[]).filter(({ key }) => key === 't1');
    expect(step).toMatchObject({ status: 'in_progress', blocked: true, blockers: [{ kind: 'blocker', id: 'B-1' }] });
  });

  it('is read from YAML, with nested and finished steps', () => {
    const folder = newFolder();
    expect(folder.data('init', '--plan', write(folder, 'plan.yaml', yaml), '--id', 'y')).toMatchObject({ steps: 4 });
    expect(planOf(folder)).toEqual({
      '1': ['Schema', null, 'in_progress'],
      '1.1': ['Tables', '1', 'completed'],
      '3_5': ['Índices', '1', 'pending'],
      ship: ['Ship', null, 'pending'],
    });
    expect(folder.data('plan', 'show')['steps']).toMatchObject([
      { kind: 'phase' },
      { agents: ['ada'], checkpoints: ['drafted', 'tested'] },
      { after: ['1.1'], gate: { state: 'closed' }, context: ['docs/a.md'] },
      { after: ['1', '3_5'], wave: 2, parallel: true },
    ]);
    expect(folder.data('plan', 'import', 'plan.yaml')).toMatchObject({ added: 0, changed: [] });
    write(folder, 'plan.yaml', `\ufeff${yaml.replaceAll('\n', '\r\n')}  - { key: more, title: More }\r\n`);
    expect(folder.data('plan', 'import', 'plan.yaml')).toMatchObject({ added: 1, steps: 5 });
    write(
      folder,
      'plan.yaml',
      yaml.replace('title: Ship,', 'title: Ship it,').replace('title: Schema', 'title: Tables'),
    );
    expect(folder.data('plan', 'import', 'plan.yaml')).toMatchObject({ added: 0, changedSteps: 2, missing: ['more'] });
    expect(planOf(folder)['ship']).toEqual(['Ship it', null, 'pending']);
  });

  it('is taken from a preset: eight steps with their gates, checkpoints and files', () => {
    const folder = newFolder();
    expect(folder.data('init', '--plan', 'apex', '--title', 'Harbor Works')).toMatchObject({ steps: 8 });
    const steps = folder.data('plan', 'show')['steps'] as { key: string; gate: unknown }[];
    expect(steps.map(({ key }) => key)).toEqual(['1', '2', '3', '3_5', '4', '5', '6', '7']);
    expect(steps.filter(({ gate }) => gate === null).map(({ key }) => key)).toEqual(['1']);
    expect(steps[3]).toMatchObject({ after: ['2'], agents: ['04g-Governance'], gate: { state: 'closed' } });
    expect(steps[5]).toMatchObject({
      title: 'IaC Code',
      agents: ['06b-Bicep-CodeGen', '06t-Terraform-CodeGen'],
      context: ['00-session-state.json', '04-implementation-plan.md', '04-governance-constraints.json'].map(
        (name) => `agent-output/harbor-works/${name}`,
      ),
    });
    folder.data('start', '1');
    folder.data('complete', '1');
    expect(folder.fault('start', '2')).toMatchObject({ code: 'blocked' });
    expect(folder.data('plan', 'import', 'apex')).toMatchObject({ added: 0, changed: [] });
  });

  it('is a file rather than a preset of the same name', () => {
    const folder = newFolder();
    write(folder, 'apex', '# One\n\n- [ ] first\n');
    expect(folder.data('init', '--plan', 'apex')).toMatchObject({ steps: 1, run: { title: 'One' } });
    expect(folder.fault('init', '--plan', 'apox').hints.join(' ')).toContain('apex');
  });

  it('is read from Markdown: headings, check-lists, nested, finished or in a code block', () => {
    const folder = newFolder();
    const text = [
      '\ufeff# Title of the page',
      'Prose.',
      '## First **phase** ##',
      '- [x] Done one',
      '- [ ] Parent',
      '    * [ ] Child',
      '```',
      '- [ ] in code',
      '```',
      '## Only prose',
      'nothing to do',
      '## Second',
      '1. [X] Numbered',
      '- plain line',
    ].join('\r\n');
    folder.data('init', '--plan', write(folder, 'plan.md', text), '--id', 'm');
    expect(planOf(folder)).toEqual({
      p1: ['First phase', null, 'in_progress'],
      'p1.1': ['Done one', 'p1', 'completed'],
      'p1.2': ['Parent', 'p1', 'pending'],
      'p1.2.1': ['Child', 'p1.2', 'pending'],
      p2: ['Second', null, 'completed'],
      'p2.1': ['Numbered', 'p2', 'completed'],
    });
  });

  it('that cannot be understood is refused with the line, and init leaves nothing behind', () => {
    const broken: [name: string, text: string, code: string, says: RegExp][] = [
      ['a.yaml', 'steps:\n  - { key: a, title: A\n', 'invalid', /line \d/],
      ['b.yaml', 'steps:\n  - { key: a, title: A }\n  - { key: b }\n', 'invalid', /line 3.*title/],
      ['c.yaml', 'steps:\n  - { key: a, title: A, kind: epic }\n', 'invalid', /line 2.*kind/],
      ['d.yaml', 'steps: 5\n', 'invalid', /list of steps/],
      ['e.yaml', 'steps: &x [{ key: a, title: A, steps: *x }]\n', 'invalid', /line 1/],
      ['f.yaml', '', 'invalid', /./],
      ['g.yaml', 'steps:\n  - { key: a, title: A }\n  - { key: a, title: B }\n', 'invalid', /`a` twice/],
      [
        'h.yaml',
        'steps:\n  - { key: a, title: A, after: b }\n  - { key: b, title: B, after: a }\n',
        'invalid',
        /`a` → `b` → `a`/,
      ],
      ['i.yaml', 'steps:\n  - { key: a, title: A, after: zz }\n', 'not_found', /zz/],
      ['j.md', 'Only prose\n', 'invalid', /names no steps/],
      ['k.json', '{"steps": [{"key": "a"}]}', 'invalid', /title/],
    ];
    const folder = newFolder();
    for (const [name, text, code, says] of broken) {
      const fault = folder.fault('init', '--title', 'T', '--plan', write(folder, name, text));
      expect([name, fault]).toMatchObject([name, { code, message: expect.stringMatching(says) }]);
    }
    expect(folder.fault('init', '--plan', 'nowhere.md')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('init', '--plan', '.')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('init', '--design', 'nowhere.md')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('init', '--design', '../x.md')).toMatchObject({ code: 'invalid' });
    expect(existsSync(folder.own())).toBe(false);
  });
});

describe('plan import', () => {
  const page = [
    '# Plan: Tide alarm',
    '## Goal',
    'Boats leave in time.',
    '## Steps',
    '1. Store alarm times',
    '2. Send alarms (after 1)',
    '   - by mail',
    '3. ~~Ring a bell~~',
    '## Key files',
    '- `src/tide.ts`, src/gone.ts',
    '## Out of scope',
    'Weather.',
    '## Verification',
    'npm test',
  ].join('\n');

  it('records what the page says beside its steps, and nothing twice', () => {
    const folder = newFolder();
    mkdirSync(join(folder.path, 'src'));
    write(folder, 'src/tide.ts', 'x');
    folder.data('init', '--title', 'Alarm');
    const asked = folder.data('plan', 'import', write(folder, 'plan.md', page), '--dry-run');
    expect(asked).toMatchObject({ dryRun: true, added: 3, steps: 0, changed: [] });
    const { plan: _, ...imported } = folder.data('plan', 'import', 'plan.md');
    expect(imported).toMatchObject({ added: 3, steps: 3, missing: [], ticked: [] });
    expect(imported['notSteps']).toEqual([
      { heading: 'Goal', as: 'goal', files: 0 },
      { heading: 'Key files', as: 'reading', files: 1 },
      { heading: 'Out of scope', as: 'constraint', files: 0 },
      { heading: 'Verification', as: 'note', files: 0 },
    ]);
    expect(folder.data('plan', 'show')['steps']).toMatchObject([
      { key: 't1', status: 'pending', context: ['src/tide.ts'] },
      { key: 't2', after: ['t1'] },
      { key: 't3', status: 'skipped' },
    ]);
    const brief = folder.data('resume');
    expect(brief['text']).toContain('Weather.');
    const { version } = folder.data('status');
    write(folder, 'plan.md', `${page}\n`);
    expect(folder.data('plan', 'import', 'plan.md')).toMatchObject({ added: 0, changedSteps: 0 });
    const kinds = (folder.data('log', '--after', String(version))['events'] as { type: string }[]).map(
      ({ type }) => type,
    );
    expect(kinds).toEqual(['run.amended']);
  });

  it('matches steps by title, and names those that only the file has as done', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'T', '--plan', write(folder, 'plan.md', '- [ ] a\n- [ ] b\n'));
    write(folder, 'plan.md', '- [ ] new\n- [x] a\n');
    expect(folder.data('plan', 'import', 'plan.md')).toMatchObject({ added: 1, missing: ['t2'], ticked: ['t1'] });
    expect(planOf(folder)).toMatchObject({ t1: ['a', null, 'pending'], t3: ['new', null, 'pending'] });
  });

  it('reads standard input, and says what it saw in prose and where check-lists are', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'T');
    expect(folder.pipe('- [ ] piped\n', 'plan', 'import', '-').code).toBe(0);
    expect(planOf(folder)).toMatchObject({ t1: ['piped', null, 'pending'] });
    write(folder, 'prose.md', '# A\n\nWords.\n');
    expect(folder.fault('plan', 'import', 'prose.md')).toMatchObject({
      code: 'invalid',
      exit: 2,
      message: expect.stringContaining('saw 1 heading, 1 paragraph, no list'),
    });
    write(folder, 'todo.md', '- [ ] x\n');
    expect(folder.fault('plan', 'import', 'toodo.md').hints.join(' ')).toContain('`todo.md`');
  });
});

describe('init', () => {
  it('opens one run after another in one workspace, from its subfolders too', () => {
    const folder = newFolder();
    mkdirSync(join(folder.path, 'deep', 'er'), { recursive: true });
    const design = ['--design', 'design.md', '--approved-by', 'sam'];
    write(folder, 'design.md', '# Design\n');
    const first = folder.data('init', '--title', 'Straße & Café!', ...design);
    expect(first['run']).toMatchObject({
      id: expect.stringMatching(/^\d{4}-\d\d-\d\d-\p{L}+/u),
      design: { approvedBy: 'sam' },
    });
    const again = folder.data('init', '--title', 'Straße & Café!');
    expect(again['run'].id).toBe(`${first['run'].id}-2`);
    expect(folder.data('init', '--id', 'third', '--dir', 'deep/er')).toMatchObject({ workspace: folder.path });
    expect(folder.fault('init', '--id', 'third')).toMatchObject({ code: 'illegal', exit: 1 });
    expect(folder.data('runs', '--dir', 'deep')['runs']).toHaveLength(3);
    expect(readdirSync(join(folder.path, 'deep', 'er'))).toEqual([]);
  });

  it('by several processes at once makes one workspace with all their runs', async () => {
    const folder = newFolder();
    const began = await Promise.all(['a', 'b', 'c', 'd'].map((id) => folder.start('init', '--id', id, '--json')));
    expect(began.map((ran) => ran.code)).toEqual([0, 0, 0, 0]);
    const runs = folder.data('runs')['runs'] as { id: string }[];
    expect(runs.map((run) => run.id).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(readdirSync(folder.own()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('a git worktree', () => {
  it('uses the journal of the main checkout', () => {
    const folder = newWorkspace();
    const git = (...words: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
        cwd: folder.path,
        env: folder.env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    writeFileSync(join(folder.path, 'b.ts'), 'y');
    git('add', '.');
    git('commit', '-qm', 'first');
    expect(git('ls-files')).not.toContain('journal.db');
    git('worktree', 'add', '-q', 'tree', '-b', 'side');
    const tree = join(folder.path, 'tree');
    writeFileSync(join(tree, 'a.ts'), 'x');
    const started = folder.data('start', 't1', '--agent', 'ada', '--dir', tree);
    expect(started).toMatchObject({ run: 'auth' });
    const reached = folder.data('checkpoint', 'c', '--artifact', 'a.ts', '--agent', 'ada', '--dir', tree);
    expect(reached['step'].artifacts).toMatchObject([{ path: 'a.ts', bytes: 1 }]);
    expect(folder.data('status')).toMatchObject({ sessions: [{ agent: 'ada' }] });
    expect(readdirSync(tree).sort()).toEqual(['.git', 'a.ts', 'b.ts']);
    const [event] = folder.data('log', '--limit', '1')['events'] as { body: { mark: unknown } }[];
    const clone = expect.stringMatching(/^c-/);
    expect(event?.body.mark).toEqual({ head: git('rev-parse', 'HEAD').trim(), branch: 'side', tree: 'tree', clone });
  });
});
