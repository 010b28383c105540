import { describe, expect, it } from 'vitest';
import { STATE_FORMAT } from '../src/core/fold/state-tables.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { newWorkspace } from './command-line.ts';

const { openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');

describe('a journal that another version of the program wrote', () => {
  it('has its derived data rebuilt by the first command, even a read-only one', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, agent: 'ada' });
    for (let number = 0; number < 300; number++) await hf.usage.add({ input: number, output: 1 });
    const before = folder.data('status');
    await hf.close();
    const file = folder.own('journal.db');
    const changed = await openSqliteStore({ file });
    const cached = await changed.projection.cached('auth', STATE_FORMAT);
    const [head] = await changed.journal.heads({ run: 'auth' });
    if (!cached || !head) throw new Error('Nothing was saved.');
    const other = { format: STATE_FORMAT - 1, state: 'of an unknown shape' };
    const { run: _run, version, hash: _hash, ...rest } = head;
    expect(await changed.projection.replaceDerived('auth', version, { head: rest, rows: [], cache: other })).toBe(true);
    expect(await changed.projection.cached('auth', STATE_FORMAT)).toBe(null);
    await changed.close();

    expect({ ...folder.data('status'), now: before['now'] }).toEqual(before);
    const store = await openSqliteStore({ file });
    expect(await store.projection.cached('auth', STATE_FORMAT)).toMatchObject({ version });
    await store.close();
    expect(folder.data('doctor')['findings']).toEqual([]);
  });
});
