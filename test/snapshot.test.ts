import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/core/tokens.ts';
import { parseSnapshot } from '../src/formats/documents/snapshot-reading.ts';
import { copyOf, type Folder, newWorkspace } from './command-line.ts';

const agent = ['--agent', 'claude'];
const read = (folder: Folder, name: string): string => readFileSync(folder.own('snapshots', name), 'utf8');

function git(folder: Folder, ...words: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  const ran = spawnSync('git', [...identity, ...words], { cwd: folder.path, encoding: 'utf8' });
  expect([words, ran.status]).toEqual([words, 0]);
  return ran.stdout.trim();
}

/** A session in the middle of its work, with something in every section. */
const atWork = (): Folder => copyOf('session at work', work);

function work(): Folder {
  const folder = newWorkspace();
  writeFileSync(join(folder.path, 'plan.md'), 'one\ntwo\n');
  git(folder, 'symbolic-ref', 'HEAD', 'refs/heads/feature');
  git(folder, 'add', 'plan.md');
  git(folder, 'commit', '-q', '-m', 'First');
  folder.data('plan', 'set', 't1', '--context', 'plan.md');
  folder.data('session', 'start', ...agent);
  folder.data('start', 't1', ...agent);
  writeFileSync(join(folder.path, 'token.ts'), 'export {};\n');
  folder.data('checkpoint', 'drafted', '--artifact', 'token.ts', '--next', 'wire the router', ...agent);
  folder.data('decide', '--context', 'c', '--decision', 'a cookie', '--reason', 'XSS', ...agent);
  folder.data('raise', 'question', 'every use?', ...agent);
  folder.data('raise', 'commitment', 'review the plan', '--to', 'codex', ...agent);
  return folder;
}

