import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../core/fault.ts';
import { temporaryName } from './guarded/folder.ts';
import { type OwnFiles, openOwnFiles } from './own-files.ts';

let top: string;
let files: OwnFiles;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-own-')));
  mkdirSync(join(top, 'git'));
  mkdirSync(join(top, 'outside'));
  writeFileSync(join(top, 'outside/victim'), 'untouched');
  files = openOwnFiles(join(top, 'git'), 'holdfast');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const outside = () => readdirSync(join(top, 'outside')).map((name) => readFileSync(join(top, 'outside', name), 'utf8'));

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.message;
    throw thrown;
  }
  return '';
}

describe('own files', () => {
  it('are written whole, read back, listed and removed, readable by their owner alone', () => {
    expect(files.read('RESUME.md')).toBeNull();
    expect(files.list('snapshots')).toEqual([]);
    files.replace('RESUME.md', 'one');
    files.replace('RESUME.md', 'two', 'derived');
    files.append('snapshots/log', 'a');
    files.append('snapshots/log', 'b');
    expect(files.read('RESUME.md')).toBe('two');
    expect(files.read('snapshots/log')).toBe('ab');
    expect(files.list('')).toEqual(['RESUME.md', 'snapshots']);
    expect(lstatSync(join(files.root, 'snapshots')).mode & 0o777).toBe(0o700);
    expect(lstatSync(join(files.root, 'RESUME.md')).mode & 0o777).toBe(0o600);
    expect(files.remove('RESUME.md')).toBe(true);
    expect(files.remove('RESUME.md')).toBe(false);
    expect(files.read('snapshots/log', 1)).toBeNull();
  });

  it('are created once: of two writers the first wins', () => {
    expect(files.createOnce('clone.json', 'first')).toBe(true);
    expect(files.createOnce('clone.json', 'second')).toBe(false);
    expect(files.read('clone.json')).toBe('first');
    expect(files.list('')).toEqual(['clone.json']);
  });

  it('are removed by pattern, and only regular files', () => {
    files.replace('memory/a.json', '');
    files.replace('memory/b.txt', '');
    mkdirSync(join(files.root, 'memory/c.json'));
    symlinkSync(join(top, 'outside/victim'), join(files.root, 'memory/d.json'));
    expect(files.removeMatching('memory', /\.json$/)).toBe(1);
    expect(files.list('memory')).toEqual(['b.txt', 'c.json', 'd.json']);
  });

  it('do not leave their folder by name', () => {
    expect(refusal(() => files.replace('../outside/victim', ''))).toContain('not a path inside');
    expect(refusal(() => files.read('a/./b'))).toContain('not a path inside');
  });
});

describe('a link', () => {
  const writes: [string, () => unknown][] = [
    ['replace', () => files.replace('hooks/victim', 'overwritten')],
    ['append', () => files.append('hooks/victim', 'overwritten')],
    ['createOnce', () => files.createOnce('hooks/new', 'planted')],
    ['remove', () => files.remove('hooks/victim')],
    ['removeMatching', () => files.removeMatching('hooks', /./)],
    ['folder', () => files.folder('hooks/deep')],
  ];

  it.each(writes)('A1: in place of a folder is not followed by %s', (_name, write) => {
    files.folder('');
    symlinkSync(join(top, 'outside'), join(files.root, 'hooks'));
    expect(refusal(write)).toContain('is not a real folder');
    expect(outside()).toEqual(['untouched']);
    expect(readdirSync(join(top, 'outside'))).toEqual(['victim']);
  });

  it('in place of our whole folder is not followed', () => {
    symlinkSync(join(top, 'outside'), join(top, 'git/holdfast'));
    expect(refusal(() => files.replace('victim', 'overwritten'))).toContain('is not a real folder');
    expect(refusal(() => files.read('victim'))).toContain('is not a real folder');
    expect(outside()).toEqual(['untouched']);
  });

  it('A2: in place of a file is neither read nor written through', () => {
    files.folder('');
    symlinkSync(join(top, 'outside/victim'), join(files.root, 'hook.log'));
    expect(files.read('hook.log')).toBeNull();
    expect(refusal(() => files.append('hook.log', 'overwritten'))).toContain('is not a regular file');
    expect(refusal(() => files.replace('hook.log', 'overwritten'))).toContain('is not a regular file');
    expect(files.createOnce('hook.log', 'overwritten')).toBe(false);
    expect(outside()).toEqual(['untouched']);
  });

  it('that dangles is not created through', () => {
    files.folder('');
    symlinkSync(join(top, 'outside/new'), join(files.root, 'hook.log'));
    expect(refusal(() => files.append('hook.log', 'planted'))).toContain('is not a regular file');
    expect(existsSync(join(top, 'outside/new'))).toBe(false);
  });

  it('as a second name of a file keeps it from being appended to', () => {
    files.folder('');
    linkSync(join(top, 'outside/victim'), join(files.root, 'hook.log'));
    expect(refusal(() => files.append('hook.log', 'overwritten'))).toContain('second name');
    files.replace('hook.log', 'ours');
    expect(outside()).toEqual(['untouched']);
  });
});

it('names temporary files by a pattern that matches nothing else of ours', () => {
  expect(temporaryName.test('.RESUME.md.0123456789abcdef.tmp')).toBe(true);
  for (const name of ['RESUME.md', 'journal.db-wal', '.x.tmp', 'a.0123456789abcdef.tmp'])
    expect(temporaryName.test(name)).toBe(false);
});
