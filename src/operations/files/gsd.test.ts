import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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

it('says where the last session stopped, of a page without phases', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-gsd-'));
  const context = openContext({ dir, actor: { kind: 'agent', name: 'ada' }, evidence: 'library' });
  const call = async (name: OperationName, input: object = {}) =>
    (await callOperation(await loadOperation(name), context, input)).data as Record<string, unknown>;
  try {
    mkdirSync(join(dir, '.planning'));
    writeFileSync(join(dir, '.planning/STATE.md'), ledger);
    await call('init', { title: 'Other work', id: 'other' });
    const { found } = (await call('adopt')) as { found: { run: string }[] };
    context.run = found[0]?.run ?? '';
    const { headline, position } = await call('resume');
    expect(headline).toMatch(
      /; the last session stopped at "REM-001 inventory complete; blocked at the disposition gate"$/,
    );
    // Nothing is made up: the page names no step.
    expect(position).toMatchObject({ step: null, phase: null });
    await call('plan.add', { title: 'Untrack the plans' });
    expect((await call('resume'))['headline']).not.toContain('REM-001');
  } finally {
    await context.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
