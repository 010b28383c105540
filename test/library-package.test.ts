import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Programs of others, against the package as it is published: packed, unpacked, compiled strictly, run, killed and run again. */

const root = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'holdfast-library-'));
const started = new Set<ChildProcess>();
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Paths in what the methods answer at which the type says nothing. */
const TYPES = `
import type { Holdfast } from 'holdfast';

type Fewer = [never, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
type Plain = string | number | boolean | null | undefined | Uint8Array;
type Open<T, Path extends string, Depth extends number = 9> = unknown extends T
  ? Path
  : Depth extends 0
    ? never
    : T extends Plain
      ? never
      : T extends readonly (infer Item)[]
        ? Open<Item, \`\${Path}[]\`, Fewer[Depth]>
        : T extends ReadonlyMap<unknown, infer Value>
          ? Open<Value, \`\${Path}{}\`, Fewer[Depth]>
          : T extends object
            ? string extends keyof T
              ? Open<T[keyof T], \`\${Path}{}\`, Fewer[Depth]>
              : { [K in keyof T & string]: Open<T[K], \`\${Path}.\${K}\`, Fewer[Depth]> }[keyof T & string]
            : never;
type Answer<F> = F extends (...given: never[]) => Promise<infer R> ? R : never;
type InGroup<G, Name extends string> = { [M in keyof G & string]: Open<Answer<G[M]>, \`\${Name}.\${M}\`> }[keyof G & string];
type Found = {
  [Name in keyof Holdfast & string]:
    | (Holdfast[Name] extends (...given: never[]) => Promise<unknown> ? Open<Answer<Holdfast[Name]>, Name> : never)
    | InGroup<Holdfast[Name], Name>;
}[keyof Holdfast & string];

/** Chosen by the caller; the document of a search result; what a file of another tool has and we have no field for. */
type Allowed =
  | 'effect.run' | 'hold' | 'state.get.value' | 'search.results[].doc'
  | 'show.fields.kept{}' | 'log.events[].body.account.kept{}';

export const unknowns: Record<Exclude<Found, Allowed>, never> = {};
export const stale: Record<Exclude<Allowed, Found>, never> = {};
export const position = async (hf: Holdfast): Promise<string[]> =>
  [...(await hf.resume()).position.ready];
`;

let compiled = { status: null as number | null, out: '' };

beforeAll(() => {
  const pack = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(pack.status).toBe(0);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const unpacked = join(folder, 'node_modules/holdfast');
  mkdirSync(unpacked, { recursive: true });
  expect(spawnSync('tar', ['-xzf', join(folder, tarball), '-C', unpacked, '--strip-components=1']).status).toBe(0);
  // What npm would download beside it; the test needs no network.
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  for (const name of ['loop-agent.ts', 'workers.ts', 'graph.ts'])
    copyFileSync(join(unpacked, 'docs/examples', name), join(folder, name));
  writeFileSync(join(folder, 'types.ts'), TYPES);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    ...{ module: 'nodenext', target: 'es2023', outDir: 'out', types: ['node'], rootDir: '.' },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/lib/tsc.js'), '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  compiled = { status: tsc.status, out: tsc.stdout + tsc.stderr };
}, 180_000);

/** Runs a program until it ends, or kills it when it prints a line. */
function run(
  program: string,
  words: readonly string[],
  killAt?: RegExp,
): Promise<{ code: number | null; lines: string[] }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(folder, 'out', `${program}.js`), ...words], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, HOLDFAST_STATE_HOME: join(folder, 'state') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started.add(child);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (killAt?.test(out)) child.kill('SIGKILL');
    });
    child.on('close', (code) => {
      started.delete(child);
      resolve({ code, lines: out.split('\n').filter(Boolean) });
    });
  });
}

function newPlace(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  return place;
}

describe('the packed library', () => {
  it('compiles strictly with the programs of the documentation, and no answer is unknown', () => {
    expect(compiled).toEqual({ status: 0, out: '' });
  });

  it('carries a loop agent over kills: each order is made once, and none is left out', async () => {
    const place = newPlace('loop');
    for (const killAt of [/ordering bread/, /ordering milk/, /ordering salt/])
      expect((await run('loop-agent', [place], killAt)).code).toBe(null);
    const { code, lines } = await run('loop-agent', [place]);
    expect([code, lines.at(-1)]).toEqual([0, 'Ordered 4 things.']);
    const ledger = readFileSync(join(place, 'ledger.txt'), 'utf8').trimEnd().split('\n');
    expect(ledger.map((line) => line.split(' ')[1])).toEqual(['bread', 'milk', 'tea', 'salt']);
  });

  it('lets workers take the step of one that was killed, each step finished once', async () => {
    const place = newPlace('workers');
    const killed = run('workers', [place, 'ann'], /ann has/);
    expect((await killed).code).toBe(null);
    const both = await Promise.all([run('workers', [place, 'bob']), run('workers', [place, 'cyd'])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const finished = both.flatMap(({ lines }) => lines.filter((line) => line.includes('finished')));
    expect(finished.map((line) => line.split(' ').at(-1)).sort()).toEqual([1, 2, 3, 4].map((one) => `picture-${one}`));
  });

  it('continues a graph after the last node it finished, with all channels as they were', async () => {
    const place = newPlace('graph');
    const ran: string[] = [];
    for (const killAt of [/node fetch/, /node count/, /stored count/]) {
      const { code, lines } = await run('graph', [place], killAt);
      expect(code).toBe(null);
      ran.push(...lines);
    }
    const { code, lines } = await run('graph', [place]);
    expect(code).toBe(0);
    const stored = [...ran, ...lines].filter((line) => line.startsWith('stored'));
    expect(new Set(stored).size).toBe(stored.length);
    const pages = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 251);
    const digest = createHash('sha256').update(pages).digest('hex');
    const words = pages.filter((byte) => byte === 32).length;
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ title: 'Checked', lines: [`${words} words`, digest] });
  });
});
