import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newPlainWorkspace, newWorkspace, program } from './command-line.ts';

const git = (folder: Folder, ...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    cwd: folder.path,
    env: folder.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

const cloneOf = (file: string): Record<string, unknown> => JSON.parse(readFileSync(file, 'utf8'));

function commit(folder: Folder, name = 'a.txt'): void {
  writeFileSync(join(folder.path, name), 'a\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'first');
}

describe('the data of a repository', () => {
  it('C9: is in its git folder, readable by its owner alone, and git never sees it', () => {
    const folder = newWorkspace();
    commit(folder);
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'ada');
    expect(git(folder, 'status', '--porcelain', '--ignored')).toBe('');
    expect(readdirSync(folder.own())).toEqual(expect.arrayContaining(['clone.json', 'journal.db', 'RESUME.md']));
    for (const name of ['clone.json', 'journal.db', 'RESUME.md', 'snapshots', ''])
      expect([name, lstatSync(folder.own(name)).mode & 0o077]).toEqual([name, 0]);
  });

  it('N2: survives git clean, a checkout of a branch that tracks .holdfast/, and garbage collection', () => {
    const folder = newWorkspace();
    commit(folder);
    git(folder, 'checkout', '-qb', 'other');
    mkdirSync(join(folder.path, '.holdfast'));
    writeFileSync(join(folder.path, '.holdfast/journal.db'), 'theirs');
    writeFileSync(join(folder.path, '.holdfast/config.json'), '{"workspace":"w-1","store":"postgres://evil/x"}');
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', 'theirs');
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
    git(folder, 'checkout', '-q', 'main');
    git(folder, 'clean', '-ffdx');
    git(folder, 'gc', '--quiet', '--prune=now');
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
  });

  it('is shared by its worktrees and stays when one is removed', () => {
    const folder = newWorkspace();
    commit(folder);
    git(folder, 'worktree', 'add', '-q', 'side');
    const tree = join(folder.path, 'side');
    folder.data('note', 'from the side', '--dir', tree);
    git(folder, 'worktree', 'remove', '--force', 'side');
    expect(folder.data('search', 'side')['results']).toHaveLength(1);
  });

  it('is its own for a submodule, and for a clone, which brings nothing', () => {
    const [folder, part] = [newWorkspace(), newFolder()];
    commit(part);
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', part.path, 'part');
    expect(folder.fault('status', '--dir', 'part')).toMatchObject({ code: 'not_found' });
    folder.data('init', '--id', 'inner', '--dir', 'part');
    expect(existsSync(join(folder.path, '.git/modules/part/holdfast/journal.db'))).toBe(true);
    expect(folder.data('runs')['runs']).toMatchObject([{ id: 'auth' }]);
    git(folder, 'commit', '-qam', 'part');
    git(folder, 'clone', '-q', '.', 'copy');
    expect(folder.fault('status', '--dir', 'copy')).toMatchObject({ code: 'not_found' });
  });

  it('N10: of a submodule in a linked worktree outlives the worktree, with which git deletes its git folder', () => {
    const [folder, part] = [newWorkspace(), newFolder()];
    commit(part);
    commit(folder);
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', part.path, 'part');
    git(folder, 'commit', '-qm', 'part');
    const open = () => {
      git(folder, 'worktree', 'add', '-q', '-f', 'side');
      git(folder, '-C', 'side', '-c', 'protocol.file.allow=always', 'submodule', '-q', 'update', '--init');
    };
    open();
    folder.data('init', '--id', 'inner', '--dir', 'side/part');
    git(folder, 'worktree', 'remove', '--force', 'side');
    expect(existsSync(join(folder.path, '.git/worktrees/side'))).toBe(false);
    open();
    expect(folder.data('runs', '--dir', 'side/part')['runs']).toMatchObject([{ id: 'inner' }]);
  });

  it('has the id of the root commit, which other clones share, also if it was made before the first commit', () => {
    const folder = newWorkspace();
    const before = cloneOf(folder.own('clone.json'));
    expect(before['workspace']).toMatch(/^wp-[0-9a-f]{12}$/);
    commit(folder);
    folder.data('init', '--id', 'second');
    git(folder, 'clone', '-q', '.', 'copy');
    folder.data('init', '--id', 'there', '--dir', 'copy');
    const [here, there] = [folder.own('clone.json'), join(folder.path, 'copy/.git/holdfast/clone.json')].map(cloneOf);
    expect(here).toMatchObject({ clone: before['clone'], aliases: [before['workspace']] });
    expect(here?.['workspace']).toMatch(/^w-[0-9a-f]{12}$/);
    expect(there).toMatchObject({ workspace: here?.['workspace'], machine: here?.['machine'] });
    expect(there?.['clone']).not.toBe(here?.['clone']);
    expect((folder.data('runs')['runs'] as { id: string }[]).map(({ id }) => id).sort()).toEqual(['auth', 'second']);
  });
});

describe('a data folder', () => {
  it('that is moved stays the same clone; one that is copied becomes another', () => {
    const folder = newWorkspace();
    folder.data('note', 'here');
    const { clone } = cloneOf(folder.own('clone.json'));
    const moved = newFolder();
    rmSync(moved.path, { recursive: true });
    renameSync(folder.path, moved.path);
    moved.env['HOLDFAST_STATE_HOME'] = folder.state();
    moved.data('note', 'moved');
    expect(cloneOf(moved.own('clone.json'))).toMatchObject({ clone });
    cpSync(moved.path, folder.path, { recursive: true });
    folder.data('note', 'copied');
    expect(cloneOf(folder.own('clone.json'))).toMatchObject({
      origin: { clone, isSettled: true },
      places: [{ path: join(folder.path, '.git') }],
    });
    expect(cloneOf(folder.own('clone.json'))['clone']).not.toBe(clone);
    expect(cloneOf(moved.own('clone.json'))['clone']).toBe(clone);
  });

  it('of another machine is a copy, even at a path that is known', () => {
    const folder = newWorkspace();
    const known = cloneOf(folder.own('clone.json'));
    const place = { path: join(folder.path, '.git'), inode: 1 };
    writeFileSync(folder.own('clone.json'), JSON.stringify({ ...known, machine: 'm-000000000000', places: [place] }));
    folder.data('note', 'x');
    expect(cloneOf(folder.own('clone.json'))['clone']).not.toBe(known['clone']);
  });

  it('N12: that is not ours is left alone and named', () => {
    const folder = newFolder();
    mkdirSync(folder.own(), { recursive: true });
    writeFileSync(folder.own('HEAD'), 'ref: refs/heads/main\n');
    expect(folder.fault('init')).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('not Holdfast'),
    });
    expect(readdirSync(folder.own())).toEqual(['HEAD']);
    expect(folder.data('init', '--id', 'kept', '--outside')).toMatchObject({ run: { id: 'kept' } });
  });

  it('that is a link, or in a `.git` that is one, is never used', () => {
    const [folder, other] = [newFolder(), newWorkspace()];
    symlinkSync(other.own(), folder.own());
    expect(folder.fault('init')).toMatchObject({ code: 'unavailable' });
    rmSync(join(folder.path, '.git'), { recursive: true });
    symlinkSync(join(other.path, '.git'), join(folder.path, '.git'));
    expect(folder.fault('status')).toMatchObject({ code: 'untrusted', exit: 5 });
    expect(folder.fault('init')).toMatchObject({ code: 'untrusted', exit: 5 });
  });

  it.each(['', '-wal', '-shm', '-journal'])('A11: with a foreign file as journal.db%s is not used', (end) => {
    const [folder, other] = [newWorkspace(), newFolder()];
    const theirs = join(other.path, 'theirs');
    writeFileSync(theirs, 'as it was\n');
    for (const link of [linkSync, symlinkSync]) {
      rmSync(folder.own(`journal.db${end}`), { force: true });
      link(theirs, folder.own(`journal.db${end}`));
      for (const words of [['status'], ['note', 'x'], ['init', '--title', 'More']])
        expect([words, folder.fault(...words).code]).toEqual([words, 'unavailable']);
      expect(readFileSync(theirs, 'utf8')).toBe('as it was\n');
    }
  });

  it('N6: of a pointer to another repository is never used', () => {
    const [folder, other] = [newFolder(), newWorkspace()];
    rmSync(join(folder.path, '.git'), { recursive: true });
    writeFileSync(join(folder.path, '.git'), `gitdir: ${join(other.path, '.git')}\n`);
    expect(folder.fault('status')).toMatchObject({ code: 'untrusted' });
    expect(folder.fault('note', 'x')).toMatchObject({ code: 'untrusted' });
  });

  it('N7: of a bare repository that came as ordinary files is not found', () => {
    const folder = newFolder();
    rmSync(join(folder.path, '.git'), { recursive: true });
    cpSync(join(newWorkspace().path, '.git'), folder.path, { recursive: true });
    expect(folder.fault('status')).toMatchObject({ code: 'not_found' });
  });
});

