import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ClientName, clientNames } from '../src/clients/index.ts';
import { clientOfHook } from '../src/clients/recognise.ts';
import { newFolder } from './command-line.ts';
import { bash, began, command, events, type Installed, input, launch, newInstalled, run } from './installed-hooks.ts';

const git = (cwd: string, ...words: string[]): void => {
  const ran = spawnSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...words],
    { cwd },
  );
  expect([words, ran.status]).toEqual([words, 0]);
};

/** The first hook in a place runs the program, which makes the inbox there. */
const arrive = (folder: Installed, cwd: string): void =>
  void launch(folder, 'SessionStart', input(folder, 'SessionStart', { source: 'startup' }, cwd), { cwd });

const reportsIn = (dataFolder: string): string[] =>
  readdirSync(join(dataFolder, 'inbox')).filter((name) => name.endsWith('.in'));

describe('the launcher finds the data of', () => {
  it('a submodule, which has its own', () => {
    const folder = newInstalled();
    const other = newInstalled();
    git(other.path, 'commit', '--allow-empty', '-q', '-m', 'x');
    git(folder.path, 'submodule', 'add', '-q', other.path, 'below/sub');
    const cwd = join(folder.path, 'below/sub');
    arrive(folder, cwd);
    command(folder, 'in a submodule', { cwd });
    expect(folder.reports()).toEqual([]);
    expect(reportsIn(join(folder.path, '.git/modules/below/sub/holdfast'))).toHaveLength(2);
  });

  it('a nested repository, not of the one around it', () => {
    const folder = newInstalled();
    const cwd = join(folder.path, 'nested');
    mkdirSync(join(cwd, 'deep'), { recursive: true });
    git(cwd, 'init', '-q');
    arrive(folder, cwd);
    command(folder, 'in a nested repository', { cwd: join(cwd, 'deep') });
    expect(folder.reports()).toEqual([]);
    expect(reportsIn(join(cwd, '.git/holdfast'))).toHaveLength(2);
  });

  it('a folder without git, and of a clone, that are kept in the state folder', () => {
    const folder = newInstalled();
    const plain = newFolder();
    rmSync(join(plain.path, '.git'), { recursive: true });
    plain.env['HOLDFAST_STATE_HOME'] = folder.env['HOLDFAST_STATE_HOME'] ?? '';
    plain.data('init', '--title', 'Without git');
    const below = join(plain.path, 'a', 'b');
    mkdirSync(below, { recursive: true });
    arrive(folder, below);
    command(folder, 'without git', { cwd: below });
    const [name = ''] = readdirSync(folder.state('data'));
    expect(reportsIn(folder.state('data', name))).toHaveLength(2);
    // A place that is listed does not take the reports of others.
    command(folder, 'in the clone');
    expect(folder.reports()).toHaveLength(2);
    expect(began(folder)).toEqual(['in the clone']);
  });

  it('N6: no repository behind a planted pointer, another tool, or a link', () => {
    const folder = newInstalled();
    const victim = newInstalled();
    const at = (name: string): string => {
      const path = join(folder.path, name);
      mkdirSync(path, { recursive: true });
      return path;
    };
    writeFileSync(join(at('separate'), '.git'), `gitdir: ${victim.path}/.git\n`);
    writeFileSync(join(at('module'), '.git'), `gitdir: ${victim.path}/.git/modules/x\n`);
    mkdirSync(join(victim.path, '.git/modules/x'), { recursive: true });
    writeFileSync(join(victim.path, '.git/modules/x/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(victim.path, '.git/modules/x/config'), `[core]\n\tworktree = ${folder.path}/module\n`);
    // A worktree of a submodule of a worktree: its common folder is not the one of the repository around all of them.
    const nested = join(victim.path, '.git/worktrees/w/modules/m');
    mkdirSync(nested, { recursive: true });
    writeFileSync(join(at('nested'), '.git'), `gitdir: ${nested}\n`);
    writeFileSync(join(nested, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(nested, 'commondir'), '../..\n');
    writeFileSync(join(nested, 'gitdir'), `${folder.path}/nested/.git\n`);
    // A worktree and a submodule that lead back to another folder than this one.
    const plantGit = (git: string, files: Record<string, string>): void => {
      mkdirSync(git, { recursive: true });
      for (const [name, text] of Object.entries({ HEAD: 'ref: refs/heads/main\n', ...files }))
        writeFileSync(join(git, name), text);
    };
    const away = join(victim.path, '.git/worktrees/away');
    plantGit(away, { commondir: '../..\n', gitdir: `${victim.path}/away/.git\n` });
    writeFileSync(join(at('worktree'), '.git'), `gitdir: ${away}\n`);
    const part = join(folder.path, '.git/modules/part');
    plantGit(part, { config: `[core]\n\tworktree = ${folder.path}/nested\n` });
    mkdirSync(join(part, 'holdfast/inbox'), { recursive: true, mode: 0o700 });
    writeFileSync(join(at('part'), '.git'), `gitdir: ${part}\n`);
    symlinkSync(join(victim.path, '.git'), join(at('linked'), '.git'));
    mkdirSync(join(at('mercurial'), '.hg'));
    for (const name of ['separate', 'module', 'nested', 'worktree', 'part', 'linked', 'mercurial']) {
      const cwd = join(folder.path, name);
      launch(folder, 'PostToolUse', bash(folder, 'PostToolUse', name, `planted-${name}`, cwd), { cwd });
      launch(folder, 'Stop', input(folder, 'Stop', {}, cwd), { cwd });
    }
    expect(victim.reports()).toEqual([]);
    expect(folder.reports()).toEqual([]);
    expect(reportsIn(join(part, 'holdfast'))).toEqual([]);
    expect(events(victim).map(({ type }) => type)).not.toContain('effect.began');
  });

  it('the project that Cursor names, whose hooks run elsewhere', () => {
    const folder = newInstalled();
    const elsewhere = newFolder().path;
    const env = { CURSOR_VERSION: '3', CURSOR_PROJECT_DIR: folder.path };
    const call = JSON.stringify({ conversation_id: 'k', workspace_roots: [folder.path], command: 'make' });
    run(folder, ['sh', folder.state('holdfast-hook.sh'), 'cursor', 'beforeShellExecution'], call, elsewhere, env);
    expect(folder.reports()).toHaveLength(1);
  });
});

it('the launcher recognises the client that runs the hooks of another, as the program does', async () => {
  const folder = newInstalled();
  const variables = [
    ...['QWEN_PROJECT_DIR', 'QWEN_CODE_SESSION_ID', 'COPILOT_CLI', 'COPILOT_PROJECT_DIR', 'CURSOR_VERSION'],
    ...['GEMINI_SESSION_ID', 'CLAUDE_CODE_SESSION_ID'],
  ];
  const sets = [[], ...variables.map((name) => [name]), variables, variables.slice(2), variables.slice(4)];
  for (const client of clientNames.filter((name) => name !== 'opencode')) {
    for (const set of sets) {
      const env = Object.fromEntries(set.map((name) => [name, 'x']));
      run(folder, ['sh', folder.state('holdfast-hook.sh'), client, 'PostToolUse'], '{}', folder.path, env);
      const [name = ''] = folder.reports();
      const [, , written] = readFileSync(folder.inbox(name), 'utf8').split(' ');
      rmSync(folder.inbox(name));
      expect([client, set, written]).toEqual([client, set, await clientOfHook(client as ClientName, {}, env)]);
    }
  }
});

it('a prompt of Qwen is answered once a turn; its repetitions are reported', () => {
  const folder = newInstalled();
  const env = { QWEN_CODE_SESSION_ID: 'q-1', QWEN_PROJECT_DIR: folder.path };
  const qwen = (event: string, more: object): void => {
    const text = JSON.stringify({ session_id: 'q-1', cwd: folder.path, hook_event_name: event, ...more });
    run(folder, ['sh', folder.state('holdfast-hook.sh'), 'qwen', event], text, folder.path, env);
  };
  const waiting = (): number => folder.reports().length;
  const isMarked = (): boolean => readdirSync(folder.inbox()).includes('turn-q-1');
  qwen('SessionStart', { source: 'startup' });
  qwen('UserPromptSubmit', { prompt: 'Sort the imports' });
  expect([waiting(), isMarked()]).toEqual([0, true]);
  qwen('UserPromptSubmit', { prompt: '' });
  qwen('UserPromptSubmit', { prompt: 'Sort the imports' });
  expect(waiting()).toBe(2);
  qwen('Stop', {});
  expect([waiting(), isMarked()]).toEqual([0, false]);
  qwen('UserPromptSubmit', { prompt: 'Now the exports' });
  expect([waiting(), isMarked()]).toEqual([0, true]);
  const [run1] = folder.data('runs')['runs'];
  const turns = folder
    .data('log', '--run', run1.id, '--limit', '900')
    ['events'].filter(({ type }: { type: string }) => type === 'turn.began');
  expect(turns.map(({ body }: { body: { request: string } }) => body.request)).toEqual([
    'Sort the imports',
    'Now the exports',
  ]);
});
