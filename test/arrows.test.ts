import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkArrows, layerOf } from '../scripts/arrows.ts';
import { dangers, layers } from '../scripts/layers.ts';

/** A file of each layer, and the layers it may import: the architecture, written a second time on purpose. */
const architecture: Record<string, { file: string; may: string }> = {
  core: { file: 'src/core/rules/a.ts', may: '' },
  formats: { file: 'src/formats/gsd/a.ts', may: 'core' },
  clients: { file: 'src/clients/claude/a.ts', may: 'core' },
  workspace: { file: 'src/workspace/a.ts', may: 'core' },
  store: { file: 'src/store/a.ts', may: 'core workspace databases' },
  databases: { file: 'src/store/sqlite/a.ts', may: 'core workspace store' },
  engine: { file: 'src/engine/a.ts', may: 'core workspace store' },
  operations: { file: 'src/operations/run/a.ts', may: 'core formats clients workspace store databases engine' },
  cli: { file: 'src/cli/a.ts', may: 'core formats clients workspace store databases engine operations' },
  hooks: { file: 'src/hooks/a.ts', may: 'core formats clients workspace store databases engine operations' },
  http: { file: 'src/http/a.ts', may: 'core formats clients workspace store databases engine operations' },
  mcp: { file: 'src/mcp/a.ts', may: 'core formats clients workspace store databases engine operations' },
  acp: { file: 'src/acp/a.ts', may: 'core formats clients workspace store databases engine operations' },
  index: { file: 'src/holdfast.ts', may: 'core formats clients workspace store databases engine operations hooks' },
  adapters: { file: 'src/adapters/a.ts', may: 'index' },
  bin: {
    file: 'src/bin/a.ts',
    may: 'core formats clients workspace store databases engine operations cli hooks http mcp acp index',
  },
  web: { file: 'web/a.tsx', may: 'core' },
  'the build of web': { file: 'web/vite.config.ts', may: '' },
};

const names = Object.keys(architecture);
const fileOf = (name: string): string => architecture[name]?.file ?? '';
const mayImport = (name: string): string[] => architecture[name]?.may.split(' ') ?? [];
const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const));
const allowed = pairs.filter(([from, to]) => mayImport(from).includes(to));
const forbidden = pairs.filter(([from, to]) => !mayImport(from).includes(to));

const check = (files: Record<string, string>) => checkArrows(new Map(Object.entries(files)), []);

/** Plants one import, written as `form` says, into a file of one layer. */
function plant(from: string, to: string, form = (path: string) => `import { a } from '${path}';`) {
  const path = posix.relative(posix.dirname(fileOf(from)), fileOf(to));
  return check({
    [fileOf(from)]: form(path.startsWith('.') ? path : `./${path}`),
    [fileOf(to)]: 'export const a = 1;',
  });
}

const forms: Record<string, (path: string) => string> = {
  value: (path) => `import { a } from '${path}';`,
  type: (path) => `import type { a } from '${path}';`,
  'inline type': (path) => `import { type a } from '${path}';`,
  'side effect': (path) => `import '${path}';`,
  're-export': (path) => `export { a } from '${path}';`,
  're-export of all': (path) => `export * from '${path}';`,
  're-export of a type': (path) => `export type { a } from '${path}';`,
  dynamic: (path) => `export const f = async () => (await import('${path}')).a;`,
  'import type expression': (path) => `export type A = import('${path}').A;`,
  'typeof import': (path) => `export type A = typeof import('${path}');`,
};

describe('the layers', () => {
  it('are the ones of the architecture, and every layer has a file here', () => {
    expect(layers.map(({ name }) => name)).toEqual(names);
    for (const name of names) expect(layerOf(fileOf(name))?.name, name).toBe(name);
  });

  it.each(forbidden)('refuse an import from %s to %s, in every form', (from, to) => {
    for (const [form, write] of Object.entries(forms)) {
      const isTypeOfOperations = from === 'web' && to === 'operations' && /type/.test(form) && form !== 'inline type';
      const refused = plant(from, to, write).map(({ file, message }) => [
        file,
        message.split('. ')[0]?.slice(-to.length),
      ]);
      expect(refused, form).toEqual(isTypeOfOperations ? [] : [[fileOf(from), to]]);
    }
  });

  it.each(allowed)('accept an import from %s to %s, in every form', (from, to) => {
    for (const [form, write] of Object.entries(forms)) expect(plant(from, to, write), form).toEqual([]);
  });

  it('refuse a file of an unknown folder, and an import of one', () => {
    expect(check({ 'src/extras/a.ts': '' })).toMatchObject([{ file: 'src/extras/a.ts' }]);
    expect(check({ 'src/a.ts': '' })).toMatchObject([{ file: 'src/a.ts' }]);
    expect(check({ 'src/cli/a.ts': "import '../../test/a.ts';" })).toMatchObject([{ imports: '../../test/a.ts' }]);
  });

  it('let tests import what they need, but no interface, and let only tests import tests', () => {
    expect(check({ 'src/core/a.test.ts': "import '../store/memory/store.ts'; import 'node:fs';" })).toEqual([]);
    expect(check({ 'src/core/a.test.ts': "import '../cli/main.ts';" })).toHaveLength(1);
    expect(check({ 'src/core/a.ts': "import './a.suite.ts';" })).toMatchObject([
      { message: 'Only tests may import tests.' },
    ]);
  });
});