describe('a repository of another user', () => {
  it.runIf(process.getuid?.() === 0)(
    'A7, A9: is used only if git accepts it, and its files are given to that user',
    () => {
      const folder = newFolder();
      execFileSync('chown', ['-R', '12345', folder.path]);
      expect(folder.fault('init')).toMatchObject({
        code: 'untrusted',
        exit: 5,
        message: expect.stringContaining('12345'),
      });
      // A folder of one's own inside it is not a place of one's own.
      mkdirSync(join(folder.path, 'mine'));
      expect(folder.fault('init', '--dir', 'mine')).toMatchObject({ code: 'untrusted' });
      expect(existsSync(folder.own())).toBe(false);
      writeFileSync(folder.state('.gitconfig'), `[safe]\n\tdirectory = ${folder.path}\n`);
      folder.data('init', '--id', 'kept');
      folder.data('note', 'x');
      for (const name of ['', 'clone.json']) expect([name, lstatSync(folder.own(name)).uid]).toEqual([name, 12345]);
    },
  );
});

describe('a shared repository', () => {
  it.runIf(process.getuid?.() === 0)('that git accepted once is used only while git accepts it', () => {
    const folder = newFolder();
    chmodSync(folder.path, 0o755);
    execFileSync('chown', ['-R', '12345', folder.state()]);
    const asUser = (...words: string[]) => {
      const asOther = ['--reuid=12345', '--clear-groups', process.execPath, program, ...words, '--json'];
      const ran = spawnSync('setpriv', asOther, { cwd: folder.path, env: folder.env, encoding: 'utf8' });
      return JSON.parse(ran.stdout || '{}');
    };
    writeFileSync(folder.state('.gitconfig'), `[safe]\n\tdirectory = ${folder.path}\n`);
    expect(asUser('init', '--id', 'kept')).toMatchObject({ ok: true });
    expect(existsSync(folder.own())).toBe(false);
    expect(asUser('status')).toMatchObject({ data: { run: { id: 'kept' } } });
    rmSync(folder.state('.gitconfig'));
    expect(asUser('status')).toMatchObject({ fault: { code: 'untrusted' } });
    expect(asUser('note', 'x')).toMatchObject({ fault: { code: 'untrusted' } });
  });
});

