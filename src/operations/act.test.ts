import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { act, currentRun, execute, inRun } from './act.ts';
import { openContext } from './open.ts';

it('looks the run up once per command: what follows stays in it, whatever others open meanwhile', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-act-'));
  const context = openContext({ dir, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
  const workspace = context.createWorkspace()?.id ?? '';
  await execute(context, 'first', { type: 'run.open', title: 'First', workspace });
  const inFirst = await inRun(context);
  await execute(context, 'second', { type: 'run.open', title: 'Second', workspace });
  expect(await currentRun(context)).toBe('second');
  const keyed = { ...inFirst, identity: { ...inFirst.identity, key: 'k' } };
  expect(await act(keyed, { type: 'note.add', kind: 'worklog', text: 'here' })).toMatchObject({ run: 'first' });
  const noJournal = { ...inFirst, engine: () => Promise.reject(new Error('The journal was asked again.')) };
  expect(await currentRun(noJournal)).toBe('first');
  await context.close();
  rmSync(dir, { recursive: true });
});
