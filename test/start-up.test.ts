import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const built = join(import.meta.dirname, '..', 'dist', 'bin');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
  for (const file of ['holdfast.cjs', 'program.cjs']) copyFileSync(join(built, file), join(folder, file));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(word = '--version'): string {
  const { stdout, status } = spawnSync(process.execPath, [join(folder, 'holdfast.cjs'), word], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  expect(status).toBe(0);
  return stdout;
}

const savedCode = (): string[] => readdirSync(folder).filter((file) => file.endsWith('.cache'));
const file = (name: string): number => statSync(join(folder, name)).ino;

describe('the compiled code of an earlier start', () => {
  it('is saved once and used by every later start', () => {
    const answer = start();
    const [saved = '', ...others] = savedCode();
    expect(others).toEqual([]);
    const first = file(saved);
    expect(start()).toBe(answer);
    expect(start()).toBe(answer);
    // Code that V8 rejects would be saved again, as another file of the same name.
    expect(file(saved)).toBe(first);
  });

  it('is saved again if V8 rejects it', () => {
    const answer = start();
    const [saved = ''] = savedCode();
    writeFileSync(join(folder, saved), 'not code');
    const refused = file(saved);
    expect(start()).toBe(answer);
    expect(file(saved)).not.toBe(refused);
    expect(statSync(join(folder, saved)).size).toBeGreaterThan(10_000);
  });

  it('is saved for each part of the program that a command loads', () => {
    for (const part of readdirSync(built)) {
      if (part.endsWith('.cjs')) copyFileSync(join(built, part), join(folder, part));
    }
    const answer = start('help');
    const saved = savedCode();
    expect(saved.map((name) => name.split(/[-.]/, 2).join('-'))).toEqual(
      expect.arrayContaining(['program-cjs', 'program-help']),
    );
    const files = saved.map(file);
    expect(start('help')).toBe(answer);
    expect(savedCode()).toEqual(saved);
    expect(saved.map(file)).toEqual(files);
  });
});

describe('a command that everyone waits for', () => {
  it('loads no part of Node that takes long to load', () => {
    const list = join(folder, 'list.cjs');
    writeFileSync(list, "process.on('exit', () => process._rawDebug(process.moduleLoadList.join('\\n')));");
    const env = { PATH: process.env['PATH'], HOME: folder, HOLDFAST_STATE_HOME: join(folder, 'state') };
    const run = (...words: string[]): string[] => {
      const ran = spawnSync(process.execPath, ['--require', list, ...words], { cwd: folder, encoding: 'utf8', env });
      expect(ran.status, ran.stderr).toBe(0);
      return ran.stderr.split('\n');
    };
    const program = join(built, 'holdfast.cjs');
    const bare = run('-e', '0');
    run(program, 'init', '--title', 'Start');
    run(program, 'plan', 'add', 'One');
    run(program, 'start', 't1');
    for (const words of [['checkpoint', 'half'], ['resume'], ['status']]) {
      // The first start saves its compiled code.
      run(program, ...words);
      const slow = ['crypto', 'stream', 'child_process', 'os', 'tty', 'readline', 'http', 'worker_threads'];
      const loaded = run(program, ...words).filter((line) => !bare.includes(line));
      expect(
        slow.filter((name) => loaded.includes(`NativeModule ${name}`)),
        words.join(' '),
      ).toEqual([]);
    }
  });
});
