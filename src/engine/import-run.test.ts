import { expect, it } from 'vitest';
import { GENESIS, seal } from '../core/journal/chain.ts';
import type { Draft, Event } from '../core/journal/event.ts';
import { openMemoryStore } from '../store/memory/store.ts';
import { type ImportRun, openImport } from './import-run.ts';

const at = '2026-01-02T10:00:00.000Z';
const by = { at, actor: { kind: 'person', name: 'ada' }, evidence: 'terminal' } as const;
const importer = { ...by, file: 'f' };

/** A run of so many events, more than one page of an import. */
function history(length: number): Event[] {
  const note = (text: string): Draft => ({
    type: 'note.added',
    basis: 'declared',
    body: { id: 'N-1', text, kind: 'worklog' },
  });
  const opened: Draft = { type: 'run.opened', basis: 'declared', body: { title: 'Work', workspace: 'w' } };
  const drafts = [opened, ...Array.from({ length: length - 1 }, (_, index) => note(`note ${index}`))];
  return seal(drafts, { run: 'r', ...by, session: null, key: null }, { version: 0, hash: GENESIS });
}

async function feed(run: ImportRun, events: readonly Event[]): Promise<void> {
  for (const event of events) await run.compare(event);
  for (const event of events) await run.add(event);
}

it('marks all of an import that was cut off and is repeated', async () => {
  const store = openMemoryStore();
  const events = history(1100);
  await feed(await openImport(store, 'r', { importer }), events);
  const [cut] = await store.journal.heads({ run: 'r' });
  expect(cut).toMatchObject({ version: 1000, position: { importing: 0 } });

  const again = await openImport(store, 'r', { importer });
  await feed(again, events);
  expect(await again.finish()).toMatchObject({ added: 100, version: 1101 });
  const [head] = await store.journal.heads({ run: 'r' });
  expect(head?.position).toMatchObject({ isUntouched: true });
  expect(head?.position.importing).toBe(undefined);
  const [mark] = await store.journal.read('r', 1100, 1);
  expect(mark).toMatchObject({
    type: 'run.imported',
    evidence: 'terminal',
    previous: events.at(-1)?.hash,
    body: { upTo: 1100, head: events.at(-1)?.hash, file: 'f', ranges: [{ from: 1, upTo: 1100 }] },
  });
});

it('marks nothing without an importer, as in a repair, nor where everything is here', async () => {
  const store = openMemoryStore();
  const events = history(3);
  const before = await store.identity();
  const repair = await openImport(store, 'r');
  await feed(repair, events);
  expect(await repair.finish()).toMatchObject({ added: 3, version: 3 });
  const after = await store.identity();
  expect([after.id, after.epoch === before.epoch]).toEqual([before.id, false]);
  const same = await openImport(store, 'r', { importer });
  await feed(same, events);
  expect(await same.finish()).toMatchObject({ added: 0, version: 3 });
  expect(await store.identity()).toEqual(after);
});
