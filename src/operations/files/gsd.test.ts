import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { foreignEdits } from '../../formats/foreign-edits.suite.ts';
import { page } from '../../formats/gsd/pages.suite.ts';
import { loadOperation, type OperationName } from '../index.ts';
import { openContext } from '../open.ts';
import { callOperation } from '../operation.ts';

const ledger = `---
milestone: v1.6
status: active
stopped_at: "REM-001 inventory complete; blocked at the disposition gate"
last_updated: "2026-07-25T19:18:07Z"
---

## Shipped

1. **SEED-007:** fewer rows.
`;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A folder with a STATE.md that was adopted. */
async function adopted(text: string, mirror: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-gsd-'));
  const context = openContext({ dir, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
  ends.push(async () => {
    await context.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const call = async (name: OperationName, input: object = {}) =>
    (await callOperation(await loadOperation(name), context, input)).data as Record<string, unknown>;
  const path = join(dir, '.planning/STATE.md');
  mkdirSync(join(dir, '.planning'));
  writeFileSync(path, text);
  await call('init', { title: 'Other work', id: 'other' });
  const { found } = (await call('adopt', { mirror })) as { found: { run: string }[] };
  context.run = found[0]?.run ?? '';
  return { dir, path, call, read: () => readFileSync(path, 'utf8') };
}

it('says where the last session stopped, of a page without phases', async () => {
  const { call } = await adopted(ledger, false);
  const { headline, position } = await call('resume');
  expect(headline).toMatch(
    /; the last session stopped at "REM-001 inventory complete; blocked at the disposition gate"$/,
  );
  // Nothing is made up: the page names no step.
  expect(position).toMatchObject({ step: null, phase: null });
  await call('plan.add', { title: 'Untrack the plans' });
  expect((await call('resume'))['headline']).not.toContain('REM-001');
});

it('W5: reading changes no byte and no time in the tree, also after an edit', async () => {
  const { dir, path, call, read } = await adopted(page('G3'), true);
  const seen = (): string[] =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.includes('STATE.md'))
      .map((name) => `${name} ${statSync(join(dir, name)).mtimeMs} ${readFileSync(join(dir, name), 'utf8')}`);
  for (const edit of fc.sample(foreignEdits, { numRuns: 12, seed: 5 })) {
    writeFileSync(path, edit(read()));
    const before = seen();
    for (const name of ['resume', 'status', 'brief.show', 'mirror.list', 'doctor', 'decisions'] as const)
      await call(name).catch(() => null);
    expect(seen()).toEqual(before);
  }
});

it('W8: a line that someone writes beside a command is never lost', async () => {
  const { path, call, read } = await adopted(page('G3'), true);
  const added: string[] = [];
  for (let round = 0; round < 12; round++) {
    const words = `Foreign decision ${round} about the bells`;
    added.push(words);
    const write = async (): Promise<void> => {
      // At a moment of the command that differs from round to round.
      for (let turn = 0; turn < round * 5; turn++) await new Promise((done) => setImmediate(done));
      writeFileSync(
        path,
        read().replace(/### Decisions\n\n?/, (heading) => `${heading}- ${words}\n`),
      );
    };
    await Promise.all([call('decide', { decision: `Ours ${round}`, reason: 'It rings' }).catch(() => null), write()]);
  }
  await call('mirror.sync').catch(() => null);
  const told = JSON.stringify(await call('decisions', { limit: 100 })) + read();
  for (const words of added) expect(told).toContain(words);
});
