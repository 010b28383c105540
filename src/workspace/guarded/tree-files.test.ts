import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type GuardedTree, openGuarded } from './tree-files.ts';

let top: string;
let tree: GuardedTree;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-tree-')));
  tree = openGuarded(top);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const textOf = (name: string): string => readFileSync(join(top, name), 'utf8');

it('replaces a file only while it says what was read, and leaves an edit alone', () => {
  expect(tree.replace('a/STATE.md', null, 'one\n')).toBe(true);
  expect(tree.replace('a/STATE.md', 'one\n', 'two\n')).toBe(true);
  writeFileSync(join(top, 'a/STATE.md'), 'edited\n');
  expect(tree.replace('a/STATE.md', 'two\n', 'three\n')).toBe(false);
  expect(tree.replace('a/STATE.md', null, 'three\n')).toBe(false);
  expect([textOf('a/STATE.md'), readdirSync(join(top, 'a'))]).toEqual(['edited\n', ['STATE.md']]);
});

it('moves no file over another, and nothing through a link', () => {
  mkdirSync(join(top, 'there'));
  for (const name of ['from', 'other', 'there/taken']) writeFileSync(join(top, name), `${name}\n`);
  symlinkSync(join(top, 'there'), join(top, 'linked'));
  tree.move('from', 'there/taken');
  expect([textOf('from'), textOf('there/taken')]).toEqual(['from\n', 'there/taken\n']);
  expect(() => tree.move('other', 'linked/new')).toThrow('is not a real folder');
  expect(readdirSync(join(top, 'there'))).toEqual(['taken']);
});
