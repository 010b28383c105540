import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Scored {
  tool: string;
  left: string | null;
  kills: number;
  total: Record<string, number>;
}

/** Runs the benchmark at some of the kill points. */
function score(...words: string[]): Scored[] {
  const ran = spawnSync(
    process.execPath,
    ['scripts/run.mjs', 'bench/main.ts', 'recovery', ...words, '--sweeps', '0', '--json'],
    { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } },
  );
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout) as Scored[];
}

function fixture(name: string): string {
  return `test/fixtures/recovery/${name}.mjs`;
}

const nothing = { failed: 0, workTwice: 0, effectsRepeated: 0, staleActions: 0, leftUndone: 0, factsLost: 0 };

describe('the recovery score', () => {
  it('finds nothing lost or repeated after a kill of an agent with Holdfast', { timeout: 120_000 }, () => {
    const [holdfast] = score('holdfast', '--scenario', 'release', '--every', '9');
    expect(holdfast).toMatchObject({ left: null, kills: 3, total: { ...nothing, conflictsMissed: 0 } });
    expect(holdfast?.total['facts']).toBeGreaterThan(0);
  });

  it('counts a torn file, and a tool that lies, whatever its adapter claims', { timeout: 120_000 }, () => {
    const words = ['--scenario', 'release', '--every', '8'];
    const [file, liar] = score('state-file', '--adapter', fixture('lying-tool'), ...words);
    expect(file).toMatchObject({ tool: 'a plain state file', left: null, kills: 6 });
    expect(file?.total['failed']).toBeGreaterThan(0);
    expect(file?.total['effectsRepeated']).toBeGreaterThan(0);
    expect(liar).toMatchObject({ left: null, total: { failed: 0, effectsRepeated: 0 } });
    expect(liar?.total['leftUndone']).toBeGreaterThan(0);
    expect(liar?.total['factsLost']).toBe(liar?.total['facts']);
    expect(liar?.total['conflictsMissed']).toBe(liar?.total['conflicts']);
    expect(liar?.total['conflicts']).toBeGreaterThan(0);
  });

  it('counts nothing against a tool that keeps everything, and every fault of one that forgets', {
    timeout: 120_000,
  }, () => {
    const words = ['--adapter', fixture('ideal-tool'), '--adapter', fixture('forgetful-tool'), '--every', '6'];
    const [ideal, forgetful] = score(...words);
    expect(ideal).toMatchObject({ left: null, total: { ...nothing, conflictsMissed: 0 } });
    expect(ideal?.total['facts']).toBeGreaterThan(0);
    expect(ideal?.total['conflicts']).toBeGreaterThan(0);
    expect(forgetful).toMatchObject({ left: null, kills: ideal?.kills });
    for (const fault of Object.keys(nothing)) expect([fault, forgetful?.total[fault]]).not.toEqual([fault, 0]);
    expect(forgetful?.total).toMatchObject({
      factsLost: forgetful?.total['facts'],
      conflictsMissed: forgetful?.total['conflicts'],
    });
  });
});
