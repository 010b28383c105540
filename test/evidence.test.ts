import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOf, type Folder, newFolder, newPlainWorkspace, newWorkspace } from './command-line.ts';

interface Seen {
  id: string;
  kind: string;
  path: string;
  expected: string;
  found: string;
  since: string;
  step: string | null;
}

const conflicts = (folder: Folder, ...words: string[]): Seen[] =>
  folder.data('resume', ...words)['conflicts'] as Seen[];
const kinds = (folder: Folder, ...words: string[]): string[] =>
  conflicts(folder, ...words)
    .map(({ kind, path }) => `${kind} ${path}`)
    .sort();

function write(folder: Folder, path: string, text: string): void {
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function git(cwd: string, ...words: string[]): string {
  const settings = ['user.name=test', 'user.email=test@example.org', 'init.defaultBranch=main', 'commit.gpgsign=false'];
  const ran = spawnSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...words], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  });
  if (ran.status !== 0) throw new Error(`git ${words.join(' ')}: ${ran.stderr}`);
  return ran.stdout.trim();
}

/** A workspace in a repository with one commit. */
const newRepository = (): Folder => copyOf('repository', begin);

function begin(): Folder {
  const folder = newWorkspace();
  git(folder.path, 'init', '--quiet');
  write(folder, 'README.md', 'A project.\n');
  commit(folder, 'Begin');
  return folder;
}

