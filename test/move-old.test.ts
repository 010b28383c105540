import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newWorkspace } from './command-line.ts';

/** As version 0.1 left it: the journal in the working tree, and nothing in the git folder. */
function oldWorkspace(): Folder {
  const folder = newWorkspace();
  folder.data('decide', '--context', 'Storage', '--decision', 'Opaque tokens', '--reason', 'r');
  mkdirSync(join(folder.path, '.holdfast'));
  renameSync(folder.own('journal.db'), join(folder.path, '.holdfast/journal.db'));
  writeFileSync(join(folder.path, '.holdfast/config.json'), '{"workspace":"w-1a2b3c4d5e6f","store":"postgres://x/y"}');
  writeFileSync(join(folder.path, '.holdfast/token'), 'secret\n');
  rmSync(folder.own(), { recursive: true });
  rmSync(folder.state('stores'), { recursive: true });
  return folder;
}

describe('a journal of version 0.1 in the working tree', () => {
  it('is never read, and named where nothing else is known', () => {
    const folder = oldWorkspace();
    const fault = folder.fault('status');
    expect(fault).toMatchObject({ code: 'not_found' });
    expect(fault.hints.join(' ')).toContain('holdfast init --move-old');
    expect(existsSync(folder.own())).toBe(false);
  });

  it('is taken over with its runs, which are this clone’s own, and leaves the working tree', () => {
    const folder = oldWorkspace();
    folder.data('init', '--id', 'newer');
    expect(folder.person.data('init', '--move-old')).toMatchObject({
      run: null,
      takenOver: { runs: [{ id: 'auth', title: 'User authentication' }], kept: folder.own('from-0.1') },
    });
    const runs = folder.data('runs')['runs'] as { id: string }[];
    expect(runs.map(({ id }) => id).sort()).toEqual(['auth', 'newer']);
    expect(folder.data('decisions', '--run', 'auth')['decisions']).toMatchObject([{ decision: 'Opaque tokens' }]);
    expect(folder.data('doctor')['findings']).toEqual([]);
    expect(existsSync(join(folder.path, '.holdfast'))).toBe(false);
    expect(readdirSync(folder.own('from-0.1')).sort()).toEqual(['config.json', 'journal.db', 'token']);
    expect(folder.data('config')).toMatchObject({ store: null });
    expect(folder.person.fault('init', '--move-old')).toMatchObject({ code: 'not_found' });
  });

  it('is mentioned once where the workspace is used already', () => {
    const folder = oldWorkspace();
    expect(folder.run('init', '--id', 'newer').err).toContain('--move-old');
    for (const command of ['status', 'runs']) expect(folder.run(command).err).not.toContain('--move-old');
  });

  it('is refused to an agent, and if the repository brought it', () => {
    const folder = oldWorkspace();
    expect(folder.fault('init', '--move-old', '--agent', 'ada')).toMatchObject({ code: 'not_allowed' });
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...words], {
        cwd: folder.path,
        env: folder.env,
      });
    git('add', '.');
    git('commit', '-qm', 'theirs');
    const before = readFileSync(join(folder.path, '.holdfast/journal.db'));
    expect(folder.person.fault('init', '--move-old')).toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('came with the repository'),
    });
    expect(readFileSync(join(folder.path, '.holdfast/journal.db')).equals(before)).toBe(true);
    expect(folder.data('runs')['runs']).toEqual([]);
  });

  it('is not mentioned if the repository brought it', () => {
    const folder = oldWorkspace();
    const own = ['-c', 'user.name=t', '-c', 'user.email=t@x'];
    for (const words of [
      ['add', '.'],
      ['commit', '-qm', 'theirs'],
    ])
      execFileSync('git', [...own, ...words], { cwd: folder.path, env: folder.env });
    expect(folder.fault('status').hints.join(' ')).not.toContain('--move-old');
    expect(folder.run('init', '--id', 'newer').err).not.toContain('--move-old');
  });

  it('that is damaged is left as it is, and nothing of it is taken over', () => {
    const folder = oldWorkspace();
    const file = join(folder.path, '.holdfast/journal.db');
    writeFileSync(file, 'no database');
    expect(folder.person.fault('init', '--move-old')).toMatchObject({ code: 'corrupt', exit: 4 });
    expect(readFileSync(file, 'utf8')).toBe('no database');
  });
});
