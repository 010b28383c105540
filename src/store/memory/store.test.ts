import { expect, it } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { batchOf, headOf, newRun, note, put } from '../suite/fixture.ts';
import { openMemoryStore } from './store.ts';

/** In memory, two connections to one database are the same store. */
const shared = openMemoryStore();
storeSuite('memory', async () => shared);

it('shares no objects with its callers', async () => {
  const store = openMemoryStore();
  const run = newRun();
  const batch = batchOf(run, [note('as recorded')], null);
  await store.journal.append([batch]);
  (batch.events[0] as { body: { text: string } }).body.text = 'changed later';
  const [event] = await store.journal.read(run, 0, 1);
  expect(event?.body).toMatchObject({ text: 'as recorded' });
  const head = await headOf(store, run);
  if (head !== null) head.position.progress = 'changed';
  await put(store, run, [note('next')]);
  expect((await headOf(store, run))?.position.progress).toEqual({ done: 1 });
});
