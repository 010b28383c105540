import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Progress } from '../src/operations/context.ts';
import { operations } from '../src/operations/index.ts';
import { openContext } from '../src/operations/open.ts';
import { callOperation, type Operation } from '../src/operations/operation.ts';
import { newWorkspace } from './command-line.ts';

/** Runs an operation as a person at a terminal does, and returns what it showed on the way. */
async function shown(dir: string, operation: Operation, input: object): Promise<Progress[]> {
  const seen: Progress[] = [];
  const actor = { kind: 'person', name: 'ada' } as const;
  const context = openContext({ dir, actor, evidence: 'terminal', progress: (one) => seen.push(one) });
  try {
    await callOperation(operation, context, input);
  } finally {
    await context.close();
  }
  return seen;
}

describe('long work shows its progress', () => {
  it.each([{}, { rebuild: true }])('checking and rebuilding a journal: %j', async (input) => {
    const folder = newWorkspace();
    vi.stubEnv('HOLDFAST_STATE_HOME', folder.env['HOLDFAST_STATE_HOME']);
    const { version } = folder.data('log');
    const seen = await shown(folder.path, await operations.doctor(), input);
    expect(seen.at(0)).toEqual({ doing: 'Checking', done: 1, total: version, at: 'auth' });
    expect(seen.some(({ doing }) => doing === 'Rebuilding')).toBe('rebuild' in input);
    expect(Math.max(...seen.map(({ done }) => done))).toBe(version);
    vi.unstubAllEnvs();
  });

  it('importing a run', async () => {
    const folder = newWorkspace();
    vi.stubEnv('HOLDFAST_STATE_HOME', folder.env['HOLDFAST_STATE_HOME']);
    const file = join(folder.path, 'auth.jsonl');
    folder.data('journal', 'export', '--run', 'auth', '--out', file);
    const seen = await shown(folder.path, await operations['journal.import'](), { file });
    const { version } = folder.data('log');
    expect(seen.map(({ doing }) => doing)).toContain('Comparing');
    expect(seen.at(-1)).toEqual({ doing: 'Importing', done: version, total: version, at: 'auth' });
    vi.unstubAllEnvs();
  });

  it.each(['adopt', 'scan', 'doctor', 'recover', 'journal.import', 'mirror.sync'] as const)(
    '%s has a bar on a terminal',
    async (name) => {
      expect((await operations[name]()).counts).toBe(true);
    },
  );
});