describe('a separate git folder', () => {
  it('has its data for the working tree that it was made for, and for no other that points to it', () => {
    const [folder, other] = [newFolder(), newFolder()];
    for (const { path } of [folder, other]) rmSync(join(path, '.git'), { recursive: true });
    const gitDir = folder.state('shop.git');
    execFileSync('git', ['init', '-q', '--separate-git-dir', gitDir, folder.path], { env: folder.env });
    folder.data('init', '--id', 'kept');
    writeFileSync(join(other.path, '.git'), `gitdir: ${gitDir}\n`);
    expect(other.fault('status')).toMatchObject({ code: 'untrusted', message: expect.stringContaining(folder.path) });
    expect(other.fault('note', 'x')).toMatchObject({ code: 'untrusted' });
    expect(folder.data('status')).toMatchObject({ run: { id: 'kept' } });
  });
});

describe('a git folder with a pipe in place of', () => {
  it.each(['HEAD', 'config', 'packed-refs', 'refs/heads/main'])('%s keeps no command waiting', (name) => {
    const folder = newWorkspace();
    rmSync(join(folder.path, '.git', name), { force: true });
    execFileSync('mkfifo', [join(folder.path, '.git', name)]);
    const ran = folder.run('checkpoint', 'half', '--json');
    expect([ran.code === null, ran.json.ok || ran.json.fault.code !== 'internal']).toEqual([false, true]);
  });
});

