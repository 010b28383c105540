import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { isRunning } from './process.ts';

const children: ReturnType<typeof spawn>[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

describe('a process', () => {
  it('runs while it is there', () => {
    expect(isRunning(process.pid)).toBe(true);
    expect(isRunning(0)).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'does not run once it has ended, though its parent has not looked',
    async () => {
      // The shell becomes a program that never looks at the child it inherits.
      const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 301'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      children.push(parent);
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(String(line));
      // Not before: a shell that is still one collects a child that ends.
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8'), { timeout: 10_000 }).toBe('sleep\n');
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
      expect(() => process.kill(pid, 0)).not.toThrow();
    },
  );
});
