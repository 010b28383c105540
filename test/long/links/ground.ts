import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Fault } from '../../../src/core/fault.ts';
import { loadOperation, type OperationName } from '../../../src/operations/index.ts';
import { openContext } from '../../../src/operations/open.ts';
import { callOperation } from '../../../src/operations/operation.ts';

/** A workspace among folders that must not change, programs that must not run, and a port that must stay silent. */
export interface Ground {
  top: string;
  /** The workspace. */
  shop: string;
  /** Everything in it must stay as it is. */
  outside: string;
  port: number;
  /** Runs one operation in this process, whatever becomes of it. */
  call(name: OperationName, input: object, person?: boolean): Promise<'done' | 'refused' | `unexpected: ${string}`>;
  /** What went wrong since the last time: something changed, ran or connected. */
  findings(): string[];
  /** From now on everything outside must stay as it is now. */
  watch(): void;
  /** The workspace as it was at first. */
  renew(): void;
  remove(): void;
}

/** Programs that something could be made to start by name. */
const NAMES = [
  'ssh',
  'less',
  'more',
  'vi',
  'editor',
  'gpg',
  'curl',
  'wget',
  'xdg-open',
  'open',
  'canary',
  'git-canary',
];

export async function makeGround(): Promise<Ground> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-links-')));
  const [shop, outside, ran, bin] = ['shop', 'outside', 'ran', 'bin'].map((name) => join(top, name)) as Four;
  const { connections, port, close } = await listen();
  for (const folder of [shop, ran, bin, join(top, 'home')]) mkdirSync(folder);
  for (const name of NAMES) {
    writeFileSync(join(bin, name), `#!/bin/sh\n: >'${ran}/${name}'\n`);
    chmodSync(join(bin, name), 0o755);
  }
  useEnvironment(top, bin);
  fillOutside(outside);
  execFileSync('git', ['init', '-q', '-b', 'main', shop]);
  writeFileSync(join(shop, 'README.md'), '# Shop\n');
  const own = ['-C', shop, '-c', 'user.name=t', '-c', 'user.email=t@x'];
  execFileSync('git', [...own, 'add', '-A']);
  execFileSync('git', [...own, 'commit', '-qm', 'Begin']);
  const call = caller(shop);
  for (const [name, input] of BEGINNING) {
    const outcome = await call(name, input);
    if (outcome !== 'done') throw new Error(`${name} was ${outcome}.`);
  }
  cpSync(shop, join(top, 'kept'), { recursive: true, preserveTimestamps: true });
  let before = printOf(outside);
  let seen = 0;
  return {
    ...{ top, shop, outside, port, call },
    findings() {
      const fresh = [
        ...differences(before, printOf(outside)),
        ...readdirSync(ran).map((name) => `${name} ran`),
        ...(connections() > seen ? ['something connected'] : []),
      ];
      seen = connections();
      if (fresh.length > 0) {
        rmSync(outside, { recursive: true, force: true });
        fillOutside(outside);
        before = printOf(outside);
        for (const name of readdirSync(ran)) rmSync(join(ran, name));
      }
      return fresh;
    },
    watch() {
      before = printOf(outside);
    },
    renew() {
      rmSync(shop, { recursive: true, force: true });
      cpSync(join(top, 'kept'), shop, { recursive: true, preserveTimestamps: true });
    },
    remove() {
      close();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

type Four = [string, string, string, string];

const BEGINNING: readonly [OperationName, object][] = [
  ['init', { title: 'Shop', id: 'shop' }],
  ['plan.add', { key: 'a', title: 'First' }],
  ['mirror.add', { format: 'gsd' }],
  ['mirror.add', { format: 'apex', path: 'agent-output/shop/00-session-state.json' }],
  ['mirror.add', { format: 'resume', path: 'notes/RESUME.md' }],
  ['start', { key: 'a' }],
  ['note', { text: 'The first note' }],
  ['snapshot', {}],
];

/** As a user's own, with nothing of the machine but git. */
function useEnvironment(top: string, bin: string): void {
  const path = `${bin}:${process.env['PATH'] ?? ''}`;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, { PATH: path, HOME: join(top, 'home'), HOLDFAST_STATE_HOME: join(top, 'state') });
}

function fillOutside(outside: string): void {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(outside, path)), { recursive: true });
    writeFileSync(join(outside, path), text);
  };
  put('theirs.md', 'as it was\n');
  put('empty', '');
  put('folder/STATE.md', '# As it was\n');
  put('folder/inner/RESUME.md', 'as it was\n');
  put('other/.git/HEAD', 'ref: refs/heads/main\n');
  put('other/.git/config', '[core]\n\tbare = false\n');
  mkdirSync(join(outside, 'other/.git/objects'));
  mkdirSync(join(outside, 'other/.git/refs'));
  mkdirSync(join(outside, 'none'));
}

/** Each entry with its kind, mode and bytes. */
function printOf(folder: string): Map<string, string> {
  const print = new Map<string, string>();
  // With the kinds of entries no link is followed: one may lead into the workspace.
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(parentPath, name);
    const path = relative(folder, file);
    const found = lstatSync(file);
    const text = found.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
    print.set(path, `${found.mode} ${found.isSymbolicLink() ? readlinkSync(file) : text}`);
  }
  return print;
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).map((path) => `outside/${path} changed`);
}

function caller(dir: string): Ground['call'] {
  return async (name, input, person = false) => {
    const actor = person ? ({ kind: 'person', name: 'ada' } as const) : ({ kind: 'agent', name: 'bob' } as const);
    const evidence = person ? 'terminal' : 'library';
    const context = openContext({ dir, actor, evidence, run: 'shop' });
    try {
      await callOperation(await loadOperation(name), context, input);
      return 'done';
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== 'internal') return 'refused';
      return `unexpected: ${name}: ${(thrown as Error).message.replaceAll(dir, 'shop').slice(0, 100)}`;
    } finally {
      await context.close().catch(() => undefined);
    }
  };
}

async function listen(): Promise<{ connections(): number; port: number; close(): void }> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  return { connections: () => count, port, close: () => server.close() };
}