describe('a snapshot', () => {
  it('is taken at every session end from the journal, git and the files', () => {
    const folder = atWork();
    const ended = folder.data(
      ...['session', 'end', '--reason', 'context-exhausted', '--next', 'wire it now', '--why', 'tests are red'],
      ...['--file-note', 'token.ts=drafted', ...agent],
    );
    expect(ended).toMatchObject({
      snapshot: { id: 'P-1', agent: 'claude', sequence: 1, path: '.git/holdfast/snapshots/claude-1.md' },
    });
    const text = read(folder, 'claude-1.md');
    const { value, problems } = parseSnapshot(text);
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      session: 'S-1',
      agent: 'claude',
      closeReason: 'context-exhausted',
      branch: 'feature',
      head: git(folder, 'rev-parse', 'HEAD'),
      journalVersion: ended['version'],
      token: ended['snapshot'].token,
      tokenVerdict: 'valid',
      task: { status: 'partial', step: 't1', next: 'wire it now' },
      reading: [
        { path: 'plan.md', lines: 2, tokens: expect.any(Number) },
        { path: 'token.ts', lines: 1 },
      ],
      modified: [{ path: 'token.ts', note: 'created, +1: "drafted"' }],
      questions: ['Q-1'],
    });
    expect(text).toContain('- C-1 to "codex": "review the plan"');
    expect(text).toContain('- D-1: "a cookie" Why: "XSS"');
    expect(text).toContain('- Why things stand as they do: "tests are red"');
    expect(folder.data('check')).toMatchObject({ failed: 0 });
    expect(folder.data('resume')['nextAction']).toMatchObject({ text: 'wire it now', session: 'S-1' });
  });

  it('lists what git reports and no session recorded, and what was deleted', () => {
    const folder = atWork();
    writeFileSync(join(folder.path, 'more.ts'), '1\n');
    unlinkSync(join(folder.path, 'plan.md'));
    unlinkSync(join(folder.path, 'token.ts'));
    folder.data('snapshot', ...agent);
    const { value } = parseSnapshot(read(folder, 'claude-1.md'));
    expect(value?.modified).toMatchObject([
      { path: 'token.ts', mayBeGone: true, note: 'absent (recorded as modified)' },
      { path: 'plan.md', mayBeGone: true, note: 'deleted, not recorded' },
      { path: 'more.ts', mayBeGone: false, note: 'created, +1, not recorded' },
    ]);
    expect(value).toMatchObject({ sessionOpen: true, closeReason: null });
    expect(folder.data('check')).toMatchObject({ failed: 0 });
  });

  it('lists no mirrored file, whether git tracks its folder or not', () => {
    const folder = newWorkspace();
    git(folder, 'symbolic-ref', 'HEAD', 'refs/heads/feature');
    folder.data('mirror', 'add', 'snap');
    const sitting = (name: string): string | undefined => {
      folder.data('start', 't1', ...agent);
      folder.data('raise', 'question', 'every use?', ...agent);
      writeFileSync(join(folder.path, name), 'x\n');
      folder.data('session', 'end', '--reason', 'timeout', ...agent);
      const number = folder.data('check')['snapshots'][0].at.match(/claude-(\d)/)?.[1];
      return /### Files modified.*?\n\n(.*?)\n\n/s.exec(read(folder, `claude-${number}.md`))?.[1];
    };
    expect(sitting('one.ts')).toMatch(/^- `one.ts` [^\n]*$/);
    git(folder, 'add', 'working-session', 'one.ts');
    git(folder, 'commit', '-q', '-m', 'First');
    expect(sitting('two.ts')).toMatch(/^- `two.ts` [^\n]*$/);
    expect(git(folder, 'status', '--porcelain')).toContain('working-session/TURNFILE.yaml');
  });

  it('of a session without a step names an interrupted step', () => {
    const folder = newWorkspace();
    const next = (name: string): string | null | undefined =>
      parseSnapshot(read(folder, `${name}-1.md`)).value?.task?.next;
    const workAs = (name: string): void => {
      folder.data('session', 'start', '--agent', name);
      folder.data('session', 'end', '--reason', 'completed', '--agent', name);
    };
    folder.data('start', 't1', ...agent);
    folder.data('session', 'end', '--reason', 'timeout', ...agent);
    workAs('ada');
    expect(next('ada')).toBe(`Take step "t1" over with 'holdfast start KEY' and start it again: it has no checkpoint.`);
    folder.data('start', 't1', ...agent);
    folder.data('checkpoint', 'drafted', '--next', 'wire the router', ...agent);
    folder.data('session', 'end', '--reason', 'timeout', ...agent);
    workAs('bo');
    expect(next('bo')).toBe(
      `Take step "t1" over with 'holdfast start KEY' and continue after checkpoint "drafted". It was declared: "wire the router"`,
    );
    folder.data('start', 't1', ...agent);
    folder.data('complete', ...agent);
    folder.data('session', 'end', '--reason', 'completed', ...agent);
    workAs('cy');
    expect(next('cy')).toBe(`Start step "t2" with 'holdfast start KEY'.`);
    expect(folder.data('check', '--all')['failed']).toBe(0);
  });

  it('can be taken during a session, is numbered, and supersedes the one before', () => {
    const folder = atWork();
    expect(folder.data('snapshot', '--next', 'first', ...agent)).toMatchObject({ id: 'P-1', sequence: 1 });
    folder.data('complete', ...agent);
    expect(folder.data('snapshot', ...agent)).toMatchObject({ id: 'P-2', sequence: 2 });
    expect(parseSnapshot(read(folder, 'claude-2.md')).value).toMatchObject({
      task: { status: 'complete', step: 't1', next: `Start step "t2" with 'holdfast start KEY'.` },
    });
    folder.data('raise', 'blocker', 'no key', '--affects', 't2');
    folder.data('session', 'end', '--reason', 'completed', ...agent);
    const checked = folder.data('check', '--all');
    expect(checked['snapshots'].map((one: { standing: string }) => one.standing)).toEqual([
      'superseded',
      'superseded',
      'current',
    ]);
    expect(checked['failed']).toBe(0);
    expect(folder.fault('snapshot', '--agent', 'nobody')).toMatchObject({ code: 'usage' });
  });

  it('shows that a task is blocked', () => {
    const folder = atWork();
    folder.data('raise', 'blocker', 'no key', '--affects', 't1', ...agent);
    folder.data('session', 'end', '--reason', 'maintainer-directed', ...agent);
    expect(parseSnapshot(read(folder, 'claude-1.md')).value?.task).toMatchObject({ status: 'blocked', step: 't1' });
    expect(folder.data('check')).toMatchObject({ failed: 0 });
  });

  it('is reconstructed for a session that was killed, with its true end, and passes the check', async () => {
    const folder = atWork();
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('session', 'end', '--reason', 'completed', ...agent);
    folder.data('session', 'start', ...agent);
    folder.data('start', 't1', ...agent);
    folder.data('checkpoint', 'tested', '--artifact', 'token.ts', '--next', 'merge it', ...agent);
    delete folder.env['HOLDFAST_PID'];
    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    folder.data('resume', '--agent', 'codex');
    const text = read(folder, 'claude-2.md');
    expect(parseSnapshot(text)).toMatchObject({
      problems: [],
      value: {
        session: 'S-2',
        closeReason: 'timeout',
        reconstructed: true,
        endedAt: expect.stringMatching(/Z$/),
        tokenVerdict: 'valid',
        task: { status: 'partial', step: 't1', next: 'merge it' },
      },
    });
    expect(folder.data('check')).toMatchObject({ failed: 0 });
    // The same where a command takes over without a look before.
    expect(folder.data('start', 't1', '--agent', 'codex')).toMatchObject({ session: 'S-3' });
  });

  it('stays within 1,500 tokens after a long session', () => {
    const folder = atWork();
    const files = Array.from({ length: 120 }, (_, index) => `file-${index}-${'long'.repeat(12)}.ts`);
    for (const file of files) writeFileSync(join(folder.path, file), 'x\n');
    folder.data('checkpoint', 'tested', ...files.flatMap((file) => ['--artifact', file]), ...agent);
    for (let index = 0; index < 8; index++) folder.data('raise', 'commitment', 'a promise '.repeat(60), ...agent);
    folder.data('session', 'end', '--reason', 'completed', '--why', 'because '.repeat(2000), ...agent);
    const text = read(folder, 'claude-1.md');
    expect(estimateTokens(text)).toBeLessThanOrEqual(1500);
    expect(text).toMatch(/- \d+ more, left out for length/);
    expect(folder.data('check')).toMatchObject({ failed: 0 });
  });

  it('is written again from the journal, as it was, when its file is lost', () => {
    const folder = atWork();
    const ended = folder.data('session', 'end', '--reason', 'completed', ...agent);
    const text = read(folder, 'claude-1.md');
    writeFileSync(join(folder.path, 'token.ts'), 'changed since\n');
    rmSync(folder.own('snapshots'), { recursive: true });
    const lost = folder.run('check', '--json');
    expect([lost.code, lost.json.data['rules']]).toMatchObject([
      1,
      [{ rule: 'recorded', result: 'fail', why: expect.stringContaining('holdfast snapshot --again P-1') }],
    ]);
    expect(folder.data('doctor')['findings']).toMatchObject([{ code: 'snapshot', level: 'warning' }]);
    expect(folder.data('snapshot', '--again', 'P-1')).toMatchObject({ token: ended['snapshot'].token });
    expect(read(folder, 'claude-1.md')).toBe(text);
    unlinkSync(folder.own('snapshots', 'claude-1.md'));
    folder.data('doctor', '--rebuild');
    expect(read(folder, 'claude-1.md')).toBe(text);
    expect(folder.data('doctor')['findings']).toEqual([]);
    expect(folder.fault('snapshot', '--again', 'P-7')).toMatchObject({ code: 'not_found' });
  });

  it('is in the journal even if its file cannot be written', () => {
    const folder = atWork();
    writeFileSync(folder.own('snapshots'), 'in the way');
    const ran = folder.run('session', 'end', '--reason', 'completed', '--json', ...agent);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('could not be written');
    renameSync(folder.own('snapshots'), join(folder.path, 'aside'));
    folder.data('snapshot', '--again', 'P-1');
    expect(parseSnapshot(read(folder, 'claude-1.md')).value?.tokenVerdict).toBe('valid');
  });

  it('of a second run in the same workspace has its own folder', () => {
    const folder = atWork();
    folder.data('session', 'end', '--reason', 'completed', ...agent);
    folder.data('init', '--title', 'Other', '--id', 'other');
    folder.data('session', 'start', '--run', 'other', ...agent);
    const ended = folder.data('session', 'end', '--reason', 'completed', '--run', 'other', ...agent);
    expect(ended['snapshot'].path).toBe('.git/holdfast/snapshots/other/claude-1.md');
    for (const run of ['auth', 'other']) expect(folder.data('check', '--run', run)).toMatchObject({ failed: 0 });
    expect(read(folder, 'claude-1.md')).toContain('run: "auth"\n');
  });

  it('loses erased text, on disk too', () => {
    const folder = atWork();
    folder.data('decide', '--context', 'c', '--decision', 'hunter2', '--reason', 'r', ...agent);
    folder.data('session', 'end', '--reason', 'completed', ...agent);
    expect(read(folder, 'claude-1.md')).toContain('hunter2');
    folder.person.data('erase', 'D-2', '--reason', 'leaked');
    expect(existsSync(folder.own('snapshots', 'claude-1.md'))).toBe(false);
    expect(folder.run('log', '--limit', '200', '--json').out).not.toContain('hunter2');
    expect(folder.fault('snapshot', '--again', 'P-1')).toMatchObject({ code: 'illegal' });
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('shows the mail that its agent leaves unread', () => {
    const folder = atWork();
    folder.data('handoff', '--to', 'codex', ...agent);
    folder.data('session', 'start', '--agent', 'codex');
    const ran = folder.run('session', 'end', '--reason', 'completed', '--agent', 'codex', '--json');
    expect(ran.json.data['mail']).toMatchObject({ unread: [{ id: 'M-1', from: 'claude', priority: 'P1' }] });
    expect(ran.out).toContain('It ended over unread mail: M-1.');
    mkdirSync(join(folder.path, 'sub'));
    expect(folder.run('check', '--dir', 'sub').code).toBe(0);
  });
});
