import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { OperationName } from '../../../src/operations/index.ts';
import type { Random } from '../faults/random.ts';
import type { Ground } from './ground.ts';

/** Where something hostile is put: in the data folder, at `.git` itself and at every path that is written in the tree. */
const targets = [
  ...['.git', '.git/HEAD', '.git/config', '.git/commondir', '.git/holdfast'],
  ...['clone.json', 'journal.db', 'journal.db-wal', 'journal.db-shm', 'RESUME.md', 'elsewhere', 'export/gsd'].map(
    inData,
  ),
  ...['mirrors', 'backups', 'rejected', 'inbox', 'inbox/ask', 'snapshots', 'worklog'].map(inData),
  ...['hooks', 'export', 'export/gsd/.planning', 'export/gsd/.planning/STATE.md', 'from-0.1'].map(inData),
  ...['.planning', '.planning/STATE.md', '.planning/ROADMAP.md', '.planning/STATE.md.bak', '.PLANNING', '.Git'],
  ...['notes', 'notes/RESUME.md', 'agent-output', 'agent-output/shop', 'agent-output/shop/00-handoff.md'],
  ...['agent-output/shop/00-session-state.json', 'agent-output/shop/00-session-state.json.bak'],
  ...['out', 'out/.planning', 'out/.planning/STATE.md', 'shop.jsonl', 'holdfast.json', 'CLAUDE.md', 'STATE.md'],
  ...[
    '.claude',
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.holdfast',
    '.holdfast/journal.db',
    '.mcp.json',
  ],
];

function inData(name: string): string {
  return `.git/holdfast/${name}`;
}

/** Folders of ours that another process swaps for a link while we work. */
const swapped = ['.planning', 'notes', 'agent-output/shop', ...['mirrors', 'backups', 'inbox', 'worklog'].map(inData)];

type Kind = (file: string, ground: Ground, random: Random) => void;

const link = (target: (ground: Ground) => string): Kind => {
  return (file, ground) => symlinkSync(target(ground), file);
};

const kinds: readonly Kind[] = [
  link(({ outside }) => join(outside, 'theirs.md')),
  link(({ outside }) => join(outside, 'empty')),
  link(({ outside }) => join(outside, 'folder')),
  link(({ outside }) => join(outside, 'folder/STATE.md')),
  link(({ outside }) => join(outside, 'none')),
  link(({ outside }) => join(outside, 'other/.git')),
  // Leads nowhere: the one who writes through it makes a file outside.
  link(({ outside }) => join(outside, 'none/made')),
  (file, { outside }) => symlinkSync(relative(dirname(file), join(outside, 'theirs.md')), file),
  (file, { outside }) => symlinkSync(relative(dirname(file), join(outside, 'folder')), file),
  (file) => symlinkSync(basename(file), file),
  (file) => symlinkSync('.', file),
  (file) => symlinkSync('..', file),
  link(({ shop }) => shop),
  link(() => '/dev/null'),
  link(() => '/dev/zero'),
  link(() => '/dev/full'),
  (file, { outside }) => linkSync(join(outside, 'theirs.md'), file),
  (file, { outside }) => linkSync(join(outside, 'empty'), file),
  (file) => execFileSync('mkfifo', [file]),
  (file) => mkdirSync(file),
  (file) => mkdirSync(file, { mode: 0o000 }),
  (file) => writeFileSync(file, ''),
  (file) => writeFileSync(file, '{"files":[["../../outside/theirs.md","x"]],"writing":[["../outside/none/made","x"]]}'),
  (file, _, random) => writeFileSync(file, Buffer.from(Array.from({ length: 64 }, () => random.below(256)))),
  (file) => {
    writeFileSync(file, 'x');
    chmodSync(file, 0o6777);
  },
];

export const calls: readonly [OperationName, object, boolean?][] = [
  ['note', { text: 'Another note' }],
  ['decide', { context: 'Store', decision: 'Tables', reason: 'Cheap' }],
  ['checkpoint', { name: 'half' }],
  ['resume', {}],
  ['status', {}],
  ['mirror.sync', {}],
  ['mirror.sync', { keep: 'journal' }],
  ['mirror.add', { format: 'gsd' }],
  ['mirror.add', { format: 'codewalk' }],
  ['mirror.add', { format: 'resume' }],
  ['adopt', { mirror: true }],
  ['snapshot', {}],
  ['export', { format: 'gsd' }],
  ['export', { format: 'gsd', out: 'out' }],
  ['journal.export', { out: 'shop.jsonl' }],
  ['init', { title: 'More work' }],
  ['init', { moveOld: true }, true],
  ['doctor', {}],
  ['doctor', { path: '.planning', repair: true }],
  ['check', {}],
  ['erase', { target: 'N-1', reason: 'A test' }, true],
  ['worklog', {}],
  ['archive', { reason: 'Over' }, true],
  ['unarchive', { id: 'shop' }, true],
];

