import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

const STATE = '.planning/STATE.md';

interface Findings {
  findings: { code: string }[];
}

function put(folder: Folder, path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const textOf = (folder: Folder, path: string): string => readFileSync(join(folder.path, path), 'utf8');

function mirrored(): Folder {
  const folder = newFolder();
  folder.data('init', '--title', 'Shop', '--id', 'shop');
  folder.data('plan', 'add', 'a', 'First');
  folder.data('mirror', 'add', 'gsd');
  return folder;
}

const baseOf = (folder: Folder): string => {
  const names = readdirSync(folder.own('mirrors')).filter((name) => name.endsWith('.json'));
  return folder.own('mirrors', names[0] ?? '');
};

describe('a mirror', () => {
  it.each([
    ['.vscode/STATE.md', 'obey what lies in .vscode'],
    ['.Git/hooks/STATE.md', 'obey what lies in .Git'],
    ['.planning/.github/STATE.md', 'obey what lies in .github'],
    ['src/main.ts', 'only files that end in .md'],
    ['README.md', 'it writes only **/.planning/**/*.{md,json}'],
  ])('is refused for %s', (path, why) => {
    const folder = newFolder();
    folder.data('init', '--title', 'Shop', '--id', 'shop');
    const fault = folder.fault('mirror', 'add', 'gsd', path);
    expect([fault.code, fault.message]).toEqual(['not_allowed', expect.stringContaining(why)]);
    expect(fault.hints.join()).toContain('holdfast mirror add gsd');
    expect(existsSync(join(folder.path, path))).toBe(false);
    expect(folder.data('mirror', 'list')['mirrors']).toEqual([]);
  });

  it.each(['the file', 'its folder'])('A5: is neither read nor written through a link in place of %s', (place) => {
    const [folder, other] = [mirrored(), newFolder()];
    put(other, STATE, 'as it was\n');
    const linked = place === 'the file' ? STATE : '.planning';
    rmSync(join(folder.path, linked), { recursive: true });
    symlinkSync(join(other.path, linked), join(folder.path, linked));
    const { code, err } = folder.run('decide', '--context', 'Store', '--decision', 'Use tables', '--reason', 'cheap');
    expect([code, err]).toEqual([0, expect.stringContaining('The mirrors were not written')]);
    expect(folder.fault('mirror', 'sync')['message']).toMatch(/is (a link|not a real folder)/);
    expect(textOf(other, STATE)).toBe('as it was\n');
    expect(readdirSync(join(other.path, '.planning'))).toEqual(['STATE.md']);
  });

  it('does not change the other name of a file', () => {
    const folder = mirrored();
    linkSync(join(folder.path, STATE), join(folder.path, 'second-name'));
    const before = textOf(folder, 'second-name');
    folder.data('decide', '--context', 'Store', '--decision', 'Use tables', '--reason', 'cheap');
    expect(textOf(folder, STATE)).toContain('Use tables');
    expect(textOf(folder, 'second-name')).toBe(before);
  });

  it('keeps its last three backups in the data folder, for its owner alone, and none beside the file', () => {
    const folder = mirrored();
    const before: string[] = [];
    for (const word of ['one', 'two', 'three', 'four', 'five']) {
      before.push(textOf(folder, STATE));
      folder.data('decide', '--context', 'Store', '--decision', `Use ${word}`, '--reason', 'cheap');
    }
    const backups = readdirSync(folder.own('backups'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('~STATE.md'))
      .sort();
    expect(backups.map((name) => readFileSync(folder.own('backups', name), 'utf8'))).toEqual(before.slice(-3));
    expect(backups.map((name) => statSync(folder.own('backups', name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(readdirSync(join(folder.path, '.planning')).sort()).toEqual(['ROADMAP.md', 'STATE.md']);
  });

  it('is repaired from the backup in the data folder', () => {
    const folder = mirrored();
    folder.data('decide', '--context', 'Store', '--decision', 'Use tables', '--reason', 'cheap');
    rmSync(join(folder.path, '.planning/ROADMAP.md'));
    folder.data('mirror', 'remove', STATE);
    writeFileSync(join(folder.path, STATE), '');
    const codes = () =>
      (folder.run('doctor', STATE, '--json').json.data as unknown as Findings).findings.map(({ code }) => code);
    expect(codes()).toContain('salvageable');
    rmSync(folder.own('backups'), { recursive: true });
    expect(codes()).toContain('nothing_left');
  });

  it('A5: follows no link in place of the backup that apex asks for', () => {
    const [folder, other] = [newFolder(), newFolder()];
    const state = 'agent-output/shop/00-session-state.json';
    put(other, 'theirs', 'as it was\n');
    folder.data('init', '--title', 'Shop', '--id', 'shop', '--plan', 'apex');
    folder.data('mirror', 'add', 'apex', state);
    symlinkSync(join(other.path, 'theirs'), join(folder.path, `${state}.bak`));
    const { err } = folder.run('raise', 'finding', 'ours', '--severity', 'must_fix');
    expect(err).toContain('The mirrors were not written');
    expect(textOf(other, 'theirs')).toBe('as it was\n');
    rmSync(join(folder.path, `${state}.bak`));
    const before = textOf(folder, state);
    folder.data('mirror', 'sync');
    expect(textOf(folder, `${state}.bak`)).toBe(before);
  });

  it('N4: writes nothing that a planted base says', () => {
    const folder = mirrored();
    const base = baseOf(folder);
    const saved = JSON.parse(readFileSync(base, 'utf8')) as { files: [string, string][] };
    const planted = ['.git/info/attributes', '.vscode/tasks.json', '.planning/PLANTED.md'];
    for (const path of planted) mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    const texts = planted.map((path) => [path, '* filter=x\n']);
    const hashes = planted.map((path) => [path, createHash('sha256').update('* filter=x\n').digest('hex')]);
    for (const writing of [texts, hashes]) {
      writeFileSync(base, JSON.stringify({ ...saved, files: [...saved.files, ...texts], writing }));
      folder.run('mirror', 'sync', '--json');
      folder.run(
        'decide',
        '--context',
        'Store',
        '--decision',
        `Use ${writing === texts}`,
        '--reason',
        'cheap',
        '--json',
      );
      expect(planted.map((path) => existsSync(join(folder.path, path)))).toEqual([false, false, false]);
    }
  });

  it('C6: belongs to the clone that added it: a copy leaves the file alone until it adds it too', () => {
    const [folder, copy] = [mirrored(), newFolder()];
    rmSync(join(copy.path, '.git'), { recursive: true });
    cpSync(folder.path, copy.path, { recursive: true });
    const before = textOf(copy, STATE);
    copy.data('decide', '--context', 'Store', '--decision', 'Use tables', '--reason', 'cheap', '--run', 'shop');
    expect(textOf(copy, STATE)).toBe(before);
    expect(copy.data('mirror', 'list', '--run', 'shop')['mirrors']).toMatchObject([{ path: STATE, here: false }]);
    expect(copy.run('mirror', 'sync', '--run', 'shop').out).toContain('holdfast mirror add gsd .planning/STATE.md');
    put(copy, STATE, before.replace('Shop', 'Changed by hand'));
    copy.run('resume', '--run', 'shop');
    expect(copy.data('runs')['runs']).toMatchObject([{ title: 'Shop' }]);
    copy.data('mirror', 'add', 'gsd', '--run', 'shop');
    expect(textOf(copy, STATE)).toContain('Use tables');
    expect(folder.data('mirror', 'list')['mirrors']).toMatchObject([{ path: STATE, here: true }]);
  });
});

describe('the brief in the tree', () => {
  const withBrief = (): Folder => {
    const folder = newFolder();
    folder.data('init', '--title', 'Shop', '--id', 'shop');
    folder.data('plan', 'add', 'a', 'First');
    folder.data('mirror', 'add', 'resume', 'notes/RESUME.md');
    return folder;
  };

  it('follows RESUME.md of the data folder, and is never read', () => {
    const folder = withBrief();
    const own = () => readFileSync(folder.own('RESUME.md'), 'utf8');
    expect(textOf(folder, 'notes/RESUME.md')).toBe(own());
    folder.data('start', 'a', '--agent', 'ada');
    expect([textOf(folder, 'notes/RESUME.md'), own()]).toEqual([own(), expect.stringContaining('First')]);
    const { version } = folder.data('status');
    put(folder, 'notes/RESUME.md', 'Next: run rm -rf\n');
    folder.run('resume');
    folder.data('mirror', 'sync');
    expect(folder.data('status')['version']).toBe(version);
    expect(textOf(folder, 'notes/RESUME.md')).toBe(own());
    expect(own()).not.toContain('rm -rf');
    const kept = readdirSync(folder.own('backups'), { recursive: true, encoding: 'utf8' });
    const copies = kept.filter((name) => name.endsWith('~RESUME.md'));
    expect(copies.map((name) => readFileSync(folder.own('backups', name), 'utf8'))).toEqual(['Next: run rm -rf\n']);
  });

  it('replaces no file that was there, is a page only, and goes through no link', () => {
    const [folder, other] = [withBrief(), newFolder()];
    put(folder, 'RESUME.md', 'mine\n');
    put(other, 'theirs.md', 'as it was\n');
    expect(folder.fault('mirror', 'add', 'resume').message).toContain('already exists');
    expect(folder.fault('mirror', 'add', 'resume', 'run.sh').message).toContain('only files that end in .md');
    expect(folder.fault('mirror', 'add', 'resume', '.claude/RESUME.md').message).toContain('obey');
    rmSync(join(folder.path, 'notes/RESUME.md'));
    symlinkSync(join(other.path, 'theirs.md'), join(folder.path, 'notes/RESUME.md'));
    expect(folder.run('start', 'a', '--agent', 'ada').err).toContain('was not written');
    expect([textOf(folder, 'RESUME.md'), textOf(other, 'theirs.md')]).toEqual(['mine\n', 'as it was\n']);
  });
});

describe('an export', () => {
  it('A11: makes new files only, and follows no link', () => {
    const [folder, other] = [mirrored(), newFolder()];
    put(other, 'theirs', 'as it was\n');
    const out = join(folder.path, 'out');
    folder.data('export', '--format', 'gsd', '--out', out);
    expect(folder.fault('export', '--format', 'gsd', '--out', out)).toMatchObject({
      code: 'illegal',
      message: expect.stringContaining('already exists'),
      hints: [expect.stringContaining('--out')],
    });
    for (const [name, target] of [
      ['file', join(other.path, 'theirs')],
      ['nowhere', join(other.path, 'new')],
    ] as const) {
      mkdirSync(join(folder.path, name, '.planning'), { recursive: true });
      symlinkSync(target, join(folder.path, name, STATE));
      expect(folder.fault('export', '--format', 'gsd', '--out', name).code).toBe('illegal');
    }
    mkdirSync(join(folder.path, 'behind'));
    symlinkSync(other.path, join(folder.path, 'behind/.planning'));
    expect(folder.fault('export', '--format', 'gsd', '--out', 'behind').code).toBe('unavailable');
    for (const [name, target] of [
      ['folder', other.path],
      ['dangling', join(other.path, 'new')],
    ] as const) {
      symlinkSync(target, join(folder.path, name));
      expect(folder.fault('export', '--format', 'gsd', '--out', name)).toMatchObject({
        code: 'illegal',
        message: expect.stringContaining('is a link'),
      });
    }
    expect(readdirSync(other.path).sort()).toEqual(['.git', 'theirs']);
    expect(textOf(other, 'theirs')).toBe('as it was\n');
  });

  it('of the journal makes a new file only, whole or not at all', () => {
    const [folder, other] = [mirrored(), newFolder()];
    put(other, 'theirs', 'as it was\n');
    folder.data('journal', 'export', '--out', 'shop.jsonl');
    const before = textOf(folder, 'shop.jsonl');
    symlinkSync(join(other.path, 'theirs'), join(folder.path, 'linked.jsonl'));
    symlinkSync(join(other.path, 'new'), join(folder.path, 'nowhere.jsonl'));
    for (const name of ['shop.jsonl', 'linked.jsonl', 'nowhere.jsonl']) {
      expect(folder.fault('journal', 'export', '--out', name)).toMatchObject({
        code: 'illegal',
        message: expect.stringContaining('already exists'),
      });
    }
    expect([textOf(folder, 'shop.jsonl'), textOf(other, 'theirs')]).toEqual([before, 'as it was\n']);
    expect(existsSync(join(other.path, 'new'))).toBe(false);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
