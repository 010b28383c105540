import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

interface BuildStamp {
  parts: string[];
  stalePartsOf(root: string): string[];
  hashOf(root: string, part: string): string;
  writeStamp(root: string, part: string, hash: string): void;
}
const { parts, stalePartsOf, hashOf, writeStamp } = (await import(
  '../scripts/build-stamp.mjs' as string
)) as BuildStamp;

let root: string;
const write = (path: string, text: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-build-')) + sep;
  for (const path of ['src/core/a.ts', 'src/core/a.test.ts', 'web/main.tsx', 'package.json', 'dist/web/index.html'])
    write(path, 'as built');
  for (const part of parts) {
    write(`dist/${part}/file`, '');
    writeStamp(root, part, hashOf(root, part));
  }
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

it('has nothing to build when nothing has changed', () => {
  write('src/core/a.ts', 'as built');
  write('src/core/a.test.ts', 'tests are not part of it');
  expect(stalePartsOf(root)).toEqual([]);
});

it.each([
  ['src/core/a.ts', 'changed!', ['bin', 'lib', 'web']],
  ['src/core/new.ts', '', ['bin', 'lib', 'web']],
  ['package.json', '{}', ['bin', 'lib', 'web']],
  ['web/main.tsx', 'changed', ['web']],
])('builds again what %s is part of', (path, text, stale) => {
  write(path, text);
  expect(stalePartsOf(root)).toEqual(stale);
});

it('builds again when a source is gone, a part is missing or the stamp is damaged', () => {
  rmSync(join(root, 'dist/lib'), { recursive: true });
  expect(stalePartsOf(root)).toEqual(['lib']);
  rmSync(join(root, 'src/core/a.ts'));
  expect(stalePartsOf(root)).toEqual(parts);
  write('src/core/a.ts', 'as built');
  write('dist/stamp.json', '{');
  expect(stalePartsOf(root)).toEqual(parts);
});