export type Tally = Map<string, number>;

/** Plants one to three hostile entries, runs one or two operations, and puts everything back. */
export async function plantedCase(ground: Ground, random: Random, tally: Tally): Promise<string> {
  const { shop, top, outside } = ground;
  for (const name of readdirSync(outside))
    if (name.startsWith('moved-')) rmSync(join(outside, name), { recursive: true, force: true });
  const back: (() => void)[] = [];
  const words: string[] = [];
  for (const target of random.sample(targets, 1 + random.below(3))) {
    const file = join(shop, target);
    const kind = random.below(kinds.length);
    try {
      // What was planted before may be on the way: then this one would be made outside.
      if (isBehindLink(shop, target)) continue;
      mkdirSync(dirname(file), { recursive: true });
      const aside = join(top, `aside-${back.length}`);
      const was = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      if (was) renameSync(file, aside);
      back.unshift(() => {
        rmSync(file, { recursive: true, force: true });
        if (was) renameSync(aside, file);
      });
      const elsewhere = join(outside, `moved-${back.length}`);
      if (was && random.chance(0.6)) moveOut(aside, file, elsewhere, random);
      else kinds[kind]?.(file, ground, random);
      words.push(`${target}: ${existsSync(elsewhere) ? 'moved' : kind}`);
    } catch {
      // A hard link to a folder, and the like: the place stays empty.
    }
  }
  ground.watch();
  const ran = await callSome(ground, random, tally, 1 + random.below(2));
  for (const restore of back) restore();
  return `${words.join(', ')}; ${ran}`;
}

/** The real thing lies outside, and in its place is a link to it, or a second name of it: everything seems to work. */
function moveOut(from: string, file: string, elsewhere: string, random: Random): void {
  cpSync(from, elsewhere, { recursive: true, verbatimSymlinks: true });
  if (lstatSync(elsewhere).isFile() && random.chance(0.4)) linkSync(elsewhere, file);
  else symlinkSync(elsewhere, file);
}

export async function callSome(ground: Ground, random: Random, tally: Tally, count: number): Promise<string> {
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const [name, input, person] = random.pick(calls);
    names.push(name);
    const outcome = await ground.call(name, input, person);
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
  }
  return names.join(', ');
}

function isBehindLink(root: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.some((_, index) => {
    const found = lstatSync(join(root, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return found !== undefined && !found.isDirectory();
  });
}

/** Puts a link in the place of a folder and the folder back, as fast as it can, until it gets to end. */
const SWAPPER = `
const { renameSync, symlinkSync, rmSync, lstatSync } = require('node:fs');
const [path, target, spare] = process.argv.slice(1);
let count = 0;
const move = (from, to) => {
  try { renameSync(from, to); } catch { try { renameSync(to, spare + '-lost-' + count++); renameSync(from, to); } catch {} }
};
symlinkSync(target, spare + '-link');
process.stdin.on('end', () => process.exit(0)).resume();
const turn = () => {
  move(path, spare + '-folder');
  move(spare + '-link', path);
  const until = performance.now() + Math.random();
  while (performance.now() < until);
  move(path, spare + '-link');
  move(spare + '-folder', path);
  setImmediate(turn);
};
process.stdout.write('ready');
turn();
`;

/** Runs operations while another process swaps one of their folders. */
export async function swappedCase(ground: Ground, random: Random, tally: Tally): Promise<string> {
  const { shop, outside, top } = ground;
  const target = random.pick(swapped.filter((path) => existsSync(join(shop, path))));
  const spare = join(top, 'spare');
  const words = [join(shop, target), join(outside, random.pick(['folder', 'none'])), spare];
  const child = spawn(process.execPath, ['-e', SWAPPER, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  const ran = await callSome(ground, random, tally, 2);
  child.stdin.end();
  await ended;
  for (const name of readdirSync(top))
    if (name.startsWith('spare-')) rmSync(join(top, name), { recursive: true, force: true });
  ground.renew();
  return `${target} is swapped; ${ran}`;
}