describe('modules and packages', () => {
  const files = ['workspace', 'store', 'databases', 'bin'];
  const users: Record<string, string[]> = {
    'node:fs': files,
    'node:fs/promises': files,
    'node:child_process': files,
    'node:sqlite': ['databases'],
    postgres: ['databases'],
    '@photostructure/sqlite': ['databases'],
    yaml: ['formats'],
    'jsonc-parser': ['formats'],
    hono: ['http'],
    '@hono/node-server': ['http'],
    '@modelcontextprotocol/server': ['mcp'],
    '@modelcontextprotocol/server/stdio': ['mcp'],
    preact: ['web'],
    'left-pad': [],
  };
  it.each(Object.entries(users))('%s is for its layers only', (module, layersOfIt) => {
    const using = names.filter((name) =>
      check({ [fileOf(name)]: `import '${module}';` }).every(({ message }) => !message.includes(' may use ')),
    );
    expect(using).toEqual(layersOfIt);
  });

  it('are found in every way to load them', () => {
    for (const load of [
      "process.getBuiltinModule('node:fs');",
      "process.getBuiltinModule('node:sqlite' as 'node:fs');",
      "require('node:fs');",
      "createRequire(import.meta.filename)('node:fs');",
      "import fs = require('node:fs');",
      'export const f = (name: string) => import(name);',
    ])
      expect(check({ 'src/core/a.ts': load }), load).toHaveLength(1);
  });
});

describe('only one module for each may', () => {
  const planted: Record<string, readonly string[]> = {
    'start programs': [
      "import { spawn } from 'node:child_process';",
      "const { execFile } = await import('node:child_process');",
      "const { spawnSync } = process.getBuiltinModule('node:child_process');",
      "import { Worker } from 'node:worker_threads';",
    ],
    'run git': ["void runProgram(['git', 'status'], '.', '.');", "const file = findProgram('git', '.');"],
    connect: [
      "await fetch('https://example.org');",
      "await globalThis.fetch('https://example.org');",
      "await globalThis['fetch']('https://example.org');",
      'const send = fetch;',
      "new WebSocket('wss://example.org');",
      "import { connect } from 'node:net';",
      "import * as net from 'node:net';",
      "import { request } from 'node:https';",
      "import tls from 'node:tls';",
    ],
    'connect to a database': ["import postgres from 'postgres';", "await import('postgres');"],
    'change files': [
      "import { writeFileSync } from 'node:fs';",
      "import { readFileSync, rmSync } from 'node:fs';",
      "import { rm } from 'node:fs/promises';",
      "import * as fs from 'node:fs';",
      "import fs from 'node:fs';",
      "export { writeFileSync } from 'node:fs';",
      "process.getBuiltinModule('node:fs').rmSync('x');",
    ],
  };
  // Layers that may import the module, but not do this.
  const places = { 'connect to a database': 'src/store/postgres/a.ts' } as Record<string, string>;
  it.each(Object.entries(planted))('%s: every planted violation is refused', (what, lines) => {
    expect(dangers.map((danger) => danger.what)).toContain(what);
    for (const line of lines) {
      const said = check({ [places[what] ?? 'src/workspace/a.ts']: line }).map(({ message }) => message);
      expect([line, said]).toEqual([line, [expect.stringContaining(`may ${what}.`)]]);
      for (const only of dangers.find((danger) => danger.what === what)?.only ?? [])
        if (!only.endsWith('/') && only.startsWith('src/workspace/'))
          expect([line, only, check({ [only]: line })]).toEqual([line, only, []]);
    }
  });

  it('do it; what harms nobody is free', () => {
    for (const line of [
      "import { readFileSync, statSync } from 'node:fs';",
      "import type { ChildProcess } from 'node:child_process';",
      "import { type Server, isIP } from 'node:net';",
      'export const app = { fetch: (request: Request) => other.fetch(request) };',
      "export const branch = payload['git'];",
    ])
      expect([line, check({ 'src/workspace/a.ts': line })]).toEqual([line, []]);
  });

  it('names only files that are there', () => {
    for (const only of dangers.flatMap((danger) => danger.only)) expect([only, existsSync(only)]).toEqual([only, true]);
  });
});

it.each(['Date.now()', 'new Date()', 'Math.random()'])('%s is refused in the pure layers only', (code) => {
  const refused = names.filter((name) => check({ [fileOf(name)]: `export const f = () => ${code};` }).length > 0);
  expect(refused).toEqual(['core', 'formats', 'clients', 'engine']);
  expect(check({ 'src/core/a.ts': 'export const f = (at: number) => new Date(at);' })).toEqual([]);
});

describe('cycles', () => {
  it.each(Object.entries(forms))('are refused: %s', (_, write) => {
    const files = {
      'src/core/a.ts': write('./b.ts'),
      'src/core/b.ts': write('./c.ts'),
      'src/core/c.ts': write('./a.ts'),
    };
    const imports = 'src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts';
    expect(check(files)).toMatchObject([{ imports }]);
    expect(check({ ...files, 'src/core/c.ts': '' })).toEqual([]);
  });
});

it('lists what is still open, and refuses an entry that is no longer needed', () => {
  const files = new Map([['src/core/a.ts', "import '../cli/main.ts';"]]);
  expect(checkArrows(files, ['src/core/a.ts ../cli/main.ts'])).toEqual([]);
  expect(checkArrows(new Map([['src/core/a.ts', '']]), ['src/core/a.ts ../cli/main.ts'])).toHaveLength(1);
});

it('refuses a planted import on disk, with the reason', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-arrows-'));
  try {
    for (const part of ['src', 'web']) cpSync(part, join(folder, part), { recursive: true });
    const run = () =>
      spawnSync(process.execPath, ['scripts/run.mjs', 'scripts/check-arrows.ts', folder], { encoding: 'utf8' });
    writeFileSync(join(folder, 'src/core/planted.ts'), "export type { Engine } from '../engine/engine.ts';\n");
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toBe(
      'src/core/planted.ts: ../engine/engine.ts\n  core may import no other layer, not engine. The core is pure: no files, clock, randomness or environment.\n',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
