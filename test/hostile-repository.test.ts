import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type Folder, newFolder, program } from './command-line.ts';

/** Every file below a folder with its bytes or target. */
function printOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => {
      const file = join(folder, path);
      const found = lstatSync(file);
      if (found.isSymbolicLink()) return [path, readlinkSync(file)];
      return [path, found.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'folder'];
    }),
  );
}

/** A repository that tries everything version 0.1 could be made to do, cloned by its victim. */
function cloneHostile(victim: Folder, outside: string, port: number): void {
  const origin = newFolder();
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(origin.path, path)), { recursive: true });
    writeFileSync(join(origin.path, path), text);
  };
  const touch = `touch ${join(outside, 'ran')}`;
  const store = `postgres://x@127.0.0.1:${port}/x`;
  put('.holdfast/config.json', JSON.stringify({ workspace: 'w-1', store, notify: touch }));
  put('.holdfast/journal.db', 'not a journal');
  put('.holdfast/program.local', '/bin/false\n');
  put('.holdfast/token', 'hf_planted\n');
  put(
    '.holdfast/installed.json',
    JSON.stringify({
      version: 1,
      clients: { claude: { at: 'x', words: ['sh', '-c', touch] } },
      files: { '../outside/theirs': { clients: ['claude'], edits: [], before: null, after: '' } },
      folders: [],
    }),
  );
  put('.holdfast/archives/auth.json', JSON.stringify([{ from: 'README.md', to: '../outside/moved' }]));
  put('holdfast.json', JSON.stringify({ store, notify: ['sh', '-c', touch] }));
  put('README.md', '# Harmless\n');
  put('.planning/notes.md', 'x\n');
  for (const [name, target] of [
    ['.holdfast/hooks', outside],
    ['.holdfast/hook.log', join(outside, 'theirs')],
    ['.holdfast/snapshots', outside],
    ['.planning/STATE.md', join(outside, 'theirs')],
    ['CLAUDE.md', join(outside, 'theirs')],
    ['.claude', outside],
  ] as const)
    symlinkSync(target, join(origin.path, name));
  const git = (cwd: string, ...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...words], { cwd, env: origin.env });
  git(origin.path, 'add', '-A', '-f');
  git(origin.path, 'commit', '-qm', 'Come in');
  git(victim.path, 'pull', '-q', origin.path, 'main');
}

it('changes nothing outside the data folder, runs nothing and connects to nothing', async () => {
  const [victim, watched] = [newFolder(), newFolder()];
  const outside = join(watched.path, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'theirs'), 'as it was\n');
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  cloneHostile(victim, outside, (listener.address() as { port: number }).port);
  const config = join(victim.path, '.git/config');
  writeFileSync(config, `${readFileSync(config, 'utf8')}[core]\n\tfsmonitor = touch ${join(outside, 'ran')}\n`);
  chmodSync(outside, 0o755);
  const before = { outside: printOf(outside), tree: treeOf(victim) };
  const hook = (event: string, more: object) =>
    spawnSync(process.execPath, [program, 'hook', 'claude', event], {
      cwd: victim.path,
      env: victim.env,
      input: JSON.stringify({ session_id: 'c-1', cwd: victim.path, hook_event_name: event, ...more }),
      encoding: 'utf8',
    });
  for (const [event, more] of [
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'Look around' }],
    ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }],
    ['Stop', { last_assistant_message: 'Done.' }],
    ['SessionEnd', { reason: 'exit' }],
  ] as const)
    expect([event, hook(event, more).status]).toEqual([event, 0]);
  for (const words of [
    ['init', '--title', 'Work'],
    ['adopt', '--mirror'],
    ['mirror', 'add', 'gsd'],
    ['mirror', 'sync'],
    ['snapshot', '--agent', 'ada'],
    ['note', 'a note'],
    ['resume'],
    ['check'],
    ['uninstall', 'claude'],
    ['doctor'],
    ['export', '--format', 'gsd'],
  ]) {
    const ran = victim.run(...words, '--json');
    expect([words, ran.json.ok || ran.json.fault.code !== 'internal']).toEqual([words, true]);
  }
  victim.person.run('archive', '--reason', 'over', '--json');
  victim.person.run('init', '--move-old', '--json');
  listener.close();
  expect(connections).toBe(0);
  expect(existsSync(join(outside, 'ran'))).toBe(false);
  expect(printOf(outside)).toEqual(before.outside);
  expect(treeOf(victim)).toEqual(before.tree);
});

const treeOf = ({ path }: Folder) =>
  Object.fromEntries(Object.entries(printOf(path)).filter(([name]) => !name.startsWith('.git')));
