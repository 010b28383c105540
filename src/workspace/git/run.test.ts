import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram } from '../program.ts';
import { findRepository, type Repository } from './repository.ts';
import { runGit } from './run.ts';

let top: string;
let root: string;
let canary: string;
let ran: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-git-')));
  root = join(top, 'shop');
  ran = join(top, 'ran');
  canary = join(top, 'canary.sh');
  writeFileSync(canary, `#!/bin/sh\necho "$0 $@" >> ${ran}\ncat\n`);
  chmodSync(canary, 0o755);
  mkdirSync(root);
  git('init', '--quiet');
  writeFileSync(join(root, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function git(...words: string[]): string {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
  const env = { PATH: process.env['PATH'], HOME: top };
  const done = spawnSync('git', [...settings, ...words], { cwd: root, encoding: 'utf8', env });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout;
}

const repository = (): Repository => {
  const search = findRepository(root, null);
  if (!search || !('repository' in search)) throw new Error('no repository');
  return search.repository;
};
const status = () => runGit(repository(), root, ['status', '--porcelain=v2', '-z']);

describe('git', () => {
  it('answers', async () => {
    writeFileSync(join(root, 'a.txt'), 'two\n');
    expect(await status()).toMatchObject({ output: expect.stringContaining('a.txt') });
    expect(await runGit(repository(), root, ['no-such-command'])).toEqual({ failed: 'git ended with 1' });
  });

  it.each([
    ['core.fsmonitor', (program: string) => program],
    ['filter.evil.clean', (program: string) => program],
    ['filter.evil.process', (program: string) => program],
    ['diff.external', (program: string) => program],
    ['core.pager', (program: string) => program],
    ['core.sshCommand', (program: string) => program],
    ['credential.helper', (program: string) => `!${program}`],
    ['diff.evil.textconv', (program: string) => program],
    ['alias.status', (program: string) => `!${program}`],
    ['core.hooksPath', (program: string) => join(program, '..')],
  ])('N3, N5: runs nothing that the repository configures as %s', async (key, value) => {
    writeFileSync(join(root, '.gitattributes'), '*.txt filter=evil diff=evil\n');
    git('config', key, value(canary));
    writeFileSync(join(root, 'a.txt'), 'two\n');
    for (const words of [
      ['status', '--porcelain=v2'],
      ['diff', '--no-ext-diff', '--no-textconv', 'HEAD'],
      ['rev-list', 'HEAD', '--'],
    ]) {
      await runGit(repository(), root, words);
    }
    expect(existsSync(ran)).toBe(false);
    expect(await status()).toMatchObject({ output: expect.stringContaining('a.txt') });
  });

  it('keeps a filter of the user, whose wish it is', async () => {
    writeFileSync(join(top, '.gitconfig'), `[filter "own"]\n\tclean = ${canary}\n`);
    writeFileSync(join(root, '.gitattributes'), '*.txt filter=own\n');
    git('config', 'filter.unused.clean', 'true');
    writeFileSync(join(root, 'a.txt'), 'two\n');
    const home = process.env['HOME'];
    process.env['HOME'] = top;
    try {
      await status();
    } finally {
      process.env['HOME'] = home;
    }
    expect(existsSync(ran)).toBe(true);
  });

  it('N5: fetches nothing for a partial clone', async () => {
    git('config', 'remote.o.url', '/nowhere');
    git('config', 'remote.o.promisor', 'true');
    git('config', 'remote.o.uploadpack', canary);
    git('config', 'extensions.partialClone', 'o');
    await runGit(repository(), root, ['rev-list', '--ignore-missing', '--max-count=1', 'f'.repeat(40), '--']);
    expect(existsSync(ran)).toBe(false);
  });

  it('is not taken from the working tree or from a relative entry of the search path', () => {
    const path = process.env['PATH'];
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'bin/git'), `#!/bin/sh\n`);
    chmodSync(join(root, 'bin/git'), 0o755);
    process.env['PATH'] = `.:bin:${join(root, 'bin')}:${path}`;
    try {
      expect(findProgram('git', root)).not.toContain(root);
      expect(findProgram('git', root)).toMatch(/^\//);
    } finally {
      process.env['PATH'] = path;
    }
  });
});
