import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lifecycles, type Move } from '../src/core/rules/lifecycle.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist/bin/holdfast.cjs');

describe('the documentation', () => {
  it('has a README whose example runs and prints what it says', () => {
    const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-readme-'));
    try {
      const file = join(folder, 'example.mjs');
      writeFileSync(file, example.replace("'holdfast'", JSON.stringify(join(root, 'dist/lib/index.js'))));
      const ran = spawnSync(process.execPath, [file], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      });
      expect(ran.stderr).toBe('');
      const promised = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map((line) => line[1]);
      expect(promised).toHaveLength(2);
      expect(ran.stdout.trimEnd().split('\n')).toEqual(promised);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('has a README of at most 110 lines whose commands exist and whose links lead to files of the package', () => {
    const page = readFileSync(join(root, 'README.md'), 'utf8');
    expect(page.split('\n').length).toBeLessThanOrEqual(111);
    const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    const typed = [...blocks.join('').matchAll(/^\$ holdfast ?([^#\n]*)/gm)].map(([, words = '']) => words.trim());
    const inText = [...page.matchAll(/`holdfast ([a-z]+[^`]*)`/g)].map(([, words = '']) => words);
    expect(typed.length).toBeGreaterThan(8);
    for (const words of [...typed, ...inText]) {
      const [command = ''] = words.split(' ');
      const ran = spawnSync(process.execPath, [program, 'help', command || 'help'], { encoding: 'utf8', env: {} });
      expect([words, ran.status]).toEqual([words, 0]);
    }
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    const always = ['LICENSE', 'README.md', 'package.json'];
    for (const [, link = ''] of page.matchAll(/\]\(([^)#]+)\)/g)) {
      expect([link, existsSync(join(root, link))]).toEqual([link, true]);
      expect([link, always.includes(link) || files.some((one) => link.startsWith(one))]).toEqual([link, true]);
    }
  });

  it('names for each claim in SECURITY.md a test that exists', () => {
    const page = readFileSync(join(root, 'SECURITY.md'), 'utf8');
    const rows = page.split('\n').filter((line) => /^\| .* \| .*\|$/.test(line) && !/^\| (claim|-)/.test(line));
    const tests = rows.map((row) => /\| `([^`]+\.test\.ts)` "([^"]+)"\s*\|$/.exec(row) ?? [row]);
    expect(tests.length).toBeGreaterThan(10);
    for (const [row, file, name] of tests) {
      if (file === undefined) throw new Error(`This claim has no test: ${row}`);
      expect([name, readFileSync(join(root, file), 'utf8').includes(`('${name}'`)]).toEqual([name, true]);
    }
  });

  it('draws the lifecycles as the rules have them', async () => {
    const pages = Object.entries(lifecycles).map(([noun, table]) => drawing(noun, table));
    const text = `# Lifecycles\n\nMade from \`src/core/rules/lifecycle.ts\`, which the rules read too. In brackets: who may, if not anyone.\n\n${pages.join('\n')}`;
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
