import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace } from './command-line.ts';

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

/** Each break has a folder of its own that must not change, and a file that must not appear. */
interface Ground {
  outside: string;
  /** A program that leaves a mark if it runs. */
  canary(id: string): string;
  port: number;
}

const theirs = ({ outside }: Ground, id: string): string => join(outside, id, 'theirs');

/** What version 0.1 kept in the working tree and obeyed. */
function plantRecords(folder: string, ground: Ground): void {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const installed = {
    version: 1,
    clients: { claude: { at: 'x', words: ['sh', '-c', ground.canary('N1')] } },
    files: {
      '.git/config': { clients: ['claude'], edits: [], before: 'config', after: '' },
      '../outside/A6/theirs': { clients: ['claude'], edits: [], before: null, after: '' },
    },
    folders: [],
  };
  put('config.json', JSON.stringify({ workspace: 'w-1', store: addressOf(ground), notify: ground.canary('A3') }));
  put('program.local', '/bin/false\n');
  put('token', 'hf_planted\n');
  put('installed.json', JSON.stringify(installed));
  put('installed/config', `[core]\n\tfsmonitor = ${ground.canary('A6')}\n`);
  put('archives/work.json', JSON.stringify([{ from: 'README.md', to: '../outside/A4/moved' }]));
}

const addressOf = ({ port }: Ground): string => `postgres://x@127.0.0.1:${port}/x`;

/** A repository that tries everything version 0.1 could be made to do, cloned by its victim. */
function cloneHostile(victim: Folder, ground: Ground): void {
  const origin = newFolder();
  const link = (name: string, target: string) => {
    mkdirSync(dirname(join(origin.path, name)), { recursive: true });
    symlinkSync(target, join(origin.path, name));
  };
  plantRecords(join(origin.path, '.holdfast'), ground);
  const planted = newWorkspace();
  cpSync(planted.own('journal.db'), join(origin.path, '.holdfast/journal.db'));
  const settings = { store: addressOf(ground), notify: ['sh', '-c', ground.canary('A3')] };
  writeFileSync(join(origin.path, 'holdfast.json'), JSON.stringify(settings));
  writeFileSync(join(origin.path, 'README.md'), '# Harmless\n');
  link('.holdfast/hooks', join(ground.outside, 'A1'));
  link('.holdfast/snapshots', join(ground.outside, 'A1'));
  link('.holdfast/hook.log', theirs(ground, 'A2'));
  link('.holdfast/RESUME.md', theirs(ground, 'A11'));
  link('.planning/STATE.md', theirs(ground, 'A5'));
  link('.planning/STATE.md.bak', theirs(ground, 'A5'));
  link('CLAUDE.md', theirs(ground, 'A11'));
  link('.claude', join(ground.outside, 'A11'));
  const git = (cwd: string, ...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...words], { cwd, env: origin.env });
  git(origin.path, 'add', '-A', '-f');
  git(origin.path, 'commit', '-qm', 'Come in');
  git(victim.path, 'pull', '-q', origin.path, 'main');
}

/** What an unpacked archive brings, or an agent that may write `.git` puts there. */
function plantInGit(victim: Folder, ground: Ground): void {
  const config = join(victim.path, '.git/config');
  writeFileSync(config, `${readFileSync(config, 'utf8')}[core]\n\tfsmonitor = ${ground.canary('N3')}\n`);
  const { clone } = JSON.parse(readFileSync(victim.own('clone.json'), 'utf8')) as { clone: string };
  plantRecords(victim.own(), ground);
  for (const name of [clone, 'user']) plantRecords(victim.own('installed', name), ground);
  const place = { path: join(victim.path, '.git'), inode: statSync(join(victim.path, '.git')).ino };
  const moves = [{ from: 'README.md', to: '../outside/A4/moved' }];
  const mirror = { format: 'maestro', path: 'docs/maestro/state/active-session.md' };
  const intents = [{ mirror, archivedAs: 'x', moves, removes: ['README.md'], writes: [], done: false }];
  mkdirSync(victim.own('archives', clone), { recursive: true });
  writeFileSync(victim.own('archives', clone, 'work.json'), JSON.stringify({ place, intents }));
  for (const [name, target] of [
    ['hooks', join(ground.outside, 'A1')],
    ['inbox', join(ground.outside, 'A1')],
    ['hook.log', theirs(ground, 'A2')],
    ['RESUME.md', theirs(ground, 'A11')],
  ] as const) {
    rmSync(victim.own(name), { recursive: true, force: true });
    symlinkSync(target, victim.own(name));
  }
}

/** Old files as the memory of hooks and the inbox have them: a program that follows a link into their folder deletes them. */
function fillOutside(outside: string): void {
  for (const id of ['A1', 'A2', 'A4', 'A5', 'A6', 'A11']) {
    mkdirSync(join(outside, id), { recursive: true });
    writeFileSync(join(outside, id, 'theirs'), 'as it was\n');
  }
  const names = Array.from({ length: 70 }, (_, index) => `${index.toString(16).padStart(24, '0')}.json`);
  for (const name of [...names, 'm-0123456789ab-11-1.in']) {
    writeFileSync(join(outside, 'A1', name), '{}');
    utimesSync(join(outside, 'A1', name), 0, 0);
  }
}

interface Played {
  before: Record<string, string>;
  after: Record<string, string>;
  treeBefore: Record<string, string>;
  treeAfter: Record<string, string>;
  /** The breaks whose program ran. */
  ran: string[];
  /** What was sent to the planted address. */
  sent: number;
  config: { before: string; after: string };
  runs: string[];
  inForce: { store: unknown; notify: unknown };
  words: Map<string, string>;
}

