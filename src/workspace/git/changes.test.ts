import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommitsSince, readLineCounts } from './changes.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-changes-')));
  git('init', '--quiet');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...words: string[]): string {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
  const env = { PATH: process.env['PATH'], HOME: root, GIT_COMMITTER_DATE: '2026-11-16T10:38:00Z' };
  const done = spawnSync('git', [...settings, ...words], { cwd: root, encoding: 'utf8', env });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout.trim();
}

function commit(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git('add', '.');
  git('commit', '--quiet', '-m', 'work');
  return git('rev-parse', 'HEAD');
}

describe('changes that git knows', () => {
  it('are counted in lines since the last commit, staged or not', async () => {
    expect(await readLineCounts(root)).toBeNull();
    commit({ 'a "b".txt': 'one\ntwo\n', 'c.txt': 'c\n', 'gone.txt': 'x\n', 'same.txt': 's\n', 'bin.dat': '\0\u0001' });
    writeFileSync(join(root, 'a "b".txt'), 'one\n2\n3\n');
    writeFileSync(join(root, 'c.txt'), 'c\nd\n');
    writeFileSync(join(root, 'bin.dat'), '\0\u0002');
    git('add', 'c.txt');
    git('rm', '--quiet', 'gone.txt');
    expect(await readLineCounts(root)).toEqual(
      new Map([
        ['a "b".txt', { added: 2, deleted: 1 }],
        ['bin.dat', null],
        ['c.txt', { added: 1, deleted: 0 }],
        ['gone.txt', { added: 0, deleted: 1 }],
      ]),
    );
  });

  it('are the commits since an earlier one, with their files and times', async () => {
    const first = commit({ 'a.txt': '1' });
    commit({ 'b/ö.txt': '1', 'a.txt': '2' });
    commit({ 'c.txt': '1' });
    expect(await readCommitsSince(root, first)).toEqual([
      { at: '2026-11-16T10:38:00.000Z', paths: ['c.txt'] },
      { at: '2026-11-16T10:38:00.000Z', paths: ['a.txt', 'b/ö.txt'] },
    ]);
    expect(await readCommitsSince(join(root, 'b'), first)).toMatchObject([{ paths: [] }, { paths: ['ö.txt'] }]);
    expect(await readCommitsSince(root, '--output=x')).toBeNull();
    expect(await readCommitsSince(root, '0'.repeat(40))).toBeNull();
  });
});
