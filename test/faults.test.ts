import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';
import { sampleFaults } from './fault-sample.ts';
import { crash } from './long/faults/crash.ts';
import { parts } from './long/faults/main.ts';
import { postgres } from './long/faults/postgres.ts';

// The other two are in their own file, so that two workers share the slowest tests.
sampleFaults(parts.filter((part) => part !== crash && part !== postgres));

describe('a journal that is damaged', () => {
  function damaged() {
    const folder = newWorkspace();
    folder.data('state', 'put', 'cart', `"${'v'.repeat(9000)}"`, '--run', 'auth');
    folder.data('init', '--title', 'Other work', '--id', 'other');
    for (let number = 0; number < 8; number++) folder.data('note', `${number}${'n'.repeat(3000)}`, '--run', 'other');
    const file = folder.own(`journal.db`);
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf('5nnn'); at >= 0; at = bytes.indexOf('5nnn', at + 1)) bytes[at + 1500] = 0x6d;
    writeFileSync(file, bytes);
    return { folder, file, bytes };
  }

  it('is repaired into a separate file from what verifies, and is not changed itself', () => {
    const { folder, file, bytes } = damaged();
    const ran = folder.run('doctor', '--repair', '--json');
    expect(ran.code).toBe(4);
    const codes = (ran.json.data['findings'] as unknown as { code: string }[]).map(({ code }) => code);
    expect(codes).toContain('repaired');
    expect(readFileSync(file).equals(bytes)).toBe(true);
    const [made] = readdirSync(folder.own()).filter((name) => /\.repaired-[\dTZ]+$/.test(name));
    const store = ['--store', folder.own(`${made}`)];
    expect(folder.data('doctor', ...store)['findings']).toEqual([]);
    expect(folder.data('log', '--run', 'auth', ...store)['version']).toBe(6);
    expect(folder.data('state', 'get', 'cart', '--run', 'auth', ...store)['content']).toHaveLength(9002);
    expect(folder.data('log', '--run', 'other', ...store)['version']).toBeGreaterThan(1);
  });

  it('is read up to its last whole page if its end is missing', () => {
    const { folder, file, bytes } = damaged();
    writeFileSync(file, bytes.subarray(0, bytes.length - 5000));
    const ran = folder.run('doctor', '--json');
    expect(ran.code).toBe(4);
    const findings = JSON.stringify(ran.json.data['findings']);
    expect(findings).toContain('`holdfast doctor --repair`');
    expect(readFileSync(file).equals(bytes.subarray(0, bytes.length - 5000))).toBe(true);
  });
});
