import { withoutWords } from '../core/erase.ts';
import type { Event } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { notFound } from '../core/fault.ts';
import { STATE_FORMAT, type State, serializeState } from '../core/state.ts';
import type { Batch, Store } from '../store/store.ts';
import { storedRecords } from './derived.ts';
import { refold } from './refold.ts';

/** The versions of the events that hold the words of a record (by id or alias), or of one event (by version). */
export async function versionsAbout(store: Store, run: string, target: string): Promise<number[]> {
  const version = /^\d+$/.test(target) ? Number(target) : null;
  const [aliased] = version === null ? await store.recall(run, [target]) : [];
  const id = aliased?.id ?? target;
  const found: number[] = [];
  await refold(store, run, {
    visit: (event, touches) => {
      if (version === null ? touches.some((touch) => touch.id === id) : event.version === version)
        found.push(event.version);
    },
  });
  if (found.length > 0) return found;
  throw notFound(
    version === null ? 'record' : 'event',
    target,
    [],
    'Ids and versions are in `holdfast log` and `holdfast search WORDS`.',
  );
}

/**
 * What an erasure writes with its event, in the same transaction: the bodies without their words, the rows that held
 * them, and state folded anew.
 */
export async function erasedBatch(store: Store, run: string, batch: Batch): Promise<{ batch: Batch; state: State }> {
  const versions = new Set(batch.events.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : [])));
  const erase: { version: number; body: unknown }[] = [];
  const touched = new Set<string>();
  const { state, rows } = await refold(store, run, {
    upTo: batch.expected,
    rewrite: (event) => {
      if (!versions.has(event.version)) return event;
      const body = withoutWords(event.type, event.body);
      erase.push({ version: event.version, body });
      return { ...event, body } as Event;
    },
    visit: (event, touches) => {
      if (versions.has(event.version)) for (const touch of touches) touched.add(`${touch.kind}:${touch.id}`);
    },
  });
  for (const event of batch.events) evolve(state, event);
  const rewritten = [...rows].filter(([key]) => touched.has(key)).map(([, row]) => row);
  const records = [...storedRecords(run, rewritten), ...batch.records];
  return { batch: { ...batch, records, erase, cache: { format: STATE_FORMAT, state: serializeState(state) } }, state };
}