async function play(): Promise<Played> {
  const [victim, watched] = [newFolder(), newFolder()];
  const [outside, ran] = [join(watched.path, 'outside'), join(watched.path, 'ran')];
  mkdirSync(ran);
  fillOutside(outside);
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const ground = { outside, port, canary: (id: string) => `touch ${join(ran, id)}` };
  cloneHostile(victim, ground);
  victim.env['PGPASSWORD'] = 'for another server';
  const before = printOf(outside);
  const treeBefore = treeOf(victim);
  const words = new Map<string, string>();
  const run = (name: string, ...command: string[]) => {
    const { code, out, err } = victim.run(...command);
    if (code === 70) throw new Error(`${command.join(' ')}: ${out}${err}`);
    words.set(name, out + err);
  };
  const hooks = () => {
    for (const [event, more] of hookCalls) {
      const input = { session_id: 'c-1', cwd: victim.path, hook_event_name: event, ...more };
      const { code } = victim.pipe(JSON.stringify(input), 'hook', 'claude', event);
      if (code !== 0) throw new Error(`The hook ${event} exited with ${code}.`);
    }
  };
  hooks();
  run('init', 'init', '--title', 'Work', '--id', 'work');
  victim.env['HOLDFAST_RUN'] = 'work';
  run('adopt', 'adopt', '--mirror');
  run('mirror add', 'mirror', 'add', 'gsd');
  plantInGit(victim, ground);
  const config = () => readFileSync(join(victim.path, '.git/config'), 'utf8');
  const configBefore = config();
  hooks();
  run('start', 'session', 'start', '--agent', 'ada');
  run('snapshot', 'snapshot', '--agent', 'ada');
  run('doctor with links', 'doctor');
  rmSync(victim.own('inbox'));
  for (const command of [
    'note x',
    'resume',
    'check',
    'uninstall claude',
    'uninstall claude --project',
    'doctor',
    'mirror sync',
  ])
    run(command, ...command.split(' '));
  const archived = victim.person.run('archive', '--reason', 'over');
  words.set('archive', archived.out + archived.err);
  victim.person.run('init', '--move-old', '--json');
  listener.close();
  return {
    ...{ before, treeBefore, words, sent: connections },
    ...{ after: printOf(outside), treeAfter: treeOf(victim), ran: readdirSync(ran) },
    config: { before: configBefore, after: config() },
    inForce: victim.data('config') as unknown as Played['inForce'],
    runs: (victim.data('runs', '--all')['runs'] as { id: string }[]).map(({ id }) => id),
  };
}

const hookCalls = [
  ['SessionStart', { source: 'startup' }],
  ['PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }],
  ['Stop', { last_assistant_message: 'Done.' }],
] as const;

const treeOf = ({ path }: Folder) =>
  Object.fromEntries(Object.entries(printOf(path)).filter(([name]) => !name.startsWith('.git')));

const below = (print: Record<string, string>, id: string) =>
  Object.fromEntries(Object.entries(print).filter(([path]) => path.startsWith(`${id}/`)));

/** Played once: the first test that asks starts it. */
let playing: Promise<Played> | undefined;
const played = (): Promise<Played> => {
  playing ??= play();
  return playing;
};

describe('a hostile repository, cloned, unpacked or with an agent that writes .git', () => {
  it('changes nothing outside the data folder, runs nothing and connects to nothing', async () => {
    const { before, after, treeBefore, treeAfter, ran, sent } = await played();
    expect([ran, sent]).toEqual([[], 0]);
    expect(after).toEqual(before);
    expect(treeAfter).toEqual(treeBefore);
  });

  it.each([
    ['A1: deletes nothing behind a linked folder', 'doctor with links', 'inbox is not a real folder'],
    ['A2: appends nothing to the target of a linked log', 'note x', 'Noted as'],
    ['A4: moves nothing that a record of archived files names', 'archive', 'Run work is archived.\n'],
    ['A5: writes no file and no backup through a link', 'mirror add', 'it is a link, or behind one'],
    ['A6: has nothing restored by a planted record of an installation', 'uninstall claude', 'Nothing'],
    ['A11: has no page or settings written through a link', 'snapshot', 'RESUME.md is not a regular file'],
  ])('%s', async (name, command, words) => {
    const [id = ''] = name.split(':');
    const { before, after, words: said } = await played();
    expect(Object.keys(below(before, id))).not.toEqual([]);
    expect(below(after, id)).toEqual(below(before, id));
    expect(said.get(command)).toContain(words);
  });

  it.each([
    ['A6: has no setting restored into .git/config'],
    ['N1: lets doctor run nothing that a record of an installation says'],
    ['N3: lets git run no monitor'],
  ])('%s', async (name) => {
    const [id = ''] = name.split(':');
    const { ran, config, words } = await played();
    expect(ran).not.toContain(id);
    expect(config.after).toBe(config.before);
    expect(words.get('doctor')).toContain('No client is set up');
  });

  it('A3: has no program that is run as notify', async () => {
    const { inForce, ran } = await played();
    expect([inForce.notify, ran]).toEqual([null, expect.not.arrayContaining(['A3'])]);
  });

  it('A8: connects to no store that it names, and says how to agree', async () => {
    const { sent, inForce, words } = await played();
    expect([sent, inForce.store]).toEqual([0, null]);
    expect([...words.values()].join('')).toContain('holdfast trust');
  });

  it('A10: brings no run of its journal', async () => {
    const { runs, words } = await played();
    expect([runs.includes('work'), runs.includes('auth')]).toEqual([true, false]);
    expect([...words.values()].join('')).not.toContain('--move-old');
  });
});
