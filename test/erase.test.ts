import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

/** The files under `.holdfast/` that hold the bytes. */
function filesWith(folder: Folder, words: string): string[] {
  const inside = join(folder.path, '.holdfast');
  return readdirSync(inside, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(words))
    .map((entry) => entry.name);
}

/** Every kind of row that holds text, with the commands that put a secret into it. */
const secrets: [id: string, ...commands: string[]][] = [
  ['N-2', 'note SECRET'],
  ['D-1', 'decide --context SECRET --decision SECRET --reason r --alternative SECRET'],
  ['D-2', 'decide --context c --decision d --reason r', 'retract D-2 --reason SECRET'],
  ['B-1', 'raise blocker SECRET --affects t3 --workaround SECRET'],
  ['Q-1', 'raise question q', 'settle Q-1 --as resolved --note SECRET'],
  ['X-1', 'effect begin SECRET', 'effect end X-1 --outcome failed --note SECRET'],
  ['t3', 'plan set t3 --title SECRET', 'skip t3 --reason SECRET'],
  ['E-1', 'start t1 --agent bob', 'fail --message SECRET --agent bob'],
  [
    't2',
    'start t2 --agent ada',
    'checkpoint c --next SECRET --agent ada',
    'complete --summary SECRET --built SECRET --agent ada',
  ],
  ['t4', 'start t4 --agent ada', 'checkpoint here --next SECRET --built SECRET --agent ada'],
  ['S-2', 'session end --reason completed --next SECRET --note SECRET --issue SECRET --agent ada'],
];

const agent = ['--agent', 'ada'];

describe('erasing', () => {
  it('removes the text of every kind of row from every file, and nothing else', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Work', '--id', 'work');
    for (const key of ['t1', 't2', 't3', 't4']) folder.data('plan', 'add', key, 'Title');
    folder.data('note', 'kept beside it');
    for (const [id, ...commands] of secrets) {
      for (const words of commands)
        folder.data(...words.split(' ').map((word) => word.replace('SECRET', `hunter2${id}x`)));
    }
    folder.data('resume');
    for (const [id] of secrets) {
      expect([id, filesWith(folder, `hunter2${id}x`)]).toEqual([id, expect.arrayContaining(['journal.db'])]);
    }
    for (const [id] of secrets) {
      expect(folder.data('erase', id, '--reason', 'a password was pasted')['erased']).not.toEqual([]);
      expect([id, filesWith(folder, `hunter2${id}x`)]).toEqual([id, []]);
    }
    expect(filesWith(folder, 'hunter2')).toEqual([]);
    expect(folder.data('search', 'hunter2')['results']).toEqual([]);
    expect(folder.data('search', 'beside')['results']).toMatchObject([{ id: 'N-1' }]);
    expect(folder.run('log', '--limit', '200', '--json').out).not.toContain('hunter2');
    expect(folder.data('doctor')['findings']).toEqual([]);
    expect(folder.data('doctor', '--rebuild')['runs']).toMatchObject([{ unchanged: true }]);
  });

  it('removes one event by its version, also the title of the current step and of the run', () => {
    const folder = newWorkspace();
    folder.data('note', 'hunter2 first');
    folder.data('note', 'hunter2 second');
    const { version } = folder.data('note', 'third');
    folder.data('erase', String(Number(version) - 1), '--reason', 'r');
    expect(folder.data('search', 'hunter2')['results']).toMatchObject([{ id: 'N-1' }]);
    expect(folder.data('search', 'third')['results']).toHaveLength(1);
    folder.data('erase', '3', '--reason', 'r');
    expect(filesWith(folder, 'Issue tokens')).toEqual([]);
    folder.data('erase', '1', '--reason', 'r');
    expect(filesWith(folder, 'User authentication')).toEqual([]);
    expect(folder.data('runs')['runs']).toMatchObject([{ id: 'auth', title: '[erased]' }]);
    expect(folder.data('doctor')['findings']).toEqual([]);
    folder.data('start', 't1', ...agent);
    expect(folder.data('doctor', '--rebuild')).toMatchObject({ findings: [], runs: [{ unchanged: true }] });
  });

  it('needs a person and an existing target, and may be repeated', () => {
    const folder = newWorkspace();
    folder.data('note', 'words');
    expect(folder.fault('erase', 'N-1', '--reason', 'r', ...agent)).toMatchObject({ code: 'not_allowed', exit: 1 });
    expect(folder.fault('erase', 'N-7', '--reason', 'r')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('erase', '99', '--reason', 'r')).toMatchObject({ code: 'not_found' });
    expect(folder.fault('erase', 'N-1')).toMatchObject({ code: 'invalid' });
    folder.data('erase', 'N-1', '--reason', 'r');
    folder.data('erase', 'N-1', '--reason', 'r');
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('leaves a step blocked when the text of its blocker is erased', () => {
    const folder = newWorkspace();
    folder.data('raise', 'blocker', 'the password is hunter2', '--affects', 't1', '--affects', 'hunter2 everywhere');
    folder.data('erase', 'B-1', '--reason', 'leaked');
    expect(folder.data('items')['items']).toMatchObject([{ id: 'B-1', text: '[erased]', affects: ['t1', '[erased]'] }]);
    expect(folder.fault('start', 't1', '--agent', 'claude')).toMatchObject({ code: 'blocked' });
    expect(folder.run('doctor').code).toBe(0);
  });
});