function commit(folder: Folder, message: string): string {
  git(folder.path, 'add', '--all', '--', '.');
  git(folder.path, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(folder.path, 'rev-parse', 'HEAD');
}

/** Finishes a step that left these files. */
function finish(folder: Folder, step: string, files: readonly string[], ...words: string[]): void {
  folder.data('start', step, '--agent', 'claude');
  for (const file of files) write(folder, file, `export const name = '${file}';\n`);
  folder.data('complete', '--agent', 'claude', ...files.flatMap((file) => ['--artifact', file]), ...words);
}

/** A process that owns what is recorded until it is killed. */
function newOwner(folder: Folder): () => Promise<void> {
  const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  folder.env['HOLDFAST_PID'] = String(owner.pid);
  return async () => {
    delete folder.env['HOLDFAST_PID'];
    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
  };
}

describe.each([
  ['in a git repository', newRepository],
  ['without git', newPlainWorkspace],
])('files changed behind the tool’s back %s', (_, make) => {
  it('are found again in another folder', () => {
    const folder = make();
    finish(folder, 't1', ['src/old.ts']);
    mkdirSync(join(folder.path, 'node_modules/twin'), { recursive: true });
    copyFileSync(join(folder.path, 'src/old.ts'), join(folder.path, 'node_modules/twin/old.ts'));
    mkdirSync(join(folder.path, 'lib/deep'), { recursive: true });
    renameSync(join(folder.path, 'src/old.ts'), join(folder.path, 'lib/deep/old.ts'));
    expect(folder.data('resume')).toMatchObject({
      conflicts: [{ kind: 'renamed', path: 'src/old.ts', found: 'at lib/deep/old.ts' }],
    });
  });

  it('are distinguished: the same, edited, deleted, renamed, never there', () => {
    const folder = make();
    finish(folder, 't1', ['src/same.ts', 'src/edited.ts', 'src/gone.ts', 'src/old.ts'], '--artifact', 'src/claimed.ts');
    expect(kinds(folder)).toEqual(['claimed_absent src/claimed.ts']);
    appendFileSync(join(folder.path, 'src/edited.ts'), '// more\n');
    rmSync(join(folder.path, 'src/gone.ts'));
    renameSync(join(folder.path, 'src/old.ts'), join(folder.path, 'src/new.ts'));
    const brief = folder.data('resume');
    const seen = brief['conflicts'] as Seen[];
    expect(kinds(folder)).toEqual([
      'changed_outside src/edited.ts',
      'claimed_absent src/claimed.ts',
      'gone src/gone.ts',
      'renamed src/old.ts',
    ]);
    expect(seen.find((one) => one.kind === 'renamed')).toMatchObject({ found: 'at src/new.ts', step: 't1' });
    const edited = seen.find((one) => one.kind === 'changed_outside');
    expect(edited).toMatchObject({ id: expect.stringMatching(/^K-[0-9a-f]{6}$/), since: expect.stringMatching(/Z$/) });
    expect(edited?.expected).toMatch(/^sha256 [0-9a-f]{12}, \d+ bytes$/);
    expect(edited?.found).toMatch(/^sha256 [0-9a-f]{12}, \d+ bytes$/);
    expect(brief['evidence']).toMatchObject({ holds: 1, drifted: 4, unknown: 0, accepted: 0 });
    expect(brief['text']).toMatch(
      new RegExp(`^Open: ${edited?.id}, conflict since .*: "src/edited.ts" changed from outside`, 'm'),
    );
    expect(brief['freshness']).toMatchObject({ fresh: false });
  });

  it('are accepted one by one, and again after another change', () => {
    const folder = make();
    finish(folder, 't1', ['a.ts', 'b.ts']);
    appendFileSync(join(folder.path, 'a.ts'), '// more\n');
    rmSync(join(folder.path, 'b.ts'));
    const [first, second] = conflicts(folder);
    expect(folder.run('resume', '--strict').code).toBe(1);
    expect(folder.run('resume').code).toBe(0);
    const wrong = folder.fault('accept', 'K-000000');
    expect(wrong).toMatchObject({ code: 'not_found', exit: 1 });
    expect(wrong.data['open']).toMatchObject([{ id: first?.id }, { id: second?.id }]);
    expect(wrong.hints.join(' ')).toContain(first?.id);

    expect(folder.data('accept', first?.id ?? '', '--note', 'the formatter')).toMatchObject({ id: first?.id, open: 1 });
    const told = readFileSync(folder.own('RESUME.md'), 'utf8');
    expect(told).not.toContain(first?.id);
    expect(told).toContain(second?.id);
    expect(folder.data('accept', first?.id ?? '').changed).toEqual([]);
    expect(conflicts(folder).map((one) => one.id)).toEqual([second?.id]);
    folder.data('accept', second?.id ?? '');
    const brief = folder.data('resume', '--strict');
    expect(brief).toMatchObject({ conflicts: [], evidence: { accepted: 2, drifted: 2 } });
    appendFileSync(join(folder.path, 'a.ts'), '// and more\n');
    expect(kinds(folder)).toEqual(['changed_outside a.ts']);
  });

  it('of the same size and an older time are detected', () => {
    const folder = make();
    finish(folder, 't1', ['a.ts']);
    const file = join(folder.path, 'a.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace('name', 'nome'));
    utimesSync(file, new Date(0), new Date(0));
    expect(kinds(folder)).toEqual(['changed_outside a.ts']);
  });

  it('include the plan, as it was at init or import', () => {
    const folder = newFolder();
    if (make === newRepository) git(folder.path, 'init', '--quiet');
    write(folder, 'plan.md', '# One\n\n- [ ] first\n');
    folder.data('init', '--title', 'Planned', '--plan', 'plan.md');
    expect(kinds(folder)).toEqual([]);
    appendFileSync(join(folder.path, 'plan.md'), '- [ ] second\n');
    expect(kinds(folder)).toEqual(['plan_changed plan.md']);
    folder.data('init', '--title', 'Unplanned', '--id', 'other');
    folder.env['HOLDFAST_RUN'] = 'other';
    expect(kinds(folder)).toEqual([]);
    folder.data('plan', 'import', 'plan.md');
    rmSync(join(folder.path, 'plan.md'));
    expect(conflicts(folder)).toMatchObject([{ kind: 'plan_changed', path: 'plan.md', found: 'not there' }]);
  });

  it('include the files that --built names', () => {
    const folder = make();
    write(folder, 'src/issuer.ts', 'export {};\n');
    finish(folder, 't1', [], '--built', 'The issuer in `src/issuer.ts`; removed src/never.ts.');
    expect(folder.data('resume')).toMatchObject({ conflicts: [], evidence: { holds: 1 } });
    write(folder, 'src/issuer.ts', 'export const broken = true;\n');
    expect(kinds(folder)).toEqual(['built_mismatch src/issuer.ts']);
  });

  it('are shown to the next agent after a kill in the middle of a step', async () => {
    const folder = make();
    finish(folder, 't1', ['done.ts']);
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'claude');
    const kill = newOwner(folder);
    folder.data('session', 'start', '--agent', 'gemini');
    folder.data('start', 't2', '--agent', 'gemini');
    write(folder, 'src/rotate.ts', 'export function rotate() {}\n');
    folder.data('checkpoint', 'drafted', '--agent', 'gemini', '--artifact', 'src/rotate.ts');
    write(folder, 'src/rotate.ts', 'export function rota');
    write(folder, 'src/half.ts', 'import');
    expect(kinds(folder, '--agent', 'codex')).toEqual([]);
    await kill();

    const seen = conflicts(folder, '--agent', 'codex');
    const expected = ['half_changed src/rotate.ts'];
    // Without git, a file that is not recorded stays unknown.
    if (make === newRepository) expected.unshift('half_changed src/');
    expect(seen.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual(expected);
    expect(seen.every((one) => one.step === 't2')).toBe(true);
    expect(folder.run('resume', '--strict', '--agent', 'codex').code).toBe(1);
    expect(folder.data('session', 'start', '--agent', 'codex')['brief']).toContain(
      'half-changed by an interrupted step',
    );
    folder.data('start', 't2', '--agent', 'codex');
    expect(kinds(folder, '--agent', 'codex')).toEqual([]);
  });

  it('are not followed out of the workspace', () => {
    const folder = make();
    const outside = newFolder();
    write(outside, 'secret.ts', 'secret\n');
    finish(folder, 't1', ['a.ts', 'sub/b.ts', 'c.ts']);
    for (const path of ['a.ts', 'sub', 'c.ts']) rmSync(join(folder.path, path), { recursive: true });
    symlinkSync(join(outside.path, 'secret.ts'), join(folder.path, 'a.ts'));
    symlinkSync(outside.path, join(folder.path, 'sub'));
    mkdirSync(join(folder.path, 'c.ts'));
    expect(
      conflicts(folder)
        .map(({ path, found }) => [path, found])
        .sort(),
    ).toEqual([
      ['a.ts', 'a link out of the workspace'],
      ['c.ts', 'a folder'],
      ['sub/b.ts', 'a link out of the workspace'],
    ]);
  });
});

describe('git', () => {
  it('reports that the work is on another branch, until it is merged', () => {
    const folder = newRepository();
    git(folder.path, 'checkout', '--quiet', '-b', 'feature');
    folder.data('start', 't1', '--agent', 'claude');
    write(folder, 'a.ts', 'export {};\n');
    commit(folder, 'Add a');
    folder.data('complete', '--agent', 'claude', '--artifact', 'a.ts');
    expect(folder.data('resume')).toMatchObject({ conflicts: [], freshness: { branch: 'feature', commitsSince: 0 } });
    git(folder.path, 'checkout', '--quiet', 'main');
    expect(kinds(folder)).toEqual(['gone a.ts', 'other_branch .']);
    expect(folder.data('session', 'start', '--agent', 'codex')['brief']).toContain(
      'It was on branch "feature"; this worktree is on "main" now.',
    );
    folder.data('start', 't2', '--agent', 'codex');
    expect(kinds(folder)).toEqual(['gone a.ts', 'other_branch .']);
    git(folder.path, 'merge', '--quiet', '--no-ff', '--message', 'Merge', 'feature');
    const merged = folder.data('resume');
    expect(merged).toMatchObject({ conflicts: [], freshness: { branch: 'main', commitsSince: 1 } });
    expect(merged['freshness'].text).toMatch(/1 commit and \d events since, branch "main", \d dirty file/);
  });

  it('reports that the commit of the work was amended away', () => {
    const folder = newRepository();
    folder.data('start', 't1', '--agent', 'claude');
    write(folder, 'a.ts', 'export {};\n');
    commit(folder, 'Add a');
    folder.data('checkpoint', 'drafted', '--agent', 'claude', '--artifact', 'a.ts');
    git(folder.path, 'commit', '--quiet', '--amend', '--message', 'Add a, in other words');
    const [lost] = conflicts(folder);
    expect(lost).toMatchObject({ kind: 'rebased_away', step: 't1', found: 'not in the history of branch main' });
    folder.data('accept', lost?.id ?? '');
    commit(folder, 'One more');
    expect(conflicts(folder)).toEqual([]);
    git(folder.path, 'reflog', 'expire', '--expire=now', '--all');
    git(folder.path, 'gc', '--quiet', '--prune=now');
    expect(conflicts(folder)).toMatchObject([{ kind: 'rebased_away', found: 'not in this repository' }]);
  });

  it('knows what was dirty when a session started and ended', () => {
    const folder = newRepository();
    write(folder, 'README.md', 'Changed.\n');
    folder.data('session', 'start', '--agent', 'claude');
    write(folder, 'with space.md', 'New.\n');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'claude');
    const events = folder.data('log')['events'] as { type: string; body: { mark?: { dirty: string[] } } }[];
    const dirty = (type: string) => events.find((event) => event.type === type)?.body.mark?.dirty.sort();
    expect(dirty('session.started')).toEqual(['README.md']);
    expect(dirty('session.ended')).toEqual(['README.md', 'with space.md']);
    expect(folder.data('resume')).toMatchObject({ freshness: { dirtyFiles: 2 } });
  });

  it('is not run by a checkpoint', () => {
    const folder = newRepository();
    // A git in the working tree would not be run at all.
    const { path: bin } = newFolder();
    const calls = join(bin, 'calls.log');
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >> '${calls}'\nPATH='${folder.env['PATH']}' exec git "$@"\n`);
    chmodSync(join(bin, 'git'), 0o755);
    writeFileSync(calls, '');
    folder.env['PATH'] = `${bin}:${folder.env['PATH']}`;
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('checkpoint', 'drafted', '--agent', 'claude');
    folder.data('complete', '--agent', 'claude');
    expect(readFileSync(calls, 'utf8')).toBe('');
    folder.data('resume');
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([expect.stringContaining('status --porcelain=v2')]);
  });

  it('may fail: then the hashes decide, and nothing is called fresh', () => {
    const folder = newRepository();
    finish(folder, 't1', ['a.ts']);
    expect(folder.data('resume')).toMatchObject({ freshness: { fresh: true, commitsSince: 0, dirtyFiles: 1 } });
    folder.env['PATH'] = join(folder.path, 'nowhere');
    appendFileSync(join(folder.path, 'a.ts'), '// more\n');
    const brief = folder.data('resume');
    expect(brief).toMatchObject({
      freshness: { fresh: false, dirtyFiles: null },
      conflicts: [{ kind: 'changed_outside', path: 'a.ts' }],
    });
    expect(brief['freshness'].text).toContain('changed files unknown');
  });

  it('finds a file that moved to a new folder, recorded from a folder below the top', () => {
    const top = newFolder();
    git(top.path, 'init', '--quiet');
    const folder = { ...top, path: join(top.path, 'packages/app') };
    mkdirSync(folder.path, { recursive: true });
    const inside = (...words: string[]) => [...words, '--dir', folder.path];
    top.data(...inside('init', '--title', 'App'));
    top.data(...inside('plan', 'add', 't1', 'One'));
    write(folder, 'a.ts', 'export {};\n');
    write(top, 'elsewhere.ts', 'not of this workspace\n');
    top.data(...inside('start', 't1', '--agent', 'claude'));
    top.data(...inside('complete', '--agent', 'claude', '--artifact', 'a.ts'));
    mkdirSync(join(folder.path, 'new/deep'), { recursive: true });
    renameSync(join(folder.path, 'a.ts'), join(folder.path, 'new/deep/a.ts'));
    const brief = top.data(...inside('resume'));
    const [path, found] = ['packages/app/a.ts', 'at packages/app/new/deep/a.ts'];
    expect(brief).toMatchObject({ conflicts: [{ kind: 'renamed', path, found }] });
  });

  it('finds a file that was moved to another folder and committed there', () => {
    const folder = newRepository();
    finish(folder, 't1', ['a.ts']);
    commit(folder, 'Build it');
    mkdirSync(join(folder.path, 'lib/deep'), { recursive: true });
    git(folder.path, 'mv', 'a.ts', 'lib/deep/b.ts');
    commit(folder, 'Move it');
    expect(folder.data('resume')).toMatchObject({
      conflicts: [{ kind: 'renamed', path: 'a.ts', found: 'at lib/deep/b.ts' }],
    });
  });

  it('does not know another working tree', () => {
    const folder = newRepository();
    finish(folder, 't1', ['a.ts']);
    const linked = newFolder();
    git(folder.path, 'worktree', 'add', '--quiet', join(linked.path, 'tree'));
    const there = ['--dir', join(linked.path, 'tree')];
    const brief = folder.data('resume', ...there);
    expect(brief).toMatchObject({
      conflicts: [],
      evidence: { holds: 0, unknown: 1, files: [{ path: 'a.ts', why: 'recorded in the main working tree' }] },
      freshness: { fresh: false, branch: 'tree' },
    });
    writeFileSync(join(linked.path, 'tree/b.ts'), 'export {};\n');
    folder.data('start', 't2', '--agent', 'codex', ...there);
    folder.data('complete', '--agent', 'codex', '--artifact', 'b.ts', ...there);
    expect(folder.data('resume')).toMatchObject({ conflicts: [], evidence: { holds: 1, unknown: 1 } });
    rmSync(join(linked.path, 'tree/b.ts'));
    expect(kinds(folder)).toEqual([]);
    expect(kinds(folder, ...there)).toEqual(['gone b.ts']);
    git(folder.path, 'worktree', 'remove', '--force', join(linked.path, 'tree'));
  });
});

describe('a large tree', () => {
  it('is not read except at the recorded paths', () => {
    const folder = newRepository();
    // Hundreds of files show the same as millions.
    for (let index = 0; index < 500; index++) write(folder, `big/${index % 50}/${index}.txt`, `${index}\n`);
    commit(folder, 'Add many');
    finish(folder, 't1', ['src/a.ts', 'src/b.ts']);
    commit(folder, 'Add two');
    appendFileSync(join(folder.path, 'src/a.ts'), '// more\n');
    const calls = folder.own('calls.log');
    const spy = folder.own('spy.cjs');
    writeFileSync(spy, SPY);
    writeFileSync(calls, '');
    folder.env['NODE_OPTIONS'] = `--require ${spy}`;
    folder.env['SPY_LOG'] = calls;
    expect(kinds(folder)).toEqual(['changed_outside src/a.ts']);
    delete folder.env['NODE_OPTIONS'];
    const touched = readFileSync(calls, 'utf8').split('\n');
    expect(touched.filter((line) => line.includes('/big/'))).toEqual([]);
    // A file whose size and time are as recorded is not read.
    const opened = touched.filter((line) => line.startsWith(`openSync ${join(folder.path, 'src')}`));
    expect(opened).toEqual([`openSync ${join(folder.path, 'src/a.ts')}`]);
  });
});

/** Logs every path that the program itself opens. */
const SPY = `
const fs = require('node:fs');
const { appendFileSync } = fs;
for (const name of ['openSync', 'readFileSync', 'lstatSync', 'statSync', 'readdirSync', 'opendirSync']) {
  const real = fs[name];
  fs[name] = function (path, ...rest) {
    if (typeof path === 'string') log.push(name + ' ' + path);
    return real.call(this, path, ...rest);
  };
}
const log = [];
process.on('exit', () => appendFileSync(process.env.SPY_LOG, log.join('\\n') + '\\n'));
`;
