import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drawDemo } from '../scripts/draw-demo.ts';
import { commands } from '../src/bin/interfaces.ts';
import { parseArguments } from '../src/cli/arguments.ts';
import { faultExits } from '../src/core/fault.ts';
import { lifecycles, type Move } from '../src/core/rules/lifecycle.ts';
import { parseInput } from '../src/operations/operation.ts';
import { newFolder } from './command-line.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The words of a line as a shell reads them. */
const shellWords = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain ?? '');

/** The lines with a command of ours in the console blocks of a page. */
function consoleLines(page: string): string[] {
  const blocks = [...read(page).matchAll(/```console\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return [...blocks.join('').matchAll(/^\$ (?:[A-Z_]+=\S+ )?holdfast ?([^\n]*)/gm)].map(([, line = '']) =>
    line.replace(/\s*(?:#|\| |> |< |&& ).*$/, '').trim(),
  );
}

describe('the documentation', () => {
  it.each(pages)('%s has links that lead to files of the package', (page) => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const always = ['LICENSE', 'README.md', 'package.json'];
    for (const [, link = ''] of read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)) {
      const target = normalize(join(dirname(page), link));
      const isPacked = always.includes(target) || files.some((one) => target === one || target.startsWith(`${one}/`));
      expect([link, existsSync(join(root, target)), isPacked]).toEqual([link, true, true]);
    }
  });

  it.each(pages.filter((page) => consoleLines(page).length > 0))(
    '%s has commands that exist and parse',
    async (page) => {
      for (const line of consoleLines(page)) {
        const words = shellWords(line).map((word) => (word === '…' ? 'x' : word));
        const call = await parseArguments(words, commands);
        if (call.operation) expect(() => parseInput(call.operation as never, call.input)).not.toThrow();
        else
          expect([line, call.words[0] ?? 'help']).toEqual([
            line,
            expect.stringMatching(/^(help|completion|hook|version)$/),
          ]);
      }
    },
  );

  it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s names commands that exist', async (page) => {
    const text = read(page).replace(/```[\s\S]*?```/g, '');
    for (const [, written = ''] of text.matchAll(/`holdfast ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/g)) {
      const call = await parseArguments(written.split(' '), commands).catch(() => null);
      const isKnown =
        call === null || call.operation !== null || ['help', 'completion', 'hook'].includes(call.words[0] ?? '');
      // `mail` and the like stand for all commands of the noun.
      const isNoun = commands.names.some((name) => name.startsWith(`${written.split(' ')[0]}.`));
      expect([written, isKnown || isNoun]).toEqual([written, true]);
    }
  });

  it('has a README of at most 110 lines, with no table wider than 110 characters, and both commands of a clone first', () => {
    const page = read('README.md');
    expect(page.split('\n').length).toBeLessThanOrEqual(111);
    expect(page.split('\n').filter((line) => line.startsWith('|') && line.length > 110)).toEqual([]);
    const [first = ''] = /```console\n[\s\S]*?```/.exec(page) ?? [];
    expect(first).toContain('npm ci && npm start');
    expect(first).toContain('npm ci && npm test');
  });

  it('has a README whose figures are those of the pages that were generated', () => {
    const proof = read('README.md').split('## Proof')[1] ?? '';
    const rows = (page: string, name: string): string[] =>
      (
        read(page)
          .split('\n')
          .find((line) => line.startsWith(`| ${name}`)) ?? ''
      )
        .split('|')
        .map((cell) => cell.trim());
    const kills = (cell = ''): number => cell.split(' + ').reduce((sum, part) => sum + Number(part), 0);
    const [, , ours, failed, , repeated, , , facts] = rows('docs/proof/recovery.md', 'Holdfast');
    expect(proof).toContain(
      `Killed at ${kills(ours)} points of a scripted job: ${failed} failed resumes, ${facts} facts lost, ${repeated} side effects`,
    );
    const [, , theirs, lost, , twice] = rows('docs/proof/recovery.md', 'a plain state file');
    expect(proof.replace(/\s+/g, ' ')).toContain(
      `A plain state file: ${lost} failed resumes and ${twice} repeated effects in ${kills(theirs)} kills`,
    );
    for (const tool of ['DBOS', 'LangGraph']) {
      const cells = rows('docs/proof/recovery.md', tool);
      expect([tool, cells[3], cells[8]?.startsWith('0 of')]).toEqual([tool, '0', true]);
      const [missed, of] = (cells[9] ?? '').split(' of ');
      expect(missed).toBe(of);
    }
    const [, , updates] = rows('docs/proof/performance.md', '8 processes on one run');
    expect(updates).toBe('0 of 800');
    // Ratios change with every measurement: they stand on their page only.
    expect(proof).not.toMatch(/\d ?×|times as long/);
  });

  it.each(['README.md', 'docs/library.md'])('%s has an example that runs', (page) => {
    const example = /```ts\n([\s\S]*?)```/.exec(read(page))?.[1] ?? '';
    const folder = newFolder();
    if (page === 'README.md') {
      folder.data('init', '--title', 'User login');
      folder.data('plan', 'add', 'p1.2', 'Rotate tokens');
    }
    const file = join(folder.path, 'example.mjs');
    writeFileSync(file, example.replace("'holdfast'", JSON.stringify(join(root, 'dist/lib/index.js'))));
    const ran = spawnSync(process.execPath, [file], { cwd: folder.path, encoding: 'utf8', env: folder.env });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    if (page === 'README.md') expect(ran.stdout).toBe('Resuming from Task: "Rotate tokens" (checkpoint: "drafted")\n');
  });

  it('lists the exit codes as they are', () => {
    const rows = [...read('docs/reference.md').matchAll(/^\| (\d+) +\| [^|]+\| ([^|]*)\|$/gm)];
    const listed = rows.flatMap(([, exit, codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(exit)] as const),
    );
    expect(Object.fromEntries(listed)).toEqual(faultExits);
  });

  it('has a moving picture that is the demo, without scripts and fonts from elsewhere', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-picture-'));
    try {
      const record = join(folder, 'demo.json');
      const words = [join(root, 'dist/bin/holdfast.cjs'), 'demo', '--fast', '--record', record];
      const ran = spawnSync(process.execPath, words, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
      expect([ran.status, ran.stderr]).toEqual([0, '']);
      const picture = read('docs/images/demo.svg');
      const wordsOf = (svg: string): string =>
        [...svg.matchAll(/<text[^>]*>([^<]*)/g)]
          .map(([, text = '']) => text)
          .join(' ')
          .replace(/\d{4}-\d\d-\d\d|\d\d:\d\d|\d+ s|"(?:main|master)"/g, '')
          .replace(/\s+/g, ' ');
      expect(wordsOf(picture)).toBe(wordsOf(drawDemo(JSON.parse(readFileSync(record, 'utf8')))));
      expect(Buffer.byteLength(picture)).toBeLessThan(150_000);
      expect(picture).not.toMatch(/<script|@import|url\(|@font-face|<image|href=/);
      expect(picture).toContain('prefers-color-scheme:dark');
      expect(picture).toContain('prefers-reduced-motion:reduce');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names for each claim in SECURITY.md a test that exists', () => {
    const page = read('SECURITY.md');
    const rows = page.split('\n').filter((line) => /^\| .* \| .*\|$/.test(line) && !/^\| (claim|break|-)/.test(line));
    const tests = rows.map((row) => /\| `([^`]+\.test\.ts)` "([^"]+)"\s*\|$/.exec(row) ?? [row]);
    expect(tests.length).toBeGreaterThan(10);
    for (const [row, file, name] of tests) {
      if (file === undefined) throw new Error(`This claim has no test: ${row}`);
      expect([name, read(file).includes(`'${name}'`)]).toEqual([name, true]);
    }
  });

  it('names for each break a test that has its id in its name', () => {
    const rows = (read('SECURITY.md').split('## Breaks')[1] ?? '')
      .split('\n')
      .filter((line) => /^\| ?[A-Z]\d/.test(line));
    const named = rows.map(
      (row) => [/^\| (\w+)/.exec(row)?.[1] ?? '', /"([^"]+)"\s*\|$/.exec(row)?.[1] ?? ''] as const,
    );
    const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
    const all = [...upTo('A', 11), ...upTo('B', 3), ...upTo('C', 9), ...upTo('D', 3), 'E2', 'E3', ...upTo('N', 12)];
    expect(named.map(([id]) => id)).toEqual(all);
    for (const [id, name] of named)
      expect([id, name.split(':')[0]?.split(', ')]).toEqual([id, expect.arrayContaining([id])]);
  });

  it('draws the lifecycles as the rules have them', async () => {
    const drawings = Object.entries(lifecycles).map(([noun, table]) => drawing(noun, table));
    const text = `# Lifecycles\n\nMade from \`src/core/rules/lifecycle.ts\`, which the rules read too. In brackets: who may, if not anyone.\n\n${drawings.join('\n')}`;
    await expect(text).toMatchFileSnapshot('../docs/lifecycles.md');
  });
});

function drawing(noun: string, table: Readonly<Record<string, Readonly<Record<string, Move>>>>): string {
  const name = (state: string): string => state.replaceAll('-', '_');
  const arrows = Object.entries(table).flatMap(([from, moves]) =>
    Object.entries(moves).map(
      ([move, { to, who }]) => `  ${name(from)} --> ${name(to)}: ${move}${who === 'anyone' ? '' : ` [${who}]`}`,
    ),
  );
  const [first = ''] = Object.keys(table);
  return `## ${noun}\n\n\`\`\`mermaid\nstateDiagram-v2\n  [*] --> ${name(first)}\n${arrows.join('\n')}\n\`\`\`\n`;
}
