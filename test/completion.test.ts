import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace, program } from './command-line.ts';

/** The values that the program offers for the last of the words. */
function offered(folder: Folder, ...words: string[]): string[] {
  const ran = folder.run('__complete', ...words);
  expect([ran.code, ran.err]).toEqual([0, '']);
  return ran.out.trimEnd().split('\n').filter(Boolean);
}
const values = (folder: Folder, ...words: string[]): string[] =>
  offered(folder, ...words).map((line) => line.split('\t')[0] ?? '');

/** A shell in which `holdfast` is on the search path. */
function inShell(folder: Folder, shell: string, script: string, words: string[] = []): string[] | null {
  const bin = folder.state('bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(program, join(bin, 'holdfast'));
  writeFileSync(join(folder.path, 'script'), folder.run('completion', shell).out);
  const options = { fish: ['--no-config', '-c'], zsh: ['-f', '-c'] }[shell] ?? ['-c'];
  const env = { ...folder.env, PATH: `${bin}:${folder.env['PATH']}` };
  const ran = spawnSync(shell, [...options, script, shell, ...words], { cwd: folder.path, encoding: 'utf8', env });
  if (ran.error) return null;
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  return ran.stdout.trimEnd().split('\n');
}

describe('completions', () => {
  it('offer commands, their second words, and each flag once', () => {
    const folder = newFolder();
    expect(offered(folder, '=checkp')).toEqual([
      'checkpoint\tRecord that a named point inside the step you hold is reached.',
    ]);
    expect(values(folder, '=don')).toEqual(['done']);
    expect(values(folder, 'plan', '=')).toEqual(['show', 'add', 'set', 'remove', 'import']);
    expect(values(folder, 'handoff', '=acc')).toEqual(['accept']);
    expect(values(folder, 'checkpoint', 'x', '=--art')).toEqual(['--artifact']);
    expect(values(folder, 'checkpoint', 'x', '--next', 'y', '=--ne')).toEqual([]);
    expect(values(folder, 'checkpoint', 'x', '--artifact', 'y', '=--art')).toEqual(['--artifact']);
    expect(values(folder, 'install', '=c')).toEqual(['claude', 'codex', 'copilot', 'cursor']);
    expect(values(folder, 'raise', '=b')).toEqual(['blocker']);
    expect(values(folder, 'completion', '=')).toEqual(['bash', 'zsh', 'fish', 'powershell']);
  });

  it('offer the steps that a command can be about, runs and open ids, with their titles', () => {
    const folder = newWorkspace();
    expect(offered(folder, 'start', '=')).toEqual(['t1\tIssue tokens', 't3\tWrite the docs']);
    folder.data('start', 't1', '--agent', 'claude');
    expect(values(folder, 'complete', '=')).toEqual(['t1']);
    expect(values(folder, 'reopen', '=')).toEqual([]);
    expect(values(folder, 'plan', 'add', 'x', '--after', '=t')).toEqual(['t1', 't2', 't3']);
    expect(offered(folder, 'status', '--run', '=')).toEqual(['auth\tUser authentication']);
    expect(values(folder, 'use', '=')).toEqual(['auth']);
    folder.data('raise', 'question', 'Which port?');
    folder.data('raise', 'blocker', 'No key');
    expect(offered(folder, 'answer', '=')).toEqual(['Q-1\tquestion: Which port?']);
    expect(values(folder, 'resolve', '=')).toEqual(['Q-1', 'B-1']);
    expect(values(folder, 'settle', 'B-1', '=re')).toEqual(['resolved']);
    folder.data('decide', 'Cookies', '--why', 'scripts');
    expect(offered(folder, 'retract', '=')).toEqual(['D-1\tCookies']);
    expect(values(folder, 'handoff', '=ge')).toEqual(['gemini']);
  });

  it('offer nothing that a shell would expand, record nothing, and are silent where nothing can be read', () => {
    const folder = newWorkspace();
    folder.data('plan', 'add', 't9', '$(touch hacked)\u001b[31m`x`');
    const before = folder.data('log')['version'];
    expect(offered(folder, 'start', '=t9')).toEqual([expect.stringMatching(/^t9\t\$\(touch hacked\)\P{Cc}*$/u)]);
    expect(folder.data('log')['version']).toBe(before);
    expect(offered(newFolder(), 'start', '=')).toEqual([]);
    expect(offered(folder, 'no-such-command', '=')).toEqual([]);
    expect(offered(folder)).toEqual(expect.any(Array));
  });

  it('work in bash, with files where nothing else fits', () => {
    const folder = newWorkspace();
    const script = `. ./script; complete -p holdfast >/dev/null || exit 9
      COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(inShell(folder, 'bash', script, ['start', ''])).toEqual(['t1', 't3']);
    expect(folder.run('completion', 'bash').out).toContain('-o default');
  });

  it('work in fish, where it is installed', () => {
    const folder = newWorkspace();
    const found = inShell(folder, 'fish', 'source ./script; complete -C "holdfast start "');
    if (found !== null) expect(found).toEqual(['t1\tIssue tokens', 't3\tWrite the docs']);
  });

  it('work in zsh with descriptions, where it is installed', () => {
    const folder = newWorkspace();
    // The completion system calls the function with these and reads what `_describe` gets.
    const script = `compdef() { :; }; _describe() { print -rl -- "\${(@P)3}"; }; source ./script
      words=(holdfast "$@"); CURRENT=$#words; _holdfast`;
    const found = inShell(folder, 'zsh', script, ['start', '']);
    if (found !== null) expect(found).toEqual(['t1:Issue tokens', 't3:Write the docs']);
  });

  it('name four shells, each with the line that switches them on', () => {
    const folder = newFolder();
    const ran = folder.run('completion', 'tcsh');
    expect(ran.code).toBe(2);
    for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
      expect(ran.err).toContain(`holdfast completion ${shell}`);
    expect(folder.run('completion', 'powershell').out).toMatch(/^Register-ArgumentCompleter -Native/);
  });
});
