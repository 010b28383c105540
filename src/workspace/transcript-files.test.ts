import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { zstandardBlock, zstandardFrame } from '../../test/zstandard.ts';
import { namesIn, readDocument, readEntries, readHead, realPath, writtenMs } from './transcript-files.ts';

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});
function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-files-'));
  made.push(path);
  return path;
}

describe('a compressed transcript', () => {
  it('is not read on when it unpacks to far more than its size', () => {
    const path = join(newFolder(), 'rollout-bomb.jsonl.zst');
    const bombs = Array.from({ length: 4096 }, () => zstandardBlock(1, 128 * 1024, Buffer.from('x')));
    writeFileSync(path, zstandardFrame([...bombs, zstandardBlock(0, 0, Buffer.alloc(0), true)]));
    expect([...readEntries(path)][0]?.problem).toContain('more than is ever read');
  });

  it('is skipped quickly when it unpacks to empty lines, which still count as lines', () => {
    const path = join(newFolder(), 'rollout-empty.jsonl.zst');
    const empty = Array.from({ length: 400 }, () => zstandardBlock(1, 128 * 1024, Buffer.from('\n')));
    const last = Buffer.from('{"type":"x"}\n\n\n[1]\n');
    writeFileSync(path, zstandardFrame([...empty, zstandardBlock(0, last.length, last, true)]));
    const first = 400 * 128 * 1024 + 1;
    expect([...readEntries(path)]).toEqual([
      { line: first, entry: { type: 'x' } },
      { line: first + 3, problem: 'is not an object.' },
    ]);
  });

  it('is refused when it needs too much memory', () => {
    const path = join(newFolder(), 'rollout-wide.jsonl.zst');
    writeFileSync(path, zstandardFrame([zstandardBlock(0, 1, Buffer.from('x'), true)], 0xf8));
    expect([...readEntries(path)][0]?.problem).toContain('too much memory');
  });

  it('is read up to where it is cut off', () => {
    const path = join(newFolder(), 'rollout-cut.jsonl.zst');
    const text = Buffer.from('{"type":"session_meta","payload":{"id":"a"}}\n'.repeat(2000));
    const whole = zstandardFrame([zstandardBlock(0, text.length, text), zstandardBlock(0, text.length, text, true)]);
    writeFileSync(path, whole.subarray(0, whole.length - 100));
    expect([...readEntries(path)].filter((one) => one.entry)).toHaveLength(2000);
  });
});

it('does not list links, and reads nothing but regular files', () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'inside'));
  writeFileSync(join(folder, 'file'), '{}');
  symlinkSync('file', join(folder, 'link'));
  symlinkSync('inside', join(folder, 'linked-folder'));
  expect(namesIn(folder, 'file')).toEqual(['file']);
  expect(namesIn(folder, 'folder')).toEqual(['inside']);
  expect(namesIn(join(folder, 'missing'), 'file')).toEqual([]);
  expect(realPath(join(folder, 'link'))).toBe(realPath(join(folder, 'file')));
  expect(realPath(join(folder, 'missing'))).toBe(join(folder, 'missing'));
  for (const path of [join(folder, 'inside'), '/dev/zero', join(folder, 'missing')]) {
    expect(writtenMs(path)).toBeNull();
    expect(readDocument(path)).toBeNull();
    expect(readHead(path)).toBe('');
    expect([...readEntries(path)]).toMatchObject([{ line: 1, problem: expect.stringContaining('cannot be read') }]);
  }
});
