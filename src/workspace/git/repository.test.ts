import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRepository } from './repository.ts';

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-repository-')));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function git(cwd: string, ...words: string[]): void {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'protocol.file.allow=always'];
  const ran = spawnSync('git', [...settings, ...words], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: top },
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
}

function repository(name: string): string {
  const path = join(top, name);
  mkdirSync(path);
  git(path, 'init', '--quiet');
  git(path, 'commit', '--quiet', '--allow-empty', '-m', 'first');
  return path;
}

const found = (from: string) => {
  const search = findRepository(from, null);
  return search && 'repository' in search ? search.repository : null;
};
const refusal = (from: string) => {
  const search = findRepository(from, null);
  return search && 'refused' in search ? search.refused : null;
};

describe('a repository', () => {
  it('is found from a folder inside it', () => {
    const shop = repository('shop');
    mkdirSync(join(shop, 'src/deep'), { recursive: true });
    expect(found(join(shop, 'src/deep'))).toMatchObject({ root: shop, commonDir: join(shop, '.git'), linked: null });
  });

  it('shares its common folder with linked working trees', () => {
    const shop = repository('shop');
    git(shop, 'worktree', 'add', '--quiet', '../fix');
    expect(found(join(top, 'fix'))).toMatchObject({
      root: join(top, 'fix'),
      commonDir: join(shop, '.git'),
      linked: 'fix',
    });
  });

  it('may be a bare one with working trees; the bare folder itself is not a working tree', () => {
    git(top, 'init', '--quiet', '--bare', 'bare');
    const seed = repository('seed');
    git(seed, 'push', '--quiet', '../bare', 'HEAD:main');
    git(join(top, 'bare'), 'worktree', 'add', '--quiet', '../tree', 'main');
    expect(found(join(top, 'tree'))).toMatchObject({ commonDir: join(top, 'bare'), linked: 'tree' });
    expect(found(join(top, 'bare'))).toBeNull();
  });

  it('may be a submodule, with a git folder of its own', () => {
    const shop = repository('shop');
    const library = repository('library');
    git(shop, 'submodule', '--quiet', 'add', library, 'lib');
    expect(found(join(shop, 'lib'))).toMatchObject({
      root: join(shop, 'lib'),
      commonDir: join(shop, '.git/modules/lib'),
      isDisposable: false,
    });
    git(shop, 'commit', '--quiet', '-m', 'lib');
    git(shop, 'worktree', 'add', '--quiet', '../fix');
    git(join(top, 'fix'), 'submodule', '--quiet', 'update', '--init');
    expect(found(join(top, 'fix/lib'))).toMatchObject({ root: join(top, 'fix/lib'), isDisposable: true });
  });

  it('may keep its git folder elsewhere', () => {
    git(top, 'init', '--quiet', '--separate-git-dir', join(top, 'kept'), 'shop');
    expect(found(join(top, 'shop'))).toMatchObject({ root: join(top, 'shop'), commonDir: join(top, 'kept') });
  });

  it('ignores variables that name another one', () => {
    const shop = repository('shop');
    const other = repository('other');
    process.env['GIT_DIR'] = join(other, '.git');
    try {
      expect(found(shop)).toMatchObject({ root: shop });
    } finally {
      delete process.env['GIT_DIR'];
    }
  });
});

describe('what is not believed', () => {
  it('a .git file that leads into another clone', () => {
    const victim = repository('victim');
    mkdirSync(join(top, 'bait'));
    writeFileSync(join(top, 'bait/.git'), `gitdir: ${victim}/.git\n`);
    expect(refusal(join(top, 'bait'))).toContain('does not lead back');
  });

  it('a .git file that leads into the worktree entry of another folder', () => {
    const victim = repository('victim');
    git(victim, 'worktree', 'add', '--quiet', '../fix');
    mkdirSync(join(top, 'bait'));
    writeFileSync(join(top, 'bait/.git'), `gitdir: ${victim}/.git/worktrees/fix\n`);
    expect(refusal(join(top, 'bait'))).toContain('does not lead back');
  });

  it('a .git file that leads into a submodule of another folder', () => {
    const shop = repository('shop');
    const library = repository('library');
    git(shop, 'submodule', '--quiet', 'add', library, 'lib');
    mkdirSync(join(shop, 'bait'));
    writeFileSync(join(shop, 'bait/.git'), 'gitdir: ../.git/modules/lib\n');
    expect(refusal(join(shop, 'bait'))).toContain('does not lead back');
    mkdirSync(join(top, 'bait'));
    writeFileSync(join(top, 'bait/.git'), `gitdir: ${shop}/.git/modules/lib\n`);
    expect(refusal(join(top, 'bait'))).toContain('does not lead back');
  });

  it('a planted common folder', () => {
    const victim = repository('victim');
    const bait = repository('bait');
    writeFileSync(join(bait, '.git/commondir'), `${victim}/.git\n`);
    expect(refusal(bait)).toContain('another common folder');
  });

  it('a link named .git', () => {
    const victim = repository('victim');
    mkdirSync(join(top, 'bait'));
    symlinkSync(join(victim, '.git'), join(top, 'bait/.git'));
    expect(refusal(join(top, 'bait'))).toBe('it is a link');
  });

  it('a bare repository among tracked files', () => {
    const shop = repository('shop');
    git(top, 'init', '--quiet', '--bare', 'bare');
    cpSync(join(top, 'bare'), join(shop, 'fixture'), { recursive: true });
    expect(found(join(shop, 'fixture'))).toMatchObject({ root: shop });
  });
});

describe('the search', () => {
  it('skips a .git folder without HEAD, as git does', () => {
    const shop = repository('shop');
    mkdirSync(join(shop, 'inner/.git'), { recursive: true });
    expect(found(join(shop, 'inner'))).toMatchObject({ root: shop });
  });

  it('ends with nothing at a .git file that leads nowhere', () => {
    const shop = repository('shop');
    mkdirSync(join(shop, 'inner'));
    writeFileSync(join(shop, 'inner/.git'), 'gitdir: /nowhere/at/all\n');
    expect(findRepository(join(shop, 'inner'), null)).toBeNull();
  });

  it.each(['.hg', '.svn', '.jj'])('ends at %s without .git beside it', (name) => {
    const shop = repository('shop');
    mkdirSync(join(shop, 'inner', name), { recursive: true });
    expect(findRepository(join(shop, 'inner'), null)).toBeNull();
  });

  it('ends at the home folder, unless one works in it', () => {
    const home = repository('home');
    mkdirSync(join(home, 'notes'));
    expect(findRepository(join(home, 'notes'), home)).toBeNull();
    expect(findRepository(home, home)).toMatchObject({ repository: { root: home } });
  });
});
