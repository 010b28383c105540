import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

const STATE = 'agent-output/shop/00-session-state.json';
const PAGE = 'agent-output/shop/00-handoff.md';
const bot = ['--agent', 'bot'];

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const textOf = (folder: Folder, path = STATE): string => readFileSync(join(folder.path, path), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the shape of the file is what the tests are about
const stateOf = (folder: Folder): any => JSON.parse(textOf(folder));

function git(folder: Folder, ...words: string[]): void {
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org'];
  execFileSync('git', [...who, ...words], { cwd: folder.path, env: { ...process.env, ...folder.env } });
}

function mirrored(): Folder {
  const folder = newFolder();
  folder.data('init', '--title', 'Shop', '--plan', 'apex');
  folder.data('mirror', 'add', 'apex');
  return folder;
}

/** Every file in the project folder with its text and its time. */
const tree = (folder: Folder): unknown[] =>
  [STATE, `${STATE}.bak`, PAGE, `${PAGE}.bak`].map((path) => {
    const full = join(folder.path, path);
    return existsSync(full) ? [path, textOf(folder, path), statSync(full).mtimeMs] : [path, null];
  });

describe('an apex project that Holdfast writes', () => {
  it('is named by init, and has the template of eight steps', () => {
    const folder = newFolder();
    expect(folder.run('init', '--title', 'Shop', '--plan', 'apex').out).toContain('holdfast mirror add apex');
    folder.data('mirror', 'add', 'apex');
    const { schema_version, current_step, steps, decisions, review_audit } = stateOf(folder);
    expect([schema_version, current_step, Object.keys(steps).sort()]).toEqual([
      '3.0',
      0,
      ['1', '2', '3', '3_5', '4', '5', '6', '7'],
    ]);
    expect(decisions).toHaveProperty('architecture_pattern', '');
    expect(review_audit).toHaveProperty('step_3_5');
  });

  it('keeps the artifacts of checkpoints, in the file and on the page', () => {
    const folder = mirrored();
    for (const name of ['01-requirements.md', '01b.md', '01c.md']) put(folder, `agent-output/shop/${name}`, name);
    folder.data('start', '1', '--loaded', `README.md,${STATE}`, ...bot);
    folder.data('checkpoint', 'phase_1_discovery', '--artifact', 'agent-output/shop/01b.md', ...bot);
    folder.data('checkpoint', 'phase_2_workload', '--artifact', 'agent-output/shop/01-requirements.md', ...bot);
    folder.data('complete', '1', '--artifact', 'agent-output/shop/01c.md', ...bot);
    const [first] = Object.values(stateOf(folder).steps) as Record<string, unknown>[];
    expect(first).toMatchObject({ status: 'complete', sub_step: null, context_files_used: ['README.md', STATE] });
    expect(first?.['artifacts']).toEqual([
      'agent-output/shop/01b.md',
      'agent-output/shop/01-requirements.md',
      'agent-output/shop/01c.md',
    ]);
    expect(textOf(folder, PAGE)).toContain('- [x] Step 1 → agent-output/shop/01-requirements.md\n');
  });

  it('is changed by no command that only looks, and keeps the version before as its backup', () => {
    const folder = mirrored();
    const before = textOf(folder);
    folder.data('start', '1', ...bot);
    expect(textOf(folder, `${STATE}.bak`)).toBe(before);
    const seen = tree(folder);
    for (const words of [['resume'], ['status'], ['doctor'], ['mirror', 'list'], ['brief']]) folder.run(...words);
    expect(tree(folder)).toEqual(seen);
    expect(existsSync(join(folder.path, `${PAGE}.bak`))).toBe(false);
  });

  it('names the branch of git, in both files', () => {
    const folder = newFolder();
    put(folder, 'a', 'a');
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', 'first');
    git(folder, 'checkout', '-qb', 'feature/x');
    folder.data('init', '--title', 'Shop', '--plan', 'apex');
    folder.data('mirror', 'add', 'apex');
    expect(stateOf(folder).branch).toBe('feature/x');
    expect(textOf(folder, PAGE)).toContain('Branch: feature/x');
  });

  it('has one value for each key: a second decision supersedes the first, also one from the file', () => {
    const folder = mirrored();
    put(folder, STATE, textOf(folder).replace('"budget": ""', '"budget": "200 EUR"'));
    folder.data('mirror', 'sync');
    for (const [key, value] of [
      ['region', 'westeurope'],
      ['region', 'northeurope'],
      ['budget', '300 EUR'],
    ] as const)
      folder.data('decide', value, '--key', key, '--why', 'cheaper', ...bot);
    const { region, decisions } = stateOf(folder);
    expect([region, decisions.region, decisions.budget]).toEqual(['northeurope', 'northeurope', '300 EUR']);
    const inForce = folder.data('decisions')['decisions'] as { decision: string }[];
    expect(inForce.map(({ decision }) => decision).sort()).toEqual(['300 EUR', 'northeurope']);
  });

  it('asks when the file and a command gave one key two values', () => {
    const folder = mirrored();
    put(folder, STATE, textOf(folder).replace('"budget": ""', '"budget": "200 EUR"'));
    const { out, err } = folder.run('decide', '300 EUR', '--key', 'budget', '--why', 'more', ...bot);
    expect(out + err).toContain('decision is `200 EUR` there and `300 EUR` here');
    expect((folder.data('decisions')['decisions'] as { decision: string }[])[0]?.decision).toBe('300 EUR');
    folder.data('mirror', 'sync', '--keep', 'journal');
    expect(stateOf(folder).decisions.budget).toBe('300 EUR');
  });

  it('marks a failed step until it is retried', () => {
    const folder = mirrored();
    folder.data('start', '1', ...bot);
    folder.data('fail', '1', '--type', 'runtime', '--message', 'boom', ...bot);
    expect(stateOf(folder).steps['1']).toMatchObject({ status: 'in_progress', outcome: 'failed', completed: null });
    folder.data('retry', '1', ...bot);
    expect(stateOf(folder).steps['1']).not.toHaveProperty('outcome');
  });

  it('brings the page up to date after an edit of the state file by others', () => {
    const folder = mirrored();
    folder.data('raise', 'finding', 'No zone redundancy', '--severity', 'must_fix', ...bot);
    expect(textOf(folder, PAGE)).toContain('- No zone redundancy');
    put(folder, PAGE, `${textOf(folder, PAGE)}\n## Notes of ours\n\nKept.\n`);
    put(folder, STATE, JSON.stringify({ ...stateOf(folder), open_findings: [] }, null, 2));
    folder.data('start', '1', ...bot);
    expect(textOf(folder, PAGE)).not.toContain('No zone redundancy');
    expect(textOf(folder, PAGE)).toContain('## Notes of ours\n\nKept.\n');
    folder.person.data('gate', '2', 'open');
    folder.person.data('release', '1');
    folder.person.data('skip', '3', '--reason', 'Nothing to draw');
    expect(textOf(folder, PAGE)).toContain('- [x] Step 3 → (skipped)\n');
    expect(stateOf(folder).open_findings).toEqual([]);
  });
});

describe('gates and the order of an apex project', () => {
  it('opens Gate 2 once, for design and governance', () => {
    const folder = mirrored();
    for (const key of ['1', '2']) {
      folder.person.run('gate', key, 'open');
      folder.data('start', key, ...bot);
      folder.data('complete', key, ...bot);
    }
    expect(folder.data('resume')['nextAction'].text).toContain('Gate 2');
    const refused = folder.fault('start', '3_5', ...bot);
    expect([refused.message, refused.hints.join(' ')].join(' ')).toMatch(
      /Gate 2, before `3_5`.*`holdfast gate 3_5 open`/,
    );
    folder.person.data('gate', '3', 'open');
    folder.data('start', '3_5', ...bot);
    expect(Object.keys(stateOf(folder).gates)).toEqual(['gate-1', 'gate-2']);
  });

  it('lets a person start a step out of order, and writes why', () => {
    const folder = mirrored();
    expect(folder.fault('start', '5', '--anyway', '--why', 'urgent', ...bot).exit).toBe(1);
    expect(folder.person.fault('start', '5', '--anyway').exit).toBe(2);
    folder.person.data('start', '5', '--anyway', '--why', 'urgent fix');
    const [override] = stateOf(folder).decisions.order_overrides;
    expect(override).toMatchObject({ step: '5', reason: 'urgent fix' });
    expect(override.problem).toContain('`4` comes first');
    expect(folder.data('mirror', 'sync')['mirrors'][0]).toMatchObject({ written: [], absorbed: 0 });
  });

  it('loads at most three files at the start of a step', () => {
    const folder = mirrored();
    const refused = folder.fault('plan', 'add', 'x', 'More', '--context', 'a,b,c,d');
    expect([refused.exit, refused.message]).toEqual([1, 'A step loads at most 3 files at its start, not 4.']);
    expect(folder.data('plan', 'add', 'x', 'More', '--context', 'a,b,c')['step'].context).toEqual(['a', 'b', 'c']);
  });
});

describe('files of other versions and damaged ones', () => {
  const snippet = JSON.stringify({
    schema_version: '3.0',
    project: 'shop',
    current_step: 2,
    steps: { '2': { status: 'in_progress', sub_step: 'phase_2_waf', artifacts: [] } },
  });

  it('gets the missing steps and gates from the preset, and stays where it is', () => {
    const folder = newFolder();
    put(folder, STATE, snippet);
    put(folder, 'agent-output/shop/01-requirements.md', 'r');
    folder.data('adopt', '--mirror');
    folder.data('plan', 'import', 'apex');
    const { steps, current_step } = stateOf(folder);
    const statuses = Object.fromEntries(
      Object.entries(steps).map(([key, step]) => [key, (step as { status: string }).status]),
    );
    expect(statuses).toMatchObject({ '1': 'complete', '2': 'in_progress', '3_5': 'pending', '7': 'pending' });
    expect([Object.keys(statuses).length, current_step]).toEqual([8, 2]);
    folder.data('start', '2', ...bot);
    expect(folder.fault('start', '3', ...bot).message).toContain('Gate 2');
  });

  it('says that an adopted file stays as it is, and that it changed', () => {
    const folder = newFolder();
    put(folder, STATE, snippet.replace('3.0', '1.0'));
    expect(folder.run('adopt').out).toContain('The file stays 1.0; `holdfast mirror add apex` migrates it');
    expect(stateOf(folder).schema_version).toBe('1.0');
    put(folder, STATE, snippet.replace('3.0', '1.0').replace('phase_2_waf', 'phase_3_cost'));
    const { out, err } = folder.run('resume');
    expect(out + err).toContain('`holdfast mirror add apex` keeps it in sync');
    folder.data('mirror', 'add', 'apex');
    expect(stateOf(folder)).toMatchObject({ schema_version: '3.0', steps: { '2': { sub_step: 'phase_3_cost' } } });
  });

  it('refuses work on steps beside a newer version', () => {
    const folder = mirrored();
    const newer = textOf(folder).replace('"schema_version": "3.0"', '"schema_version": "4.0"');
    put(folder, STATE, newer);
    for (const words of [
      ['start', '1'],
      ['checkpoint', 'x'],
      ['complete', '1'],
    ]) {
      const refused = folder.fault(...words, ...bot);
      expect(refused.exit).toBe(1);
      expect(refused.message).toContain('version 4.0 is newer than 3.0: no step work');
      expect(refused.hints.join(' ')).toContain('holdfast mirror remove');
    }
    expect(textOf(folder)).toBe(newer);
  });

  it('writes a fresh file in place of an empty one, and keeps it in sync', () => {
    const folder = newFolder();
    put(folder, STATE, '');
    expect(folder.fault('init').hints.join(' ')).toContain(`holdfast doctor ${STATE} --repair`);
    const { out } = folder.run('doctor', STATE, '--repair');
    expect(out).toContain('kept in sync');
    expect(Object.values(stateOf(folder).steps as Record<string, { status: string }>)).toHaveLength(8);
    expect(folder.run('log').out).toContain('recovered from the template');
    folder.data('start', '1', ...bot);
    expect(stateOf(folder).steps['1'].status).toBe('in_progress');
    expect(folder.fault('start', '2', ...bot).message).toContain('Gate 1');
  });

  it('opens the gates of started steps after a repair, and reads skipped ones from the page', () => {
    const folder = newFolder();
    put(folder, STATE, '{ "schema');
    put(
      folder,
      PAGE,
      '# Shop — Handoff\n\n## Completed Steps\n\n- [x] Step 1 → agent-output/shop/01-a.md\n- [x] Step 2 → agent-output/shop/02-a.md\n- [x] Step 3 → (skipped)\n',
    );
    expect(folder.run('doctor', STATE, '--repair').out).toContain('kept in sync');
    expect(stateOf(folder).steps['3'].status).toBe('skipped');
    expect(folder.fault('start', '3_5', ...bot).message).toContain('Gate 2');
  });
});