describe('files of the data folder', () => {
  it('N12: are no revisions for git, whatever a mirrored file says', () => {
    const folder = newFolder();
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'Begin');
    folder.data('init', '--id', 'kept', '--title', 'Kept');
    folder.data('mirror', 'add', 'gsd');
    const state = join(folder.path, '.planning/STATE.md');
    // Git takes a file in its folder for a revision if it begins with the id of a commit.
    const commitId = git(folder, 'rev-parse', 'HEAD');
    writeFileSync(state, `${commitId}${readFileSync(state, 'utf8')}`);
    for (const word of ['one', 'two'])
      folder.data('decide', '--context', 'c', '--decision', `Use ${word}`, '--reason', 'r');
    const files = readdirSync(folder.own(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    expect(paths.some((path) => readFileSync(path, 'utf8').startsWith(commitId))).toBe(true);
    for (const path of paths) {
      const name = relative(join(folder.path, '.git'), path);
      const ran = spawnSync('git', ['rev-parse', '-q', '--verify', name], { cwd: folder.path, env: folder.env });
      expect([name, ran.status === 0]).toEqual([name, false]);
    }
  });
});

describe('a data folder that may not be written, as in a sandbox', () => {
  it.runIf(process.getuid?.() === 0)('N11: is read, and a command that would record is refused with what helps', () => {
    const folder = newWorkspace();
    for (const path of [folder.path, folder.state()]) execFileSync('chown', ['-R', '12345', path]);
    chmodSync(folder.own(), 0o555);
    const asUser = (...words: string[]) => {
      const ran = spawnSync(
        'setpriv',
        ['--reuid=12345', '--clear-groups', process.execPath, program, ...words, '--json'],
        {
          cwd: folder.path,
          env: folder.env,
          encoding: 'utf8',
        },
      );
      return { exit: ran.status, ...JSON.parse(ran.stdout || '{}') };
    };
    expect(asUser('status')).toMatchObject({ exit: 0, data: { run: { id: 'auth' } } });
    expect(asUser('resume')).toMatchObject({ exit: 0, data: { run: { id: 'auth' } } });
    // Without a log SQLite cannot open the journal in the usual way: it would have to make one.
    for (const end of ['-wal', '-shm']) rmSync(folder.own(`journal.db${end}`));
    expect(asUser('status')).toMatchObject({ exit: 0, data: { run: { id: 'auth' } } });
    const refused = asUser('note', 'x');
    expect(refused).toMatchObject({ exit: 6, fault: { code: 'read_only', data: { recorded: 'no' } } });
    expect(refused.fault.hints.join(' ')).toContain('MCP');
    chmodSync(folder.own(), 0o700);
    expect(asUser('note', 'x')).toMatchObject({ exit: 0 });
  });
});

describe('a folder without git', () => {
  it('has its data in the state folder, after init only, and keeps it when it becomes a repository', () => {
    const folder = newPlainWorkspace();
    expect(readdirSync(folder.path)).toEqual([]);
    folder.data('note', 'before git');
    mkdirSync(join(folder.path, 'deep'));
    expect(folder.data('status', '--dir', 'deep')).toMatchObject({ run: { id: 'auth' } });
    git(folder, 'init', '-q');
    expect(folder.data('search', 'git')['results']).toHaveLength(1);
    const plain = newFolder();
    rmSync(join(plain.path, '.git'), { recursive: true });
    expect(plain.fault('status')).toMatchObject({ code: 'not_found' });
    expect(existsSync(plain.state('data'))).toBe(false);
  });

  it('does not reach into a repository inside it', () => {
    const folder = newPlainWorkspace();
    mkdirSync(join(folder.path, 'inner'));
    execFileSync('git', ['init', '-q', join(folder.path, 'inner')], { env: folder.env });
    expect(folder.fault('status', '--dir', 'inner')).toMatchObject({ code: 'not_found' });
  });
});

describe('init --outside', () => {
  it('keeps the data in the state folder, and others do not begin a second journal', () => {
    const folder = newFolder();
    folder.data('init', '--id', 'apart', '--outside');
    expect(readdirSync(folder.own())).toEqual(['elsewhere']);
    expect(folder.data('status')).toMatchObject({ run: { id: 'apart' } });
    const state = folder.env['HOLDFAST_STATE_HOME'] ?? '';
    folder.env['HOLDFAST_STATE_HOME'] = `${state}/other`;
    expect(folder.fault('status')).toMatchObject({ message: expect.stringContaining('kept outside') });
    expect(folder.fault('init')).toMatchObject({ message: expect.stringContaining('kept outside') });
  });
});

describe('the state folder', () => {
  it('inside a repository, of a relative path or writable by others counts as absent', () => {
    const folder = newWorkspace();
    folder.person.data('config', 'notify', 'https://example.com/hook');
    const shown = () => folder.data('config');
    expect(shown()).toMatchObject({ notify: 'https://example.com/hook', stateFolder: folder.state() });
    chmodSync(folder.state(), 0o770);
    expect(shown()).toMatchObject({ notify: null, stateFolder: null });
    chmodSync(folder.state(), 0o700);
    cpSync(folder.state(), join(folder.path, 'state'), { recursive: true });
    for (const place of [join(folder.path, 'state'), 'state']) {
      folder.env['HOLDFAST_STATE_HOME'] = place;
      expect(shown()).toMatchObject({ notify: null, stateFolder: null });
    }
  });

  it('has settings for one clone in one place', () => {
    const [folder, other] = [newWorkspace(), newWorkspace()];
    folder.person.data('config', 'notify', 'https://example.com/hook');
    other.env['HOLDFAST_STATE_HOME'] = folder.state();
    cpSync(folder.own('clone.json'), other.own('clone.json'));
    expect(other.data('config')).toMatchObject({ notify: null });
    expect(folder.data('config')).toMatchObject({ notify: 'https://example.com/hook' });
  });
});
