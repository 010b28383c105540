import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { codewalkRows, codewalkViews, note, put } from '../suite/fixture.ts';
import { openDatabase } from './driver.ts';
import { openSqliteStore } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-schema-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('views', () => {
  it('have the names and columns of the Codewalk tables', async () => {
    const file = join(folder, 'journal.db');
    const store = await openSqliteStore({ file });
    await put(store, 'r', [note('a')], { rows: codewalkRows('r', 'c') });
    await store.close();
    const database = openDatabase(file, true);
    const views = codewalkViews('r', { context: 'c', time: (seconds) => seconds, progress: '{"done":1}', no: 0 });
    for (const [view, shown] of Object.entries(views)) {
      expect(
        database
          .prepare(`SELECT * FROM ${view}`)
          .all()
          .map((one) => ({ ...(one as object) })),
      ).toEqual([shown]);
    }
    database.close();
  });
});
