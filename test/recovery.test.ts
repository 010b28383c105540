import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { shareOf } from '../bench/recovery/report.ts';
import { momentsOf } from '../bench/recovery/run.ts';
import { readSuite } from '../bench/recovery/scenario.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Scored {
  tool: string;
  left: string | null;
  kills: number;
  total: Record<string, number>;
}

function bench(...words: string[]) {
  return spawnSync(process.execPath, ['scripts/run.mjs', 'bench/main.ts', 'recovery', ...words], {
    ...{ cwd: root, encoding: 'utf8' as const },
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
}

/** Runs the benchmark at some of the moments. */
function score(...words: string[]): Scored[] {
  const ran = bench(...words, '--json');
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout) as Scored[];
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-recovery-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fixture(name: string): string {
  return `test/fixtures/recovery/${name}.mjs`;
}

const nothing = { failed: 0, workTwice: 0, effectsRepeated: 0, staleActions: 0, leftUndone: 0, factsLost: 0 };

/** Of version 1: another one has another number. */
const SUITE_SHA256 = 'b4b2f3e476281acc16b431e72de2f8cd9091e5dd5cd017676d7158fc71bd23c0';

describe('the recovery score', () => {
  it('finds nothing lost or repeated after a kill of an agent with Holdfast', { timeout: 120_000 }, () => {
    const [holdfast] = score('holdfast', '--scenario', 'release', '--every', '16');
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

  it('has a suite that never changes, with the same moments for every tool', () => {
    const { version, sha256, scenarios, inside } = readSuite();
    expect([version, sha256]).toEqual(['1', SUITE_SHA256]);
    const moments = scenarios.flatMap((scenario) => momentsOf(scenario, inside));
    expect(moments.length).toBeGreaterThanOrEqual(60);
    expect(new Set(moments.map((moment) => JSON.stringify(moment))).size).toBe(moments.length);
  });

  it('gives intervals after Wilson', () => {
    expect([shareOf(11, 11), shareOf(0, 10), shareOf(45, 60)]).toEqual([
      '100 % (74–100)',
      '0 % (0–28)',
      '75 % (63–84)',
    ]);
  });

  it('asks a program in any language over stdio, and its result file is verified', { timeout: 120_000 }, () => {
    const out = join(folder, 'result.json');
    const words = ['--stdio', `node ${join(root, fixture('stdio-tool'))}`, '--scenario', 'replan', '--every', '10'];
    const [overStdio] = score(...words, '--out', out);
    expect(overStdio).toMatchObject({ tool: 'a tool over stdio', left: null, kills: 4 });
    expect(overStdio?.total).toMatchObject({ ...nothing, conflictsMissed: 0, claimsFalse: 0 });
    // It shows all that ever was, so what is over too.
    expect(overStdio?.total['shownOver']).toBeGreaterThan(0);
    expect(bench('--verify', out).status).toBe(0);
    const text = readFileSync(out, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      suite: { version: '1', sha256: SUITE_SHA256 },
      machine: { node: process.version },
    });
    writeFileSync(out, text.replace('"workTwice": 0', '"workTwice": 1'));
    const tampered = bench('--verify', out);
    expect([tampered.status, tampered.stderr]).toEqual([1, expect.stringContaining('does not follow from the kills')]);
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
