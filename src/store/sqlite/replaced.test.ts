import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { batchOf, chainProblems, faultOf, headOf, note, put } from '../suite/fixture.ts';
import { openDatabase } from './driver.ts';
import { openSqliteStore } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-replaced-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** An open journal with two events, and a backup of it with one. */
async function openWithBackup() {
  files += 1;
  const file = join(folder, `${files}.db`);
  const backup = join(folder, `${files}.backup`);
  const store = await openSqliteStore({ file });
  await put(store, 'r', [note('a')]);
  const database = openDatabase(file, false);
  database.exec(`VACUUM INTO '${backup}'`);
  database.close();
  await put(store, 'r', [note('b')]);
  return { file, backup, store };
}

it('continues with a file that was put in the place of the old one, without the log of the old one', async () => {
  const { file, backup, store } = await openWithBackup();
  const before = await headOf(store, 'r');
  renameSync(backup, file);
  const batch = batchOf('r', [note('c')], before);
  expect(await store.journal.append([batch])).toMatchObject({
    outcome: 'conflict',
    reason: 'other_history',
    version: 1,
  });
  await put(store, 'r', [note('d')]);
  await store.close();
  const again = await openSqliteStore({ file });
  const events = await again.journal.read('r', 0, 9);
  expect(chainProblems(events)).toEqual([]);
  expect(events.map(({ body }) => (body as { text: string }).text)).toEqual(['a', 'd']);
  expect(await again.inspect()).toEqual([]);
  await again.close();
});

it('leaves a log alone that came with the new file', async () => {
  const { file, backup, store } = await openWithBackup();
  const writer = await openSqliteStore({ file: backup });
  await put(writer, 'r', [note('in the log')]);
  expect(existsSync(`${backup}-wal`)).toBe(true);
  const log = join(folder, 'log');
  copyFileSync(`${backup}-wal`, log);
  copyFileSync(backup, join(folder, 'restored'));
  rmSync(`${file}-shm`);
  renameSync(log, `${file}-wal`);
  renameSync(join(folder, 'restored'), file);
  const events = await store.journal.read('r', 0, 9);
  expect(events.map(({ body }) => (body as { text: string }).text)).toEqual(['a', 'in the log']);
  await writer.close();
  await store.close();
});

it('refuses to read or write while the file is gone, creates no other, and continues when it is back', async () => {
  const { file, store } = await openWithBackup();
  const before = await headOf(store, 'r');
  renameSync(file, `${file}.away`);
  const fault = await faultOf(store.journal.append([batchOf('r', [note('c')], before)]));
  expect(fault).toMatchObject({ code: 'unavailable', data: { recorded: 'no' } });
  expect(fault.message).toContain('gone');
  expect((await faultOf(store.journal.heads({ limit: 1 }))).code).toBe('unavailable');
  expect(existsSync(file)).toBe(false);
  renameSync(`${file}.away`, file);
  await put(store, 'r', [note('c')]);
  expect(await store.journal.read('r', 0, 9)).toHaveLength(3);
  await store.close();
});

it('B2: does not confirm a write to a file that was replaced while it was written', async () => {
  const { file, backup, store } = await openWithBackup();
  const batch = batchOf('r', [note('c')], await headOf(store, 'r'));
  // The rows are written after the events, in the same transaction.
  const rows = {
    [Symbol.iterator]() {
      renameSync(backup, file);
      return [][Symbol.iterator]();
    },
  } as unknown as [];
  const fault = await faultOf(store.journal.append([{ ...batch, rows }]));
  expect(fault).toMatchObject({ code: 'unavailable', data: { recorded: 'unknown' } });
  expect(await store.journal.read('r', 0, 9)).toHaveLength(1);
  await store.close();
});
