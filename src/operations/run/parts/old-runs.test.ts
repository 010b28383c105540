import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { addMs } from '../../../core/time.ts';
import { execute } from '../../act.ts';
import { decide } from '../../item/decide.ts';
import { openContext } from '../../open.ts';
import { callOperation } from '../../operation.ts';
import { init } from '../init.ts';
import { runs } from '../runs.ts';

const DAY_MS = 24 * 3600 * 1000;
const START = '2026-06-01T10:00:00.000Z';
const opened: { dir: string; close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { dir, close } of opened.splice(0)) {
    await close();
    rmSync(dir, { recursive: true, force: true });
  }
});

/** A workspace with a planned run, and one that a turn without anything left finished. */
async function openOld() {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-old-'));
  let now = START;
  const context = openContext({
    dir,
    actor: { kind: 'agent', name: 'ada' },
    evidence: 'library',
    now: () => now,
  });
  opened.push({ dir, close: () => context.close() });
  await callOperation(init, context, { title: 'Planned', id: 'planned' });
  const workspace = context.workspace()?.id ?? '';
  await execute(context, '2026-06-01-abcdef', { type: 'run.open', title: 'Quick fix', kind: 'ad-hoc', workspace });
  const decision = { context: 'Links', decision: 'Relative links', reason: 'The site moves' };
  await callOperation(decide, { ...context, run: '2026-06-01-abcdef' }, decision);
  const listed = async (days: number, all = false): Promise<string[]> => {
    now = addMs(START, days * DAY_MS);
    const { data } = await callOperation(runs, context, all ? { all } : {});
    return (data as { runs: { title: string }[] }).runs.map(({ title }) => title).sort();
  };
  return listed;
}

describe('the list of runs', () => {
  it('leaves out finished runs without a plan after 90 days, unless all are wanted', async () => {
    const listed = await openOld();
    expect(await listed(89)).toEqual(['Planned', 'Quick fix']);
    expect(await listed(91)).toEqual(['Planned']);
    expect(await listed(91, true)).toEqual(['Planned', 'Quick fix']);
  });
});
