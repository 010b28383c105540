import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** A process of its own: it must not hang on a pipe, and what it may start is decided by its environment. */
it('A1, A2, A5, A11, N6: of links, pointers and settings at random change, run and connect nothing outside', {
  timeout: 600_000,
}, () => {
  const words = ['scripts/run.mjs', 'test/long/main.ts', 'links', '--cases', '1000', '--seed', '7'];
  const root = fileURLToPath(new URL('..', import.meta.url));
  const ran = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 590_000 });
  expect(ran.stdout).toContain('\n0 findings.');
  expect([ran.status, ran.stderr]).toEqual([0, '']);
});
